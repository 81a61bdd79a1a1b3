"""`docs/configuration.md` leaves no word of the form out."""

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

DOCS = Path(__file__).parents[3] / "docs" / "configuration.md"

KEYS = {
    field.data_key or name
    for schema in (IntakeSchema(), AlertsSchema(), DestinationSchema(), DefaultsSchema(), SourceSchema())
    for name, field in schema.fields.items()
} - {"owner", "task", "contacts"}  # told as owner.rule, task.due...
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
    assert f"`{word}`" in DOCS.read_text()
