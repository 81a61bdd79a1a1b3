"""Tally: choices by their labels, each answer once, and an identity that a retry keeps."""

from __future__ import annotations

import pytest

from intake.sources.base import Unreadable
from tests.contract.sources.reading import changed, event, reading, with_members

CHOICES = "tally/choices.json"


def test_response_is_the_identity() -> None:
    assert event(CHOICES).request_id == "wA7b:r8Xq2"


def test_event_id_of_a_retry_changes_nothing() -> None:
    again = event(CHOICES, body=with_members(CHOICES, eventId="another", createdAt="2026-03-02T16:00:00.000Z"))
    assert (again.request_id, again.content) == (event(CHOICES).request_id, event(CHOICES).content)


def test_choices_are_labels_and_tick_boxes_stand_once() -> None:
    lead = event(CHOICES).lead
    assert lead.enquiry.product == "Sillas"
    assert [answer for answer in lead.answers if answer[0].startswith(("Colores", "Precio"))] == [
        ("Colores", "Rojo, Verde"),
        ("Precio", "Bueno"),
    ]


def test_file_is_a_link_in_the_lead_and_in_no_fingerprint() -> None:
    moved = event(CHOICES, body=changed(CHOICES, "signature=abc", "signature=def"))
    assert ("Plano", "https://files.example.com/f1/plano.pdf?signature=def") in moved.lead.answers
    assert moved.content == event(CHOICES).content


def test_questions_are_known_by_their_words_or_types() -> None:
    lead = event(CHOICES).lead
    assert (lead.contact.name, lead.enquiry.text) == ("Rosa Prueba", "20 sillas para marzo")


def test_question_without_a_label_keeps_its_answer() -> None:
    assert ("?", "Luis Ensayo") in event("tally/blank_and_null.json").lead.answers


def test_zero_is_an_answer() -> None:
    assert ("Total", "0") in event("tally/blank_and_null.json").lead.answers


def test_body_without_fields_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        reading(CHOICES, body=with_members(CHOICES, data={"responseId": "r1"}))
