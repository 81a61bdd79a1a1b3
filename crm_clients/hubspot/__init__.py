"""HubSpot (CRM objects v3)."""

from crm_clients.hubspot.client import HubSpot

__all__ = ["HubSpot"]
