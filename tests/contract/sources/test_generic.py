"""Forms of any tool: what the bytes are decides, not what the header says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from intake.config.known import LEAD_FIELDS
from intake.lead import Lead
from intake.lead_schema import dump
from intake.sources.base import Delivered, Incoming, Unreadable
from intake.sources.generic import Generic

SAMPLES = Path(__file__).parent / "samples" / "generic"
NOW = datetime(2026, 3, 2, 16, 0, tzinfo=UTC)


def event(
    body: bytes, content_type: str = "application/x-www-form-urlencoded", pointers: Mapping[str, str] | None = None
) -> Incoming:
    (only,) = Generic().read(Delivered(body, content_type, {}, NOW, "PE", pointers or {})).events
    return only


def sample(name: str) -> Lead:
    return event((SAMPLES / name).read_bytes()).lead


def test_form_has_no_id_of_its_sender() -> None:
    assert event(b"nombre=Rosa").request_id is None


def test_form_is_read_by_its_names_and_keeps_the_rest() -> None:
    lead = sample("form.txt")
    assert lead.contact.phone is not None
    assert (lead.contact.name, lead.contact.phone.e164) == ("Rosa Prueba", "+51912345678")
    assert (lead.enquiry.text, lead.answers) == ("10 sillas", (("color", "rojo, azul"),))


def test_latin1_form_is_read_and_flagged() -> None:
    lead = sample("latin1_form.txt")
    assert (lead.contact.name, lead.flags) == ("José Ñahui", ("charset_guessed",))


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_json_is_read_under_any_content_type(content_type: str) -> None:
    assert event((SAMPLES / "json_as_text.txt").read_bytes(), content_type).lead.contact.name == "Rosa"


@pytest.mark.parametrize("body", [b"", b"hello", b'{"name": "He said "hi""}', b"[" * 100_000])
def test_other_bytes_are_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        event(body)


def test_every_field_that_a_source_may_point_at_reaches_the_lead() -> None:
    fields = sorted((LEAD_FIELDS | {"utm_id"}) - {"consent", "currency", "amount", "email"})
    body = "&".join(f"q{index}=value-{index}" for index in range(len(fields))).encode()
    pointers = {name: f"/q{index}" for index, name in enumerate(fields)}
    told = dump(event(body, pointers=pointers).lead).decode()
    assert [name for index, name in enumerate(fields) if f"value-{index}" not in told] == []


def test_message_and_campaign_are_where_the_source_points() -> None:
    lead = event(b"a=10+sillas&b=ig", pointers={"message": "/a", "utm_source": "/b"}).lead
    assert (lead.enquiry.text, lead.attribution.utm, lead.answers) == ("10 sillas", (("source", "ig"),), ())
