"""Contact Form 7: tags by their type, and the visitor's only copy when the JSON is broken."""

from __future__ import annotations

import pytest

from intake.sources import find
from intake.sources.base import Unreadable
from tests.contract.sources.samples_of import SamplesOf

CF7 = SamplesOf("cf7")
# The plugin puts the visitor's words between quote marks as they are.
BROKEN = b'{"name":"Rosa "la" Prueba","email":"rosa@example.com","message":"a=1\nb=2"}'


def test_tags_are_fields() -> None:
    lead = CF7.event("form.json").lead
    assert lead.contact.phone is not None
    assert (lead.contact.name, lead.contact.email) == ("Rosa Prueba", "rosa@example.com")
    assert (lead.contact.phone.e164, lead.enquiry.text, lead.consent) == ("+51912345678", "20 sillas", True)
    assert lead.answers == (("your-subject", "Sillas"), ("menu-7", "Oficina, Hogar"))


def test_numbered_tags_are_known_by_their_type() -> None:
    lead = CF7.event("numbered_textarea.json").lead
    assert (lead.contact.email, lead.enquiry.text) == ("rosa@example.com", "20 sillas")
    assert ("text-1", "Rosa Prueba") in lead.answers


def test_there_is_no_id() -> None:
    assert CF7.event("form.json").request_id is None


def test_broken_json_is_unreadable_and_not_taken_for_a_form() -> None:
    with pytest.raises(Unreadable, match="not_json"):
        CF7.read(BROKEN)


def test_any_content_type_is_taken() -> None:
    assert find("cf7").content_types == frozenset()
