"""Salesforce (REST API, sObjects and SOQL)."""

from crm_clients.salesforce.client import Salesforce

__all__ = ["Salesforce"]
