"""What the README has a newcomer send is a lead of each way in of the built-in configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.sources.reading import event

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples"


@pytest.mark.parametrize(
    ("provider", "example", "name"),
    [
        ("standard_webhooks", "form.json", "Lucía Prueba"),
        ("whatsapp_cloud", "whatsapp.json", "Rosa Prueba"),
        ("quote", "quote.json", "Mario Prueba"),
    ],
)
def test_each_example_is_a_lead(provider: str, example: str, name: str) -> None:
    headers = {"webhook-id": "msg_1"}
    lead = event(f"{provider}/{example}", body=(EXAMPLES / example).read_bytes(), headers=headers).lead
    assert (lead.contact.name, lead.contact.phone is not None, lead.flags) == (name, True, ())
