"""Wufoo: titles from the structures, entries counted per form, and a secret that goes nowhere."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from intake.sources.wufoo import Wufoo
from tests.contract.sources.reading import changed, event, raw

TITLED = "wufoo/with_structures.txt"
BARE = "wufoo/without_structures.txt"
SECRET = "whsec_"


def test_form_is_part_of_the_identity() -> None:
    assert event(TITLED).request_id == "z1abc2d:42"


def test_entries_of_two_forms_are_two_without_structures_too() -> None:
    other = changed(BARE, "Field8=912345678&", "")
    assert event(BARE, body=other).request_id != event(BARE).request_id


def test_fields_are_known_by_their_titles() -> None:
    contact = event(TITLED).lead.contact
    assert contact.phone is not None
    assert (contact.name, contact.email, contact.phone.e164) == ("Rosa Prueba", "rosa@example.com", "+51912345678")


def test_address_of_several_fields_is_one_answer() -> None:
    assert ("Dirección", "Av. Ejemplo 123, Lima") in event(TITLED).lead.answers


def test_source_may_point_at_fields_without_titles() -> None:
    lead = event(BARE, pointers={"name": "/Field1", "message": "/Field7"}).lead
    assert (lead.contact.name, lead.enquiry.text) == ("Rosa", "20 sillas")


@pytest.mark.parametrize("sample", [TITLED, BARE])
def test_secret_is_in_no_answer(sample: str) -> None:
    assert not [label for label, answer in event(sample).lead.answers if SECRET in answer or label == "HandshakeKey"]


@pytest.mark.parametrize("sample", [TITLED, BARE])
def test_secret_is_gone_from_what_is_stored_and_nothing_else_is(sample: str) -> None:
    stored = Wufoo().scrub(raw(sample))
    before, after = parse_qs(raw(sample), keep_blank_values=True), parse_qs(stored, keep_blank_values=True)
    assert after == before | {b"HandshakeKey": [b""]}


def test_stored_body_reads_the_same() -> None:
    assert event(TITLED, body=Wufoo().scrub(raw(TITLED))) == event(TITLED)
