"""What a client writes is what it reads again, where the CRM gives back what it was given.

A later version changes a field only if it still reads as our last write left it: a value that came back in another form
would be taken for a person's change, or be sent again and again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
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
from tests.contract.drafts import ordinary
from workers.drafts import guarded
from workers.values import alike, is_same

Row = dict[str, object]
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "hubspot": {"currencies": "PEN USD"},
    "pipedrive": NEEDED["pipedrive"],
    "salesforce": {"currencies": "PEN USD"},
    "zoho": {"currencies": "PEN USD"},
}
CRM_ID = "9001"
OWNER = "77001"
DEAL = OpportunityDraft(
    "Rosa Quispe · web · «bomba» & más",
    "Quiero una bomba:\n  de 2 HP <hoy>,\n\ny rápido.",
    "401",
    Decimal("1200.50"),
    "USD",
    OWNER,
    received_at=datetime(2026, 11, 29, tzinfo=UTC),
)


def body(request: Request) -> Row:
    read = json.loads(request.body or b"{}")
    assert isinstance(read, dict)
    return read


def inner(value: object) -> Row:
    assert isinstance(value, dict)
    return dict(value)


def hubspot(written: Row) -> object:
    associations = written.get("associations") or []
    assert isinstance(associations, list)
    contacts = [{"id": inner(inner(each)["to"])["id"], "type": "deal_to_contact"} for each in associations]
    return {"id": CRM_ID, "associations": {"contacts": {"results": contacts}}, "properties": written["properties"]}


def only(rows: object) -> Row:
    assert isinstance(rows, list)
    (row,) = rows
    return inner(row)


def zoho(written: Row) -> object:
    return {"data": [{**only(written["data"]), "id": CRM_ID}]}


def salesforce(written: Row) -> object:
    return {"totalSize": 1, "done": True, "records": [{"Lead_Ref__c": None, **written, "Id": CRM_ID}]}


def pipedrive(written: Row) -> object:
    return {"success": True, "data": {"custom_fields": {}, "user_id": None, **written, "id": int(CRM_ID)}}


SHOWN: Mapping[str, Callable[[Row], object]] = {
    "hubspot": hubspot,
    "pipedrive": pipedrive,
    "salesforce": salesforce,
    "zoho": zoho,
}
each_client = pytest.mark.parametrize("client", [build(name, OPTIONS[name]) for name in SHOWN], ids=SHOWN.keys())


def read_back(client: Client, kind: Kind, written: Row) -> Seen:
    """The record as a CRM would show it that keeps all that it is given."""
    response = Response(200, {}, json.dumps(SHOWN[client.name](written)).encode())
    looked = client.was_read(kind, CRM_ID, response)
    assert isinstance(looked, Found), looked
    return looked.seen


def made(client: Client, draft: Draft, kind: Kind) -> Seen:
    return read_back(client, kind, body(client.create(draft, f"need-1-{kind}")))


@each_client
def test_an_opportunity_reads_back_as_it_was_written(client: Client) -> None:
    seen = made(client, DEAL, Kind.OPPORTUNITY)
    wanted = guarded(DEAL)
    assert {name for name, value in wanted.items() if not alike(value, seen.values.get(name))} == set()
    assert (seen.reference, seen.contact_id, seen.owner) == ("need-1-opportunity", "401", OWNER)


@each_client
@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_bears_its_reference_and_its_owner(client: Client, kind: Kind) -> None:
    seen = made(client, ordinary(kind, parent_id="9", owner=OWNER), kind)
    assert (seen.reference, seen.live) == (f"need-1-{kind}", True)
    assert seen.owner == (None if kind is Kind.NOTE else OWNER)


@each_client
def test_a_note_reads_back_as_it_was_written(client: Client) -> None:
    text = "Formulario · 29 nov\n¿Cuánto <demora>?\n\nGracias & saludos"
    assert made(client, NoteDraft(text, "9"), Kind.NOTE).values["text"] == text


@each_client
def test_an_update_reads_back_as_it_was_written(client: Client) -> None:
    changes = {"title": "Dos bombas", "text": "Ahora dos:\n de 3 HP", "amount": "2400.75", "currency": "PEN"}
    seen = read_back(
        client, Kind.OPPORTUNITY, _with_reference(client, body(client.update(Kind.OPPORTUNITY, CRM_ID, changes)))
    )
    assert {name for name, value in changes.items() if not alike(value, seen.values.get(name))} == set()


@each_client
def test_a_contact_reads_back_with_its_number_where_that_can_be_changed(client: Client) -> None:
    number = "+51987650001"
    shown = made(client, ContactDraft("Rosa Quispe", phone=number), Kind.CONTACT).values.get("phone")
    assert is_same("phone", shown, number) == client.capability(Kind.CONTACT).changes_phone


def _with_reference(client: Client, written: Row) -> Row:
    """A CRM shows the fields that were not changed, too."""
    if client.name != "zoho":
        return written
    return {"data": [{"Lead_Ref": None, **only(written["data"])}]}


@each_client
@pytest.mark.parametrize("kind", list(Kind))
def test_a_sentinel_shows_its_installation_again(client: Client, kind: Kind) -> None:
    installation = "0b5c3c1e-6f7e-4a7e-9a51-6f2f2e1c9d10"
    seen = made(client, client.sentinel(kind, installation, parent_id="9"), kind)
    assert installation in seen.values["text"]


@each_client
def test_a_contact_of_which_nothing_is_known_reads_back(client: Client) -> None:
    assert made(client, ContactDraft(""), Kind.CONTACT).reference == "need-1-contact"
