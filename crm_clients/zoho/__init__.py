"""Zoho CRM (REST API v8)."""

from crm_clients.zoho.client import Zoho

__all__ = ["Zoho"]
