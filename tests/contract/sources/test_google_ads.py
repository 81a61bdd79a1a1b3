"""Google's lead forms: columns by id, and a key that nobody keeps."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from intake.sources.base import SecretInBody
from intake.sources.google_ads import GoogleAds
from tests.contract.sources.samples_of import SamplesOf

GOOGLE = SamplesOf("google_ads")


def test_columns_are_fields_and_the_advertisers_question_an_answer() -> None:
    lead = GOOGLE.event("lead.json").lead
    assert lead.contact.phone is not None
    assert (lead.contact.name, lead.contact.phone.e164) == ("Rosa Prueba", "+51912345678")
    assert (lead.contact.email, lead.attribution.click_id) == ("rosa@example.com", "Cj0K")
    assert lead.answers[0] == ("¿Cuántas sillas necesitas?", "20")


def test_contacts_at_work_are_contacts() -> None:
    contact = GOOGLE.event("work_contacts.json").lead.contact
    assert contact.phone is not None
    assert (contact.name, contact.company, contact.email) == ("Rosa Prueba", "Muebles SAC", "rosa@example.com")
    assert contact.phone.e164 == "+51912345678"


def test_big_ids_keep_every_digit_and_zero_is_no_id() -> None:
    answers = dict(GOOGLE.event("lead.json").lead.answers)
    assert (answers["campaign_id"], answers["form_id"]) == ("9007199254740995", "9007199254740993")
    assert "adgroup_id" not in answers


def test_lead_id_and_time_are_googles() -> None:
    event = GOOGLE.event("lead.json")
    assert (event.request_id, event.lead.occurred_at) == ("TeSt-1", datetime(2026, 3, 2, 14, 59, tzinfo=UTC))


def test_source_may_point_at_a_column() -> None:
    pointed = SamplesOf("google_ads", pointers={"message": "/user_column_data/123/value"})
    assert pointed.event("lead.json").lead.enquiry.text == "20"


def test_key_is_in_no_lead_and_no_fingerprint() -> None:
    event = GOOGLE.event("lead.json")
    assert "whsec" not in f"{event.content}{event.lead.answers}{event.lead.contact}"


@pytest.mark.parametrize("written", ['"s3cret"', '"s3\\"cret"', '"s3\\\\cret"', ' \n "s3cret"'])
def test_key_is_gone_before_storing_and_the_rest_is_as_it_was(written: str) -> None:
    body = f'{{"lead_id": "1", "google_key" :{written}, "user_column_data": [], "n": 1.50}}'
    provider = GoogleAds()
    assert isinstance(provider, SecretInBody)
    kept = provider.scrub(body.encode())
    assert b"cret" not in kept
    assert json.loads(kept) == {**json.loads(body), "google_key": ""}


def test_scrubbed_body_reads_to_the_same_event() -> None:
    body = GOOGLE.bytes("lead.json")
    assert GOOGLE.event(GoogleAds().scrub(body)) == GOOGLE.event(body)
