"""The closed lists agree with those who serve them."""

from __future__ import annotations

from intake import authenticity
from intake.config import KNOWN_PROVIDERS
from intake.config.known import KNOWN_SCHEMES


def test_every_provider_can_prove_itself() -> None:
    assert authenticity.RULES.keys() >= KNOWN_PROVIDERS


def test_every_scheme_can_be_checked() -> None:
    assert authenticity.GENERIC.keys() == KNOWN_SCHEMES
