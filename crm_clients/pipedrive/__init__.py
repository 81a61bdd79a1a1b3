"""Pipedrive (API v2; notes v1)."""

from crm_clients.pipedrive.client import Pipedrive

__all__ = ["Pipedrive"]
