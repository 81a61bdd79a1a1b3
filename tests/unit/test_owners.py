"""Which leads an assignment meets."""

from __future__ import annotations

import pytest

from intake.config import Assignment
from intake.lead import Contact, Enquiry, Item, Lead, Phone
from workers.owners import meets

LEAD = Lead(
    Contact(name="Ana Prueba", phone=Phone("987654321", "+51987654321")),
    Enquiry(product="Silla Ergonómica"),
    answers=(("Departamento", "CUSCO"), ("Color", "azul")),
)


@pytest.mark.parametrize(
    "assignment",
    [
        Assignment("ana"),
        Assignment("ana", product="silla ergonomica"),
        Assignment("ana", product="Silla"),
        Assignment("ana", region="PE"),
        Assignment("ana", region="Cusco"),
        Assignment("ana", source="web"),
        Assignment("ana", product="silla", region="cusco", source="web"),
    ],
)
def test_a_lead_that_meets_every_condition_is_assigned(assignment: Assignment) -> None:
    assert meets(assignment, "web", LEAD)


@pytest.mark.parametrize(
    "assignment",
    [
        Assignment("ana", product="mesa"),
        Assignment("ana", region="CL"),
        Assignment("ana", region="Puno"),
        Assignment("ana", source="otra"),
        Assignment("ana", product="silla", region="Puno"),
    ],
)
def test_a_lead_that_misses_one_condition_is_not(assignment: Assignment) -> None:
    assert not meets(assignment, "web", LEAD)


def test_the_items_of_a_quote_are_products() -> None:
    quote = Lead(Contact(), Enquiry(items=(Item("Mesa de roble"), Item("Silla"))))
    assert meets(Assignment("ana", product="silla"), "web", quote)


def test_a_whatsapp_number_tells_the_country() -> None:
    assert meets(Assignment("ana", region="CL"), "wa", Lead(Contact(wa_id="56912345678")))


def test_a_person_without_a_phone_comes_from_no_country() -> None:
    assert not meets(Assignment("ana", region="PE"), "web", Lead(Contact(email="ana@example.com")))
