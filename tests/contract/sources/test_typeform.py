"""Typeform: answers joined with their questions."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from intake.sources.base import Unreadable, Update
from tests.contract.sources.samples_of import SamplesOf

TYPEFORM = SamplesOf("typeform")


def test_answers_are_joined_with_their_questions() -> None:
    lead = TYPEFORM.event("response.json").lead
    assert lead.contact.phone is not None
    assert (lead.contact.name, lead.contact.email) == ("Rosa Prueba", "rosa@example.com")
    assert (lead.contact.phone.e164, lead.enquiry.text) == ("+51912345678", "Para 20 personas")


def test_title_quotes_the_answer_that_it_pipes_in() -> None:
    assert ("¿Qué buscas, Rosa Prueba?", "Sillas, Mesas, Bancas") in TYPEFORM.event("response.json").lead.answers


def test_false_is_an_answer() -> None:
    assert ("¿Es urgente?", "false") in TYPEFORM.event("response.json").lead.answers


def test_file_is_in_the_lead_and_in_no_fingerprint() -> None:
    event = TYPEFORM.event("response.json")
    assert ("Plano", "https://files.example.com/plano.pdf?token=x") in event.lead.answers
    assert "plano.pdf" not in str(event.content)


def test_token_of_the_response_is_identity() -> None:
    body = json.loads(TYPEFORM.bytes("response.json"))
    again = TYPEFORM.event(json.dumps({**body, "event_id": "ev-2"}).encode())
    assert (again.request_id, again.content) == ("F1:tok-1", TYPEFORM.event("response.json").content)


def test_partial_response_is_news_about_the_whole_one() -> None:
    assert TYPEFORM.read("partial.json").updates == (Update("F1:tok-2", "partial"),)


def test_questions_of_a_block_are_joined_too() -> None:
    assert TYPEFORM.event("contact_block.json").lead.contact.name == "Rosa Prueba"


def test_hidden_field_is_attribution() -> None:
    assert TYPEFORM.event("response.json").lead.attribution.utm == (("source", "ig"),)


def test_time_is_that_of_the_submission() -> None:
    assert TYPEFORM.event("response.json").lead.occurred_at == datetime(2026, 3, 2, 14, 59, tzinfo=UTC)


def test_response_without_a_token_has_no_id() -> None:
    body = TYPEFORM.bytes("response.json").replace(b'"token"', b'"other"')
    assert TYPEFORM.event(body).request_id is None


def test_source_may_point_at_an_answer_by_reference() -> None:
    pointed = SamplesOf("typeform", pointers={"product": "/answers/r-4/value"})
    assert pointed.event("response.json").lead.enquiry.product == "Sillas, Mesas, Bancas"


@pytest.mark.parametrize("body", [b"{}", b'{"event_type": "form_response"}'])
def test_body_without_a_response_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        TYPEFORM.read(body)


def test_kind_of_event_that_we_do_not_know_is_kept_for_a_person() -> None:
    with pytest.raises(Unreadable, match="unknown_event"):
        TYPEFORM.read(TYPEFORM.bytes("response.json").replace(b'"form_response",', b'"form_response_v2",'))
