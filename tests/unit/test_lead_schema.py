"""A lead survives its JSON form, whatever was written in it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intake.lead import Attribution, Contact, Enquiry, Item, Lead, Media, Phone
from intake.lead_schema import NotALead, dump, load

# What a cleaned text may hold: everything but NUL and halves of characters.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
MAYBE = st.none() | TEXT
NUMBERS = st.none() | st.decimals(allow_nan=False, allow_infinity=False)
PAIRS = st.lists(st.tuples(TEXT, TEXT), max_size=3).map(tuple)
ZONES = st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone)

PHONES = st.builds(
    Phone,
    raw=TEXT,
    e164=MAYBE,
    verdict=st.sampled_from(["ok", "repaired", "flagged", "not_a_phone"]),
    reason=TEXT,
    variants=st.lists(TEXT, max_size=2).map(tuple),
)
CONTACTS = st.builds(
    Contact,
    name=MAYBE,
    phone=st.none() | PHONES,
    email=MAYBE,
    company=MAYBE,
    document=MAYBE,
    wa_id=MAYBE,
    bsuid=MAYBE,
    username=MAYBE,
)
ENQUIRIES = st.builds(
    Enquiry,
    text=TEXT,
    product=MAYBE,
    amount=NUMBERS,
    currency=MAYBE,
    items=st.lists(st.builds(Item, TEXT, MAYBE, NUMBERS, NUMBERS), max_size=2).map(tuple),
    media=st.lists(st.builds(Media, TEXT, MAYBE, MAYBE, MAYBE), max_size=2).map(tuple),
)
LEADS = st.builds(
    Lead,
    contact=CONTACTS,
    enquiry=ENQUIRIES,
    attribution=st.builds(Attribution, utm=PAIRS, ad_id=MAYBE, ad_headline=MAYBE, click_id=MAYBE),
    consent=st.none() | st.booleans(),
    answers=PAIRS,
    flags=st.lists(TEXT, max_size=2).map(tuple),
    occurred_at=st.none() | st.datetimes(datetime(1000, 1, 2), datetime(9999, 12, 30), timezones=ZONES),  # noqa: DTZ001
)


@settings(deadline=None)
@given(LEADS)
def test_any_lead_comes_back_as_it_was(lead: Lead) -> None:
    assert load(dump(lead)) == lead


@settings(deadline=None)
@given(LEADS)
def test_form_is_canonical(lead: Lead) -> None:
    assert dump(load(dump(lead))) == dump(lead)


def test_decimals_keep_their_zeros() -> None:
    lead = Lead(Contact(), Enquiry(amount=Decimal("1840.00")))
    assert json.loads(dump(lead))["enquiry"]["amount"] == "1840.00"


def test_one_moment_has_one_form() -> None:
    lima = timezone(timedelta(hours=-5))
    here = Lead(Contact(), occurred_at=datetime(2026, 3, 2, 10, tzinfo=lima))
    assert dump(here) == dump(Lead(Contact(), occurred_at=datetime(2026, 3, 2, 15, tzinfo=UTC)))


def test_fields_of_a_newer_version_are_passed_over() -> None:
    assert load(b'{"contact":{"name":"Ana","mood":"good"},"score":7}') == Lead(Contact(name="Ana"))


@pytest.mark.parametrize("stored", [b"", b"[]", b"{}", b'{"contact":{"name":7}}', b"\xff", b"[" * 100_000])
def test_other_bytes_are_not_a_lead(stored: bytes) -> None:
    with pytest.raises(NotALead):
        load(stored)


def test_error_names_no_value() -> None:
    with pytest.raises(NotALead) as refused:
        load(b'{"contact":{"name":["secret person"]}}')
    assert "secret" not in str(refused.value)
