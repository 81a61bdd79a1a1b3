"""Identities are kept for as long as anything may come again."""

from __future__ import annotations

import pytest

from intake.config import ConfigError, horizons
from intake.config.known import KNOWN_PROVIDERS
from tests.unit.config.conftest import Loads

OTHERS = "payload_retention_days = 7\nattempt_retention_days = 7\ndecision_retention_days = 7\n"


def source(provider: str, kind: str, keys: int, others: str = OTHERS) -> str:
    named = f'name = "one"\nkind = "{kind}"\nprovider = "{provider}"\nsecrets = ["env:KEY"]\n'
    return f"[[sources]]\n{named}key_retention_days = {keys}\n{others}"


@pytest.mark.parametrize(
    ("provider", "kind", "days"),
    [("whatsapp_cloud", "whatsapp", 7), ("meta_lead_ads", "form", 90), ("cf7", "form", 7), ("jotform", "form", 7)],
)
def test_keys_shorter_than_the_sender_may_deliver_again_are_refused(
    loads: Loads, provider: str, kind: str, days: int
) -> None:
    assert loads(source(provider, kind, days)).sources["one"].key_retention_days == days
    with pytest.raises(ConfigError, match=f"must be 0 or at least {days}"):
        loads(source(provider, kind, days - 1))


@pytest.mark.parametrize("others", ["", OTHERS.replace("payload_retention_days = 7", "payload_retention_days = 8")])
def test_what_hangs_on_an_identity_does_not_outlast_it(loads: Loads, others: str) -> None:
    with pytest.raises(ConfigError, match="needs payload_retention_days from 1 to 7"):
        loads(source("cf7", "form", 7, others))


def test_every_named_provider_is_one_of_ours() -> None:
    assert horizons.DAYS.keys() <= KNOWN_PROVIDERS
