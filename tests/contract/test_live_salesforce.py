"""The Salesforce client against simple-mockforce, an imitation that keeps state and reads some SOQL.

It runs where `$CRM_SERVERS_HOME/mockforce/state.json` names one.  The imitation refuses nothing, knows no `queryAll`
and answers a create with 200: what is shown is that requests are understood and answers read, not how Salesforce is.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from crm_clients.base import Account, Confirmed, ContactDraft, Draft, Found, Kind, Request, Response, kind_of
from crm_clients.salesforce import Salesforce
from crm_clients.transport import Answered, Transport
from crm_clients.watchdog import boot_clock
from tests.contract.drafts import ordinary

pytestmark = pytest.mark.crm_servers

HOME = Path(os.environ.get("CRM_SERVERS_HOME", "~/.cache/crm-servers")).expanduser()
CLIENT = Salesforce()
SECONDS = 60.0

Ask = Callable[[Request], Response]


@pytest.fixture
def ask() -> Iterator[Ask]:
    state = HOME / "mockforce" / "state.json"
    if not state.is_file():
        pytest.skip(f"not run: there is no mockforce ({state} is missing)")
    told = json.loads(state.read_text(encoding="utf-8"))
    account = Account("mockforce", told["base_url"], tuple(told["headers"].items()))
    with Transport() as transport:

        def send(request: Request) -> Response:
            now = boot_clock()
            plain = replace(request, path=request.path.replace("/queryAll", "/query"))
            sent = transport.write(account, plain, send_by=now + SECONDS, deadline=now + SECONDS)
            if not isinstance(sent, Answered):
                pytest.skip(f"not run: mockforce does not answer ({sent})")
            return sent.response

        yield send


def make(ask: Ask, draft: Draft, reference: str) -> str:
    written = CLIENT.created(kind_of(draft), ask(CLIENT.create(draft, reference)))
    assert isinstance(written, Confirmed), written
    return written.crm_id


@pytest.mark.parametrize("kind", list(Kind))
def test_what_was_made_is_found_by_its_reference(ask: Ask, kind: Kind) -> None:
    reference = f"m{uuid.uuid4().hex[:10]}-{kind}"
    crm_id = make(ask, ordinary(kind, parent_id="0065g00000AbCdEAAV"), reference)
    find = CLIENT.find(kind, reference, parent_id="0065g00000AbCdEAAV")
    looked = CLIENT.found(kind, reference, ask(find))
    assert isinstance(looked, Found), looked
    assert (looked.seen.crm_id, looked.seen.reference) == (crm_id, reference)


def test_a_contact_is_matched_by_e_mail_and_by_telephone(ask: Ask) -> None:
    run = uuid.uuid4()
    draft = ContactDraft("Rosa Quispe", f"+519{str(run.int)[-8:]}", f"{run}@example.com")
    crm_id = make(ask, draft, f"m{run}")
    for request in CLIENT.matches(draft):
        assert [one.crm_id for one in CLIENT.matched(draft, ask(request))] == [crm_id]


def test_an_update_changes_what_it_names(ask: Ask) -> None:
    crm_id = make(ask, ordinary(Kind.OPPORTUNITY), f"m{uuid.uuid4()}")
    update = CLIENT.update(Kind.OPPORTUNITY, crm_id, {"text": "Ahora dos."})
    assert CLIENT.updated(Kind.OPPORTUNITY, crm_id, ask(update)) == Confirmed(crm_id)
    looked = CLIENT.was_read(Kind.OPPORTUNITY, crm_id, ask(CLIENT.read(Kind.OPPORTUNITY, crm_id)))
    assert isinstance(looked, Found)
    assert (looked.seen.values["text"], looked.seen.values["title"]) == ("Ahora dos.", "Rosa Quispe · web · bomba a1")


def test_the_control_call_works(ask: Ask) -> None:
    make(ask, ordinary(Kind.OPPORTUNITY), f"m{uuid.uuid4()}")
    assert CLIENT.controlled(ask(CLIENT.control())) is None
