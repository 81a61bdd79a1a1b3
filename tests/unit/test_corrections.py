"""Corrections by a person: checked field by field, all or nothing."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intake.corrections import CHANGES, InvalidCorrection, correct
from intake.lead import Contact, Enquiry, Lead, Phone

UNREADABLE = Phone("123", verdict="flagged", reason="invalid")
LEAD = Lead(
    Contact(name="Ana", phone=UNREADABLE), Enquiry(text="sillas"), flags=("phone_unreadable", "charset_guessed")
)


def test_every_field_can_be_corrected() -> None:
    changes = {
        "name": " Ana Ruiz ",
        "phone": "912 345 678",
        "email": "Ana@Example.com",
        "company": "Muebles SAC",
        "document": "20100070970",
        "text": "10 sillas",
        "product": "Silla",
        "amount": "1840.50",
        "currency": "pen",
    }
    lead = correct(LEAD, changes, region="PE")
    assert lead.contact.phone is not None
    assert lead.contact.phone.e164 == "+51912345678"
    assert (lead.contact.name, lead.contact.email, lead.contact.company) == (
        "Ana Ruiz",
        "Ana@example.com",
        "Muebles SAC",
    )
    assert lead.contact.document == "20100070970"
    assert lead.enquiry == Enquiry("10 sillas", "Silla", Decimal("1840.50"), "PEN")


def test_flag_that_a_correction_answers_is_gone_and_others_stay() -> None:
    assert correct(LEAD, {"phone": "912345678"}, region="PE").flags == ("charset_guessed",)


def test_blank_value_empties_its_field() -> None:
    assert correct(LEAD, {"name": " "}, region="PE").contact.name is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("phone", "4567"),
        ("phone", "US.51912345678"),
        ("email", "ana@"),
        ("email", "Ana <ana@example.com>"),
        ("document", "20100070971"),
        ("amount", "-1"),
        ("amount", "1,840.00"),
        ("amount", "NaN"),
        ("currency", "soles"),
        ("name", "x" * 301),
        ("name", "Ana\x00"),
        ("text", "\ud800"),
        ("owner", "Luis"),
    ],
)
def test_value_that_breaks_a_rule_is_named_with_it(field: str, value: str) -> None:
    with pytest.raises(InvalidCorrection) as refused:
        correct(LEAD, {field: value, "company": "Muebles SAC"}, region="PE")
    assert list(refused.value.fields) == [field]


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from([*CHANGES, "other"]), st.text()), st.sampled_from(["PE", "", "ZZ"]))
def test_no_value_raises_anything_else(changes: dict[str, str], region: str) -> None:
    with suppress(InvalidCorrection):
        correct(LEAD, changes, region=region)
