"""How each CRM calls a contact, by its own answers."""

from __future__ import annotations

import json

import pytest

from crm_clients.abilities import NamesPeople
from crm_clients.base import Client, Response
from tests.contract.asking import said
from tests.contract.built import built
from tests.contract.recordings import recordings_of

# Those whose record shows the name whenever it is read, so that a recording has it; the others are asked for it.
SHOWN = ("bitrix24", "bottlecrm", "dolibarr", "espocrm", "hubspot", "kommo", "odoo", "pipedrive", "tryton")
ASKED = {
    "salesforce": {"records": [{"attributes": {}, "Name": "Rosa Quispe a1"}]},
    "zoho": {"data": [{"id": "5", "First_Name": "Rosa", "Last_Name": "Quispe a1"}]},
    "sandbox": {"id": "con-1", "name": "Rosa Quispe a1"},
}
each_client = pytest.mark.parametrize("client", [built(name) for name in (*SHOWN, *ASKED)], ids=(*SHOWN, *ASKED))


def naming(client: Client) -> NamesPeople:
    assert isinstance(client, NamesPeople)
    return client


@pytest.mark.parametrize("name", SHOWN)
def test_the_name_stands_in_the_record_of_a_contact(name: str) -> None:
    (shown,) = (each for each in recordings_of(name) if each.name == "contact-read")
    told = naming(built(name)).name_in(shown.response)
    assert told is not None
    assert told.startswith("Rosa Quispe ")


@pytest.mark.parametrize("name", ASKED)
def test_the_name_is_asked_for_where_a_record_does_not_show_it(name: str) -> None:
    answer = Response(200, {}, json.dumps(ASKED[name]).encode())
    assert naming(built(name)).name_in(answer) == "Rosa Quispe a1"


@each_client
def test_the_contact_is_asked_for_by_its_id(client: Client) -> None:
    asked = naming(client).asks_name("77")
    assert "77" in said(asked)


@each_client
@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"null", b"\xff", b"[{}]", b'{"data": {}}', b'{"name": 7}'])
def test_another_answer_names_nobody(client: Client, body: bytes) -> None:
    assert naming(client).name_in(Response(200, {}, body)) is None
