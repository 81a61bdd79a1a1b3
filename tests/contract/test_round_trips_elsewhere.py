"""What seven more clients write is what they read again, where the CRM gives back what it was given."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from crm_clients.base import (
    Client,
    ContactDraft,
    Draft,
    Found,
    Kind,
    NoteDraft,
    OpportunityDraft,
    Request,
    Response,
    Seen,
)
from crm_clients.registry import build
from tests.contract.built import NEEDED
from workers.drafts import guarded
from workers.values import alike, is_same

Row = dict[str, object]
CRM_ID = "9001"
INSTALLATION = "0b5c3c1e-6f7e-4a7e-9a51-6f2f2e1c9d10"
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "bitrix24": NEEDED["bitrix24"] | {"currencies": "PEN USD"},
    "dolibarr": NEEDED["dolibarr"] | {"currency": "USD", "owner_field": "intake_owner"},
    "espocrm": {"currencies": "PEN USD"},
    "http": {},
    "kommo": NEEDED["kommo"] | {"currency": "USD"},
    "odoo": {"currency": "USD"},
    "tryton": {"currency": "USD"},
}
DEAL = OpportunityDraft(
    "Rosa Quispe · web · «bomba» & más",
    "Quiero una bomba:\n  de 2 HP <hoy>,\n\ny rápido.",
    "401",
    Decimal(1200),  # Kommo keeps whole numbers
    "USD",
    "77",
    received_at=datetime(2026, 11, 29, tzinfo=UTC),
)


def inner(value: object) -> Row:
    assert isinstance(value, dict)
    return dict(value)


def bitrix24(kind: Kind, written: Row) -> object:
    fields = inner(written["fields"])
    match kind:
        case Kind.TASK:
            return {"result": {"tasks": [{**fields, "id": CRM_ID}]}, "total": 1}
        case Kind.NOTE:
            return {"result": [{**fields, "ID": CRM_ID}], "total": 1}
        case _:
            return {"result": {"item": {**fields, "id": int(CRM_ID)}}}


def dolibarr(_kind: Kind, written: Row) -> object:
    texts = {name: value if isinstance(value, dict) else str(value) for name, value in written.items()}
    return {"status": "1", **texts, "id": CRM_ID}


def same(_kind: Kind, written: Row) -> object:
    return {**written, "id": CRM_ID, "live": True}


def kommo(_kind: Kind, written: Row) -> object:
    records = written["records"]
    assert isinstance(records, list)
    (row,) = records
    return {"entity_id": 9, **inner(row), "id": int(CRM_ID)}


def odoo(_kind: Kind, written: Row) -> object:
    names, rows = written["fields"], written["data"]
    assert isinstance(names, list)
    assert isinstance(rows, list)
    cells = dict(zip(names, rows[0], strict=True))
    shown: Row = {str(name): value for name, value in cells.items() if "/" not in str(name)}
    links: Row = {f"{name}".partition("/")[0]: [int(value), "x"] for name, value in cells.items() if "/.id" in name}
    worth: Row = {"expected_revenue": float(shown["expected_revenue"])} if "expected_revenue" in shown else {}  # type: ignore[arg-type]  # a cell is a text
    return [{"active": True, "probability": 10, **shown, **links, **worth, "id": int(CRM_ID)}]


def tryton(kind: Kind, written: Row) -> object:
    if kind is Kind.CONTACT:
        identifiers = [{"code": "need-1-contact", "type": None}]
        known: Row = {"code": "7", "active": True, "contact_mechanisms": []}
        return [{**known, **written, "identifiers": identifiers, "id": int(CRM_ID)}]
    worth = {"decimal": written.get("amount")}
    usual: Row = {"state": "lead", "comment": None, "party": None, "employee": None, "currency": {"code": "USD"}}
    return [{**usual, **written, "amount": worth, "id": int(CRM_ID)}]


@dataclass(frozen=True, slots=True)
class Crm:
    """A CRM that keeps all that it is given, and how it shows it."""

    client: Client
    shown: Callable[[Kind, Row], object]

    def read_back(self, request: Request, kind: Kind) -> Seen:
        body = json.loads(request.body or b"{}")
        written: Row = {"records": body} if isinstance(body, list) else inner(body)
        crm_id = f"9:{CRM_ID}" if kind is Kind.NOTE and self.client.name in {"kommo", "bitrix24"} else CRM_ID
        answer = Response(200, {}, json.dumps(self.shown(kind, written)).encode())
        looked = self.client.was_read(kind, crm_id, answer)
        assert isinstance(looked, Found), looked
        return looked.seen

    def made(self, draft: Draft, kind: Kind) -> Seen:
        return self.read_back(self.client.create(draft, f"need-1-{kind}"), kind)


SHOWN: Mapping[str, Callable[[Kind, Row], object]] = {
    "bitrix24": bitrix24,
    "dolibarr": dolibarr,
    "espocrm": same,
    "http": same,
    "kommo": kommo,
    "odoo": odoo,
    "tryton": tryton,
}
each_crm = pytest.mark.parametrize(
    "crm", [Crm(build(name, OPTIONS[name]), shown) for name, shown in SHOWN.items()], ids=SHOWN.keys()
)


@each_crm
def test_an_opportunity_reads_back_as_it_was_written(crm: Crm) -> None:
    seen, wanted = crm.made(DEAL, Kind.OPPORTUNITY), guarded(DEAL)
    assert {name for name, value in wanted.items() if not alike(value, seen.values.get(name))} == set()
    assert (seen.reference, seen.contact_id, seen.owner) == ("need-1-opportunity", "401", "77")


@each_crm
def test_a_note_reads_back_as_it_was_written(crm: Crm) -> None:
    text = "Formulario · 29 nov\n¿Cuánto <demora>?\n\nGracias & saludos"
    seen = crm.made(NoteDraft(text, "9"), Kind.NOTE)
    assert (seen.values["text"], seen.reference) == (text, "need-1-note")


@each_crm
def test_a_contact_reads_back_with_its_number_where_that_can_be_changed(crm: Crm) -> None:
    number = "+51987650001"
    shown = crm.made(ContactDraft("Rosa Quispe", phone=number), Kind.CONTACT).values.get("phone")
    assert is_same("phone", shown, number) == crm.client.capability(Kind.CONTACT).changes_phone


@each_crm
@pytest.mark.parametrize("kind", list(Kind))
def test_a_sentinel_shows_its_installation_and_its_reference_again(crm: Crm, kind: Kind) -> None:
    seen = crm.made(crm.client.sentinel(kind, INSTALLATION, parent_id="9"), kind)
    assert INSTALLATION in seen.values["text"]
    assert seen.reference == f"need-1-{kind}"
