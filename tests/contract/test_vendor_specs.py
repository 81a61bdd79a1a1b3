"""Requests held against what the vendors publish: Prism refuses what their own OpenAPI files do not allow.

It runs where such a server is: `$CRM_SERVERS_HOME/hubspot/state.json` and `zoho/state.json` name base URL and headers.
Prism keeps no state and tells what a request breaks in the header `sl-violations`.  Paths that a file lacks cannot be
tried: notes, definitions of fields, and the deals of one of Zoho's contacts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from crm_clients.abilities import NamesPeople
from crm_clients.base import Account, Client, ContactDraft, Draft, Kind, Request, Response
from crm_clients.hubspot import HubSpot
from crm_clients.registry import build
from crm_clients.transport import Answered, Transport
from crm_clients.watchdog import boot_clock
from tests.contract.drafts import emptiest, longest, ordinary

pytestmark = pytest.mark.crm_servers

HOME = Path(os.environ.get("CRM_SERVERS_HOME", "~/.cache/crm-servers")).expanduser()
SECONDS = 60.0
OPTIONS = {
    "hubspot": {"currencies": "PEN USD", "pipeline": "default", "stage": "appointmentscheduled"},
    "zoho": {"currencies": "PEN USD", "pipeline": "Standard (Standard)"},
}
# Of what the vendor's file has paths for.
KINDS = (Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK)
DESCRIBED = {"hubspot": KINDS, "zoho": KINDS}
CASES = [(name, kind) for name, kinds in DESCRIBED.items() for kind in kinds]


def requests(client: Client, kind: Kind) -> Iterator[Request]:
    """Everything that the client asks about records of a kind."""
    drafts: tuple[Draft, ...] = (ordinary(kind, owner="77"), emptiest(kind), longest(kind))
    yield from (client.create(each, f"spec-{number}-{kind}") for number, each in enumerate(drafts))
    yield client.create(client.sentinel(kind, "installation-1", parent_id="1001"), f"intake-sentinel-{kind}")
    yield client.find(kind, f"spec-1-{kind}", parent_id="1001")
    yield client.read(kind, "1001")
    if kind is Kind.CONTACT and isinstance(client, NamesPeople):
        yield client.asks_name("1001")
    if kind is Kind.OPPORTUNITY:
        yield client.update(kind, "1001", {"title": "Bomba", "text": "x", "amount": "5", "currency": "USD"})
        listing = client.opportunities_of("1001")
        yield from () if listing is None or listing.method == "GET" else (listing,)
    yield from (request for each in drafts if isinstance(each, ContactDraft) for request in client.matches(each))


def ask(name: str, request: Request) -> Response:
    """What the server of this name says; without it the test is not run, and says why."""
    state = HOME / name / "state.json"
    if not state.is_file():
        pytest.skip(f"not run: there is no {name} ({state} is missing)")
    told = json.loads(state.read_text(encoding="utf-8"))
    account = Account(name, told["base_url"], tuple(told["headers"].items()))
    now = boot_clock()
    with Transport() as transport:
        sent = transport.write(account, request, send_by=now + SECONDS, deadline=now + SECONDS)
    if not isinstance(sent, Answered):
        pytest.skip(f"not run: {name} does not answer ({sent})")
    return sent.response


def violations(response: Response) -> list[object]:
    """What the request breaks; a violation whose place begins with `response` is the file's own."""
    told = json.loads(response.headers.get("sl-violations", "[]"))
    return [each for each in told if each["location"][0] != "response"]


@pytest.mark.parametrize(("name", "kind"), CASES, ids=[f"{name}-{kind}" for name, kind in CASES])
def test_the_vendor_s_own_description_allows_every_request(name: str, kind: Kind) -> None:
    client = build(name, OPTIONS[name])
    for request in requests(client, kind):
        response = ask(name, request)
        assert violations(response) == [], f"{request.method} {request.path}"
        assert response.status < 300, f"{request.method} {request.path}: {response.status}"


def test_hubspot_s_own_description_allows_the_question_for_an_owner() -> None:
    response = ask("hubspot", HubSpot().user("77"))
    assert (violations(response), response.status) == ([], 200)


@pytest.mark.parametrize("name", sorted(DESCRIBED))
def test_the_server_does_refuse_what_the_description_does_not_allow(name: str) -> None:
    good = build(name, OPTIONS[name]).create(ordinary(Kind.CONTACT), "spec-1")
    bad = Request(good.method, good.path, body=b'{"data": {}}', headers=good.headers)
    assert ask(name, bad).status == 422
