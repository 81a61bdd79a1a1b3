"""What a lead becomes in a CRM: texts that read back as they were sent, and amounts only where the CRM keeps them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest

from crm_clients.base import Capability, OpportunityDraft
from intake.config import Destination, Template
from intake.lead import Attribution, Contact, Enquiry, Item, Lead, Media
from workers import drafts
from workers.joining import joined
from workers.work import Work

ANY = Capability("stored")
DOLLARS = Capability("stored", currencies=frozenset({"USD"}))


WORK = Work(
    event_id=UUID(int=1),
    mode="live",
    source="web",
    scope="web",
    kind="form",
    version=None,
    need_id=1,
    reference="n1",
    number=None,
    received_at=datetime(2026, 11, 20, 15, tzinfo=UTC),
    lead=Lead(Contact(name="Rosa Prueba")),
)


def draft(enquiry: Enquiry, destination: Destination, can: Capability = ANY) -> OpportunityDraft:
    work = replace(WORK, lead=replace(WORK.lead, enquiry=enquiry))
    return drafts.opportunity(work, destination, can, contact_id="c-1", owner=None)


def to(**more: str) -> Destination:
    """A destination with the currency and the text of an opportunity that are given."""
    text = more.get("text")
    return Destination("crm", "any", currency=more.get("currency"), opportunity_text=Template(text) if text else None)


def test_an_amount_without_a_currency_gets_the_destinations() -> None:
    made = draft(Enquiry(amount=Decimal(100)), to(currency="PEN"))
    assert (made.amount, made.currency) == (Decimal(100), "PEN")


def test_an_amount_keeps_the_currency_that_it_came_with() -> None:
    assert draft(Enquiry(amount=Decimal(100), currency="USD"), to(currency="PEN")).currency == "USD"


def test_an_amount_in_a_currency_that_the_crm_lacks_stands_in_the_text_alone() -> None:
    made = draft(Enquiry(amount=Decimal("100.00"), currency="PEN"), to(currency="USD"), DOLLARS)
    assert (made.amount, made.currency) == (None, None)
    assert "Monto: 100.00 PEN" in made.text


def test_a_text_of_the_destinations_own_names_an_amount_that_the_crm_cannot_keep() -> None:
    made = draft(Enquiry("Hola", amount=Decimal("100.00")), to(currency="PEN", text="{message}"), DOLLARS)
    assert made.text == "100.00 PEN\n\nHola"


def test_a_text_of_the_destinations_own_is_alone_where_the_amount_is_kept() -> None:
    assert draft(Enquiry("Hola", amount=Decimal("100.00")), to(text="{message}"), DOLLARS).text == "Hola"


@pytest.mark.parametrize("text", ["\n{message}\n", "{message} \n{product}"])
def test_a_text_has_no_white_space_at_its_ends(text: str) -> None:
    assert draft(Enquiry("Hola"), to(text=text)).text == "Hola"


# --- the CRM's own fields ---

ALL = {
    "document": "ruc", "product": "producto", "source": "fuente", "channel": "canal", "utm_campaign": "campana",
    "items": "lineas", "media": "archivos", "answers": "respuestas", "number": "numero",
}  # fmt: skip


def filled(lead: Lead) -> dict[str, str]:
    work = replace(WORK, lead=lead)
    made = drafts.opportunity(work, Destination("crm", "any", fields=ALL), ANY, contact_id="c-1", owner=None)
    assert drafts.contact(work, Destination("crm", "any", fields=ALL)).fields == made.fields
    return dict(made.fields)


def test_every_field_of_a_lead_can_have_one_in_the_crm() -> None:
    enquiry = Enquiry(
        product="Bomba",
        items=(Item("Bomba", "B-1", Decimal(2), Decimal("10.50")), Item("Manguera")),
        media=(Media("image", "1", filename="foto.jpg", reference="m-1"), Media("voice", "2")),
    )
    lead = Lead(
        Contact(document="20123456786"), enquiry, Attribution(utm=(("campaign", "verano"),)),
        answers=(("Distrito", "Lince"),),
    )  # fmt: skip
    assert filled(lead) == {
        "ruc": "20123456786",
        "producto": "Bomba",
        "fuente": "web",
        "canal": "Formulario",
        "campana": "verano",
        "lineas": "2 \N{MULTIPLICATION SIGN} Bomba a 10.50 [B-1]\nManguera",
        "archivos": "[image] foto.jpg guardado: m-1\n[voice]",
        "respuestas": "Distrito: Lince",
    }


def test_what_a_lead_does_not_say_fills_no_field() -> None:
    assert filled(Lead(Contact())) == {"fuente": "web", "canal": "Formulario"}


def test_the_files_of_messages_that_came_together_fill_one_field() -> None:
    lead = Lead(Contact(), Enquiry(text="Hola", media=(Media("voice", "1"),)))
    later = replace(lead, enquiry=Enquiry(text="Mire", media=(Media("image", "2", filename="foto.jpg"),)))
    works = [replace(WORK, lead=lead), replace(WORK, lead=later, event_id=uuid4())]
    together = joined(works[0], works, ZoneInfo("America/Lima"))
    made = drafts.opportunity(together, Destination("crm", "any", fields=ALL), ANY, contact_id="c-1", owner=None)
    assert dict(made.fields)["archivos"] == "[voice]\n[image] foto.jpg"
    assert made.text.count("[image] foto.jpg") == 1
