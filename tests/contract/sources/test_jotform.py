"""Jotform: the answers in `rawRequest`, whatever coding carries it."""

from __future__ import annotations

import pytest

from intake.sources.base import Unreadable
from tests.contract.sources.reading import changed, event, reading

PARTS = "jotform/parts.multipart.txt"
FORM = "jotform/entities.form.txt"


def test_id_of_nineteen_digits_is_whole() -> None:
    assert event(PARTS).request_id == "240000000000001:6100000000000000019"


def test_both_codings_say_the_same() -> None:
    assert event(PARTS).lead == event(FORM).lead


def test_entities_are_unescaped_once() -> None:
    assert event(FORM).lead.enquiry.text == '20 sillas "tipo A" &amp; mesas\r\nGracias'


def test_name_and_phone_of_several_parts_are_one() -> None:
    contact = event(PARTS).lead.contact
    assert contact.phone is not None
    assert (contact.name, contact.phone.e164) == ("Rosa D'Prueba", "+51912345678")


def test_other_answers_are_kept_and_the_pages_own_fields_are_not() -> None:
    assert event(PARTS).lead.answers == (
        ("direccion", "Av. Ejemplo 123, Lima"),
        ("color", "Rojo, Azul"),
        ("fecha", "2026-03-15"),
        ("plano", "https://files.example.com/uploads/1/plano.pdf"),
    )


def test_source_may_point_into_the_inner_json() -> None:
    assert event(PARTS, pointers={"document": "/rawRequest/q8_color"}).lead.contact.document == "Rojo, Azul"


@pytest.mark.parametrize("broken", ["", "{", "[]", "7"])
def test_body_without_its_answers_is_unreadable(broken: str) -> None:
    with pytest.raises(Unreadable):
        reading(FORM, body=f"formID=1&submissionID=2&rawRequest={broken}".encode())


def test_cut_multipart_body_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        reading(PARTS, body=changed(PARTS, "------Edge7--", ""))
