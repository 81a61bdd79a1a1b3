"""A CRM whose address the file does not name is closed, and holds nothing else up."""

from __future__ import annotations

import pytest

from intake.config import KNOWN_CLIENTS
from intake.missing_secrets import closed
from tests.unit.config.conftest import SOURCE, Loads

NAMELESS = '[[destinations]]\nname = "crm"\nclient = "{client}"\n'


@pytest.mark.parametrize("client", sorted(KNOWN_CLIENTS - {"sandbox"}))
def test_crm_without_its_address_is_closed_only_itself(loads: Loads, client: str) -> None:
    settings = loads(NAMELESS.format(client=client) + SOURCE, {"KEY": "secret"})
    why = f'base_url is missing: the client "{client}" needs the address of your account'
    assert settings.notices == (f'destination "crm" is closed: {why}',)
    assert settings.sources["web"].closed_because is None
    assert closed(settings, {}) == {"destination crm": why}


def test_the_sandbox_needs_no_address(loads: Loads) -> None:
    settings = loads(NAMELESS.format(client="sandbox") + SOURCE, {"KEY": "secret"})
    assert (settings.destinations["crm"].closed_because, settings.notices) == (None, ())
