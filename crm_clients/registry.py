"""The CRM clients by their names in `intake.toml`: a new CRM is a module, a line here and a folder of recordings.

A module is imported when a destination names its client: one that cannot be imported breaks no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from crm_clients.base import Client
from crm_clients.options import BadSetting, Settings

__all__ = ["CLIENTS", "BadSetting", "UnknownClient", "build"]


class UnknownClient(Exception):
    """No CRM client has this name; the message names those that there are."""


# Each module has a function `from_settings`, which takes the destination's options and raises BadSetting.
CLIENTS: Mapping[str, str] = {
    "bitrix24": "crm_clients.bitrix24.client",
    "bottlecrm": "crm_clients.bottlecrm.client",
    "dolibarr": "crm_clients.dolibarr.client",
    "espocrm": "crm_clients.espocrm.client",
    "http": "crm_clients.generic.client",
    "hubspot": "crm_clients.hubspot.client",
    "kommo": "crm_clients.kommo.client",
    "odoo": "crm_clients.odoo.client",
    "pipedrive": "crm_clients.pipedrive.client",
    "salesforce": "crm_clients.salesforce.client",
    "sandbox": "crm_clients.sandbox.client",
    "tryton": "crm_clients.tryton.client",
    "zoho": "crm_clients.zoho.client",
}


def build(name: str, settings: Settings) -> Client:
    """The client of a destination, from the destination's settings.  Raises UnknownClient, BadSetting."""
    module = CLIENTS.get(name)
    if module is None:
        raise UnknownClient(f"no CRM client is called {name!r}; there are: {', '.join(sorted(CLIENTS))}")
    from_settings: Callable[[Settings], Client] = import_module(module).from_settings
    return from_settings(settings)
