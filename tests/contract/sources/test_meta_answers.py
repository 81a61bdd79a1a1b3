"""The answers of a Meta lead, as its Graph API tells them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from intake.lead import FETCH_PENDING, Contact, Lead, Phone
from intake.sources.base import Unreadable
from intake.sources.meta_answers import complete

NAMED = Lead(Contact(), answers=(("leadgen_id", "1001"),), flags=(FETCH_PENDING,))
EMPTY: Mapping[str, str] = MappingProxyType({})


def told(answers: Mapping[str, str | list[str]], *, lead: Lead = NAMED, pointers: Mapping[str, str] = EMPTY) -> Lead:
    data = [{"name": name, "values": [value] if isinstance(value, str) else value} for name, value in answers.items()]
    body = json.dumps({"id": "1001", "created_time": "2026-03-02T15:00:00+0000", "field_data": data}).encode()
    return complete(lead, body, leadgen_id="1001", region="PE", pointers=pointers)


def test_metas_own_questions_are_known() -> None:
    lead = told(
        {
            "full_name": "Ana Prueba",
            "email": "ana@example.com",
            "phone_number": "+51987654321",
            "company_name": "Prueba SAC",
        }
    )
    assert (lead.contact.name, lead.contact.email, lead.contact.company) == (
        "Ana Prueba", "ana@example.com", "Prueba SAC",
    )  # fmt: skip
    assert lead.contact.phone
    assert lead.contact.phone.e164 == "+51987654321"


@pytest.mark.parametrize(
    ("name", "value"), [("work_email", "ana@example.com"), ("correo_electrónico", "ana@example.com")]
)
def test_other_names_of_an_email_are_known(name: str, value: str) -> None:
    assert told({name: value}).contact.email == "ana@example.com"


def test_the_advertisers_own_questions_are_answers_in_words() -> None:
    lead = told({"full_name": "Ana", "¿qué_día_prefieres?": "lunes"})
    assert ("¿qué día prefieres?", "lunes") in lead.answers
    assert ("leadgen_id", "1001") in lead.answers


def test_several_values_are_one_answer() -> None:
    assert told({"email": "ana@example.com", "productos": ["Sillas", "Mesas"]}).enquiry.product == "Sillas, Mesas"


def test_a_source_may_point_at_a_question() -> None:
    lead = told({"email": "ana@example.com", "cuéntanos": "Quiero diez"}, pointers={"message": "/field_data/cuéntanos"})
    assert lead.enquiry.text == "Quiero diez"


def test_the_lead_waits_no_more() -> None:
    assert FETCH_PENDING not in told({"email": "ana@example.com"}).flags


def test_a_person_is_not_overwritten() -> None:
    typed = Lead(Contact(name="Rosa Prueba", phone=Phone("1", "+51911111111")), flags=(FETCH_PENDING,))
    lead = told({"full_name": "Ana", "email": "ana@example.com"}, lead=typed)
    assert (lead.contact.name, lead.contact.email) == ("Rosa Prueba", "ana@example.com")


def test_the_testing_tools_lead_is_flagged() -> None:
    assert "test_lead" in told({"full_name": "<test lead: dummy data for full_name>"}).flags


def test_a_lead_without_answers_says_so() -> None:
    assert "no_answers" in told({}).flags


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"id": "1001"}', b'{"id": "1002", "field_data": []}', b'{"error": {"code": 190}}', b"\xff"],
)
def test_what_is_not_this_lead_is_refused(body: bytes) -> None:
    with pytest.raises(Unreadable):
        complete(NAMED, body, leadgen_id="1001", region="PE", pointers={})


@pytest.mark.parametrize("data", [[None], ["x"], [{"name": None}], [{"name": "email", "values": None}], [[]]])
def test_odd_answers_are_left_out(data: list[object]) -> None:
    body = json.dumps({"id": "1001", "field_data": data}).encode()
    assert "no_answers" in complete(NAMED, body, leadgen_id="1001", region="PE", pointers={}).flags
