"""Any JSON object: fields by well-known names or the source's own pointers, and nothing dropped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from intake.lead import Attribution, Contact, Lead
from intake.sources.base import Delivered, Incoming, Unreadable
from intake.sources.standard_webhooks import StandardWebhooks

SAMPLES = Path(__file__).parent / "samples" / "standard_webhooks"
NOW = datetime(2026, 3, 2, 16, 0, tzinfo=UTC)


def event(body: bytes, *, pointers: Mapping[str, str] | None = None, header: str = "webhook-id") -> Incoming:
    delivered = Delivered(body, "application/json", {header: "msg_1"}, NOW, "PE", pointers or {})
    (only,) = StandardWebhooks().read(delivered).events
    return only


def sample(name: str) -> Lead:
    return event((SAMPLES / name).read_bytes()).lead


def lead(**answers: object) -> Lead:
    return event(json.dumps(answers).encode()).lead


@pytest.mark.parametrize("header", ["webhook-id", "svix-id"])
def test_signed_id_is_the_identity(header: str) -> None:
    assert event(b'{"nombre":"Rosa"}', header=header).request_id == "msg_1"


def test_spanish_form_is_read_by_its_names() -> None:
    found = sample("flat_spanish.json")
    contact = found.contact
    assert contact.phone is not None
    assert (contact.name, contact.email, contact.document) == ("Rosa Prueba", "Rosa@example.com", "20100070970")
    assert (contact.phone.e164, found.enquiry.text, found.consent) == ("+51912345678", "10 sillas", True)
    assert found.attribution == Attribution(utm=(("source", "facebook"),), click_id="g1")


def test_other_answers_are_kept_under_their_questions() -> None:
    assert sample("flat_spanish.json").answers == (("¿Cómo nos conoció?", "Feria"),)


def test_answers_of_an_envelope_are_in_its_data() -> None:
    found = sample("envelope.json")
    assert (found.contact.name, found.answers) == ("Rosa Prueba", (("occupation", "Arquitecta"),))
    assert found.occurred_at == datetime(2026, 3, 2, 15, tzinfo=UTC)


def test_email_in_the_phone_field_moves() -> None:
    assert sample("email_in_phone.json").contact == Contact(name="Rosa", email="rosa@example.com")


def test_charset_that_was_guessed_is_flagged() -> None:
    found = sample("latin1.json")
    assert (found.contact.name, found.flags) == ("José Ñahui", ("charset_guessed",))


def test_hostile_text_is_cleaned_and_big_numbers_stay() -> None:
    found = sample("hostile_text.json")
    assert (found.contact.name, found.enquiry.text) == ("Rosa \ufffd 😀", "a")
    assert ("n", "1e400") in found.answers


def test_own_pointers_win_over_names() -> None:
    body = b'{"phone":"our shop","x":{"a/b":[{"tel":"912345678"}]}}'
    found = event(body, pointers={"phone": "/x/a~1b/0/tel"}).lead
    assert found.contact.phone is not None
    assert (found.contact.phone.e164, found.answers) == ("+51912345678", (("phone", "our shop"),))


def test_phone_under_an_unknown_label_is_found_if_it_reads_as_one() -> None:
    found = lead(**{"Tu celular (con código)": "912 345 678", "¿Prefieres teléfono?": "sí"}).contact.phone
    assert found is not None
    assert found.e164 == "+51912345678"


def test_answers_that_cannot_be_read_as_their_field_stay_answers() -> None:
    found = lead(nombre="Rosa", correo="no tengo", monto="lo que cueste", acepto="tal vez")
    assert found.answers == (("correo", "no tengo"), ("monto", "lo que cueste"), ("acepto", "tal vez"))


def test_name_of_an_item_or_a_company_is_no_persons() -> None:
    found = lead(items=[{"name": "Silla"}], company={"name": "Muebles SAC"}, contact={"name": "Rosa"})
    assert (found.contact.name, found.contact.company) == ("Rosa", "Muebles SAC")


def test_questions_listed_as_objects_are_read() -> None:
    found = lead(fields=[{"label": "Nombre", "value": "Rosa"}, {"label": "Servicios", "value": ["A", "B"]}])
    assert (found.contact.name, found.enquiry.product) == ("Rosa", "A, B")


def test_lead_without_any_contact_point_is_a_lead_all_the_same() -> None:
    assert lead(mensaje="llámenme").flags == ("no_contact_point",)


def test_ids_and_tokens_are_no_part_of_the_fingerprint() -> None:
    tries = [event(json.dumps({"nombre": "Rosa", "token": n, "created_at": n}).encode()) for n in (1, 2)]
    assert tries[0].content == tries[1].content


@pytest.mark.parametrize("body", [b"", b"[]", b"7", b"no JSON", b'{"a":NaN}', b"[" * 100_000, b"[" * 200 + b"]" * 200])
def test_other_bodies_are_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        event(body)
