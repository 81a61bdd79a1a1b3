"""Formstack: answers by their labels as a form or as JSON, and a secret that goes nowhere."""

from __future__ import annotations

import pytest

from intake.sources.formstack import Formstack
from tests.contract.sources.reading import event, raw

FORM = "formstack/form.txt"
TYPED = "formstack/typed.json"


@pytest.mark.parametrize(("sample", "key"), [(FORM, "1234567:987654321"), (TYPED, "1234567:987654322")])
def test_form_and_submission_are_the_identity(sample: str, key: str) -> None:
    assert event(sample).request_id == key


@pytest.mark.parametrize(("sample", "name"), [(FORM, "Rosa Prueba"), (TYPED, "Luis Ensayo")])
def test_name_of_two_parts_is_one(sample: str, name: str) -> None:
    assert event(sample).lead.contact.name == name


@pytest.mark.parametrize("sample", [FORM, TYPED])
def test_boxes_are_one_answer_and_nothing_else_is_left(sample: str) -> None:
    assert event(sample).lead.answers == (("Colores", "Rojo, Azul"),)


@pytest.mark.parametrize("sample", [FORM, TYPED])
def test_secret_is_gone_from_what_is_stored(sample: str) -> None:
    stored = Formstack().scrub(raw(sample))
    assert b"not-to-be-seen" not in stored
    assert event(sample, body=stored) == event(sample)
