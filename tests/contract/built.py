"""Clients as the contract suite builds them: with no more options than a client cannot do without."""

from __future__ import annotations

from crm_clients.base import Client
from crm_clients.registry import build

# What cannot be known without the account: keys of custom fields, for one.
NEEDED = {
    "bitrix24": {"user": "1"},
    "dolibarr": {"user": "1"},
    "kommo": {"contact_reference": "701", "lead_reference": "702", "lead_text": "703"},
    "pipedrive": {"person_reference": "1a" * 20, "deal_reference": "2b" * 20, "deal_text": "3c" * 20},
}


def built(name: str) -> Client:
    """The client of this name."""
    return build(name, NEEDED.get(name, {}))
