"""Elementor's two shapes: whose name it is, and that two tries of one visitor are one lead."""

from __future__ import annotations

from urllib.parse import urlencode

from tests.contract.sources.samples_of import SamplesOf

ELEMENTOR = SamplesOf("elementor")


def test_forms_name_is_nobodys_name() -> None:
    lead = ELEMENTOR.event("advanced.txt").lead
    assert (lead.contact.name, lead.answers) == ("Rosa Prueba", (("formulario", "New Form"),))


def test_form_without_a_name_field_has_no_name() -> None:
    body = urlencode({"form[name]": "New Form", "fields[email][value]": "rosa@example.com"}).encode()
    assert ELEMENTOR.event(body).lead.contact.name is None


def test_fields_are_known_by_title_id_or_type() -> None:
    lead = ELEMENTOR.event("advanced.txt").lead
    assert lead.contact.phone is not None
    assert (lead.contact.email, lead.contact.phone.e164) == ("rosa@example.com", "+51912345678")
    assert (lead.enquiry.text, lead.attribution.utm) == ("20 sillas", (("source", "ig"),))


def test_second_try_has_the_same_content_and_no_id() -> None:
    first, second = ELEMENTOR.event("advanced.txt"), ELEMENTOR.event("advanced_second_try.txt")
    assert (first.request_id, first.content) == (None, second.content)


def test_two_forms_with_the_same_answers_are_two() -> None:
    body = ELEMENTOR.bytes("advanced.txt")
    other = ELEMENTOR.event(body.replace(b"New+Form", b"Catalogo"))
    assert other.content != ELEMENTOR.event(body).content


def test_metadata_is_in_neither_lead_nor_content() -> None:
    for sample in ("advanced.txt", "simple.txt"):
        event = ELEMENTOR.event(sample)
        told = f"{event.content}{event.lead.answers}"
        assert not [word for word in ("marzo 2", "10:05", "contacto/", "Mozilla", "203.0.113.9") if word in told]


def test_labels_are_read_in_spanish_and_without_a_label() -> None:
    lead = ELEMENTOR.event("simple.txt").lead
    assert lead.contact.phone is not None
    assert (lead.contact.name, lead.contact.email) == ("Rosa Prueba", "rosa@example.com")
    assert lead.contact.phone.e164 == "+51912345678"
    assert ("Fecha de visita", "5 de marzo") in lead.answers


def test_date_that_the_visitor_chose_is_kept() -> None:
    answers = ELEMENTOR.event("simple_own_date.txt").lead.answers
    assert answers == (("Fecha", "5 de marzo"), ("Hora", "10:00"), ("formulario", "Reservas"))


def test_link_to_an_uploaded_file_is_an_answer_and_no_content() -> None:
    fields = {"fields[name][value]": "Rosa", "fields[plan][value]": "https://example.com/plano.pdf"}
    event = ELEMENTOR.event(urlencode(fields).encode())
    assert ("plan", "https://example.com/plano.pdf") in event.lead.answers
    assert "/fields/plan/value" not in event.content


def test_robots_checks_are_no_answers() -> None:
    fields = {"fields[name][value]": "Rosa", "fields[r][type]": "recaptcha_v3", "fields[r][value]": "token"}
    assert "token" not in str(ELEMENTOR.event(urlencode(fields).encode()).content)


def test_source_may_point_at_a_field_by_its_id() -> None:
    pointed = SamplesOf("elementor", pointers={"company": "/fields/field_cd34/value"})
    assert pointed.event("advanced.txt").lead.contact.company == "20 sillas"
