"""Netlify's answers by the names of their inputs, or by what the page calls them where the names say nothing."""

from __future__ import annotations

import json

from tests.contract.sources.reading import event, raw

SAMPLE = "netlify/submission.json"


def submission(data: dict[str, object], *titles: tuple[str, str]) -> bytes:
    known = json.loads(raw(SAMPLE))
    human = [{"name": name, "title": title, "value": data.get(name)} for name, title in titles]
    return json.dumps({**known, "data": data, "ordered_human_fields": human}).encode()


def test_label_of_the_page_names_an_input_whose_name_says_nothing() -> None:
    body = submission(
        {"field-1": "Rosa Prueba", "field-2": "912 345 678"}, ("field-1", "Tu nombre\n"), ("field-2", "Celular")
    )
    contact = event(SAMPLE, body=body).lead.contact
    assert contact.phone is not None
    assert (contact.name, contact.phone.e164) == ("Rosa Prueba", "+51912345678")


def test_name_of_an_input_counts_where_its_label_is_a_sentence() -> None:
    body = submission({"email": "rosa@example.com"}, ("email", "¿Dónde prefieres recibir la respuesta?"))
    assert event(SAMPLE, body=body).lead.contact.email == "rosa@example.com"


def test_several_choices_and_a_file_are_answers() -> None:
    upload = {"filename": "plano.pdf", "type": "application/pdf", "size": 12, "url": "https://files.example.com/p.pdf"}
    body = submission({"email": "rosa@example.com", "colores": ["Rojo", "Azul"], "plano": upload})
    answers = dict(event(SAMPLE, body=body).lead.answers)
    assert (answers["colores"], answers["url"]) == ("Rojo, Azul", "https://files.example.com/p.pdf")


def test_address_of_a_file_is_no_part_of_the_fingerprint() -> None:
    first, again = (
        event(SAMPLE, body=submission({"email": "rosa@example.com", "plano": f"https://files.example.com/{token}"}))
        for token in ("a", "b")
    )
    assert first.content == again.content
