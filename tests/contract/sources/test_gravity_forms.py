"""Gravity Forms: answers by number, of which only names explain themselves."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.contract.sources.samples_of import SamplesOf

GRAVITY = SamplesOf("gravity_forms")


def test_parts_of_a_name_field_are_the_name() -> None:
    assert GRAVITY.event("entry.json").lead.contact.name == "Rosa Prueba"


def test_address_has_the_same_parts_and_is_no_name() -> None:
    lead = GRAVITY.event("address_before_name.json").lead
    assert lead.contact.name == "Luis Prueba"
    assert ("campo 8.3", "Lima") in lead.answers


def test_form_and_entry_are_identity() -> None:
    assert GRAVITY.event("entry.json").request_id == "4:77"


def test_both_formats_tell_one_event() -> None:
    assert GRAVITY.event("entry.txt") == GRAVITY.event("entry.json")


def test_email_and_phone_are_known_by_their_form() -> None:
    contact = GRAVITY.event("entry.json").lead.contact
    assert contact.phone is not None
    assert (contact.email, contact.phone.e164) == ("rosa@example.com", "+5114567890")


@pytest.mark.parametrize("answer", ["45678901", "20601234567", "2026-03-02", "12 a 15", "1234567890123456"])
def test_other_numbers_are_no_phone(answer: str) -> None:
    body = f'{{"id": "1", "form_id": "1", "3": "rosa@example.com", "4": "{answer}"}}'.encode()
    lead = GRAVITY.event(body).lead
    assert (lead.contact.phone, ("campo 4", answer) in lead.answers) == (None, True)


def test_source_says_what_a_number_means() -> None:
    pointed = SamplesOf("gravity_forms", pointers={"message": "/5", "document": "/7"})
    lead = pointed.event("entry.json").lead
    assert (lead.enquiry.text, lead.contact.document) == ("20 sillas", "45678901")


def test_time_without_a_zone_is_utc() -> None:
    assert GRAVITY.event("entry.json").lead.occurred_at == datetime(2026, 3, 2, 14, 59, 30, tzinfo=UTC)


def test_entrys_own_properties_are_no_answers() -> None:
    event = GRAVITY.event("entry.json")
    assert event.lead.enquiry.currency is None
    assert not {"/ip", "/source_url", "/date_created", "/user_agent"} & event.content.keys()


def test_selected_fields_have_their_own_names_and_no_id() -> None:
    event = GRAVITY.event("selected_fields.json")
    assert (event.request_id, event.lead.contact.name, event.lead.enquiry.text) == (None, "Rosa Prueba", "20 sillas")
