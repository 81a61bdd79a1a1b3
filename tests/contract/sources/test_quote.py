"""Our own quotes: strict where a program can mend it, a flag where only a person can."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from intake.sources.base import Delivered, Incoming, Unreadable
from intake.sources.quote import QuoteProvider

SAMPLES = Path(__file__).parent / "samples" / "quote"
NOW = datetime(2026, 3, 2, 16, 0, tzinfo=UTC)
FIRST: dict[str, object] = json.loads((SAMPLES / "first_version.json").read_bytes())


def read(body: object) -> Incoming:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    (event,) = QuoteProvider().read(Delivered(raw, "application/json", {}, NOW, "PE")).events
    return event


def broken_rules(body: object) -> dict[str, str]:
    with pytest.raises(Unreadable) as refused:
        read(body)
    return refused.value.fields


def test_number_and_version_are_identity_and_need() -> None:
    event = read(FIRST)
    assert (event.request_id, event.version, event.need_key) == ("COT-0007", 1, "COT-0007")


def test_amounts_are_exact() -> None:
    enquiry = read(FIRST).lead.enquiry
    assert (str(enquiry.amount), enquiry.items[0].unit_price) == ("1020.00", Decimal("410.00"))


def test_another_amount_is_another_fingerprint_and_another_time_is_not() -> None:
    assert read({**FIRST, "amount": "1.00"}).content != read(FIRST).content
    assert read({**FIRST, "issued_at": "2026-03-03T00:00:00Z"}).content == read(FIRST).content


def test_what_only_a_person_can_mend_is_flagged() -> None:
    lead = read((SAMPLES / "to_be_looked_at.json").read_bytes()).lead
    assert set(lead.flags) == {"phone_unreadable", "document_invalid", "amount_mismatch"}


def test_fields_that_we_do_not_know_are_kept() -> None:
    assert read((SAMPLES / "to_be_looked_at.json").read_bytes()).lead.answers == (("purchase_order", "OC-9"),)


def test_unreadable_email_is_kept_as_an_answer() -> None:
    lead = read({**FIRST, "contact": {"email": "rosa at example"}}).lead
    assert (lead.contact.email, lead.answers, lead.flags) == (
        None,
        (("email", "rosa at example"),),
        ("email_unreadable",),
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("number", None),
        ("number", " "),
        ("number", 7),
        ("number", "N" * 65),
        ("version", "1"),
        ("version", 0),
        ("version", True),
        ("version", 1.0),
        ("version", 2**40),
        ("currency", "pen"),
        ("currency", 1),
        ("amount", "-1"),
        ("amount", "1,840.00"),
        ("amount", "NaN"),
        ("amount", True),
        ("amount", "1e30"),
        ("amount", "0.0000001"),
        ("issued_at", "2026-03-02T10:00:00"),
        ("issued_at", "yesterday"),
        ("items", "none"),
        ("items", [{"name": "x", "quantity": 1}] * 501),
        ("contact", {}),
        ("contact", []),
        ("contact", None),
        ("message", 7),
    ],
)
def test_broken_rule_is_named_by_its_field(field: str, value: object) -> None:
    assert list(broken_rules({**FIRST, field: value})) == [field]


@pytest.mark.parametrize("field", ["number", "version", "currency", "amount", "contact"])
def test_missing_field_is_named(field: str) -> None:
    assert broken_rules({name: value for name, value in FIRST.items() if name != field}) == {field: "is required"}


def test_rule_inside_a_line_is_named_by_its_path() -> None:
    lines = [{"name": "Silla", "quantity": 1}, {"name": "Mesa", "quantity": 1, "unit_price": "cheap"}]
    assert list(broken_rules({**FIRST, "items": lines})) == ["items.1.unit_price"]


@pytest.mark.parametrize("body", [b"", b"no JSON", b"[]", b'"text"', b"null"])
def test_body_that_is_no_object_is_told_so(body: bytes) -> None:
    assert list(broken_rules(body)) == ["body"]


def test_rules_name_no_value() -> None:
    rules = broken_rules({**FIRST, "amount": "secret", "number": ["secret"], "contact": {"phone": ["secret"]}})
    assert "secret" not in json.dumps(rules)
