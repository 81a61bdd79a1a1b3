"""The pages about the configuration leave no word of the form out."""

from __future__ import annotations

from pathlib import Path

import pytest

from intake.config.known import (
    DELIVERED_FIELDS,
    KNOWN_CLIENTS,
    KNOWN_PROVIDERS,
    KNOWN_SCHEMES,
    LEAD_FIELDS,
    PLACEHOLDERS,
)
from intake.config.schema import AlertsSchema, DefaultsSchema, DestinationSchema, IntakeSchema, SourceSchema

DOCS = Path(__file__).parents[3] / "docs"
# What is made from the code, and what is written by hand.
TOLD = "".join((DOCS / name).read_text("utf-8") for name in ("reference/settings.md", "configuration.md"))

KEYS = {
    field.data_key or name
    for schema in (IntakeSchema(), AlertsSchema(), DestinationSchema(), DefaultsSchema(), SourceSchema())
    for name, field in schema.fields.items()
}
UTM = {word for word in LEAD_FIELDS if word.startswith("utm_")}  # told as one
WORDS = (
    KEYS
    | KNOWN_CLIENTS
    | KNOWN_PROVIDERS
    | KNOWN_SCHEMES
    | (DELIVERED_FIELDS - UTM)
    | {f"{{{one}}}" for one in PLACEHOLDERS}
)


@pytest.mark.parametrize("word", sorted(WORDS))
def test_word_is_explained(word: str) -> None:
    assert f"`{word}`" in TOLD
