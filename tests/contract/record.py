"""Record the answers of a running CRM for the contract suite.

    RECORD_TOKEN=... python -m tests.contract.record sandbox http://127.0.0.1:8000 "Our sandbox"

It makes contacts, opportunities, tasks and notes of invented people: never run it against a CRM that is in use.
What is recorded as the meaning is what the client made of it: read the difference before you commit it.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from crm_clients.base import Account, Client, ContactDraft, Draft, Kind, OpportunityDraft, Request, Response
from crm_clients.registry import build
from crm_clients.transport import Answered, Transport
from crm_clients.watchdog import boot_clock
from tests.contract.drafts import emptiest, longest, ordinary
from tests.contract.recordings import Outcome, Recording, described, write
from workers.wiring import account_of

# Lists that some answers carry beside what was asked for.
CATALOGUES = frozenset(
    {"countries", "contacts_list", "accounts_list", "contact_obj_list", "currency", "lead_source", "users"}
    | {"users_mention", "users_excluding_team", "stage", "status", "priority", "custom_field_definitions", "teams"}
)
CATALOGUED = 3  # so many entries of a catalogue say what is in it
HEADERS = frozenset({"content-type", "date", "retry-after"})
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class About:
    """What an answer is about; the client is told as much when it reads the answer."""

    kind: Kind
    reference: str = ""
    crm_id: str = ""


def meaning(client: Client, step: str, about: About, response: Response) -> Outcome:
    """What the client makes of an answer; `step` is the name of its method."""
    match step:
        case "created":
            return client.created(about.kind, response)
        case "found":
            return client.found(about.kind, about.reference, response)
        case "was_read":
            return client.was_read(about.kind, about.crm_id, response)
        case "updated":
            return client.updated(about.kind, about.crm_id, response)
        case _:
            return client.controlled(response)


@dataclass(frozen=True, slots=True)
class Recorder:
    """Sends through the real transport, and keeps what comes back."""

    client: Client
    account: Account
    transport: Transport
    server: str
    run: str

    def keep(self, name: str, step: str, about: About, request: Request) -> str:
        """Record one answer; gives what it was taken for."""
        response = self._ask(request)
        outcome = described(meaning(self.client, step, about, response))
        write(
            Recording(
                client=self.client.name,
                name=name,
                source=f"{self.server}, recorded {datetime.now(UTC):%Y-%m-%d}; long catalogues cut to {CATALOGUED}",
                step=step,
                kind=about.kind,
                reference=about.reference,
                crm_id=about.crm_id,
                request=f"{request.method} {request.path}",
                status=response.status,
                headers={name: value for name, value in response.headers.items() if name in HEADERS},
                body=_without_catalogues(response.body.decode()),
                means=outcome,
            )
        )
        return outcome

    def _ask(self, request: Request) -> Response:
        now = boot_clock()
        sent = self.transport.write(self.account, request, send_by=now + SECONDS, deadline=now + SECONDS)
        if not isinstance(sent, Answered):
            raise SystemExit(f"{request.method} {request.path}: {sent}")
        return sent.response


def _without_catalogues(body: str) -> str:
    try:
        value: object = json.loads(body)
    except ValueError:
        return body
    if isinstance(value, dict):
        value = {name: _cut(item) if name in CATALOGUES else item for name, item in value.items()}
    return json.dumps(value, ensure_ascii=False)


def _cut(catalogue: object) -> object:
    return catalogue[:CATALOGUED] if isinstance(catalogue, list) else catalogue


def record(recorder: Recorder) -> None:
    """One lead from contact to note, each looked for, doubled and refused; then the account's own answers."""
    parent = ""
    for kind in Kind:
        crm_id = _record_kind(recorder, kind, parent)
        if kind in {Kind.CONTACT, Kind.OPPORTUNITY}:
            parent = crm_id
    _record_account(recorder)


def _record_kind(recorder: Recorder, kind: Kind, parent: str) -> str:
    client, reference = recorder.client, f"{recorder.run}-{kind}"
    about, find = About(kind, reference), client.find(kind, reference, parent_id=parent or None)
    draft = ordinary(kind, tag=recorder.run, parent_id=parent)
    recorder.keep(f"{kind}-find-none", "found", about, find)
    recorder.keep(f"{kind}-create", "created", about, client.create(draft, reference))
    crm_id = recorder.keep(f"{kind}-find-one", "found", about, find).split()[1]
    recorder.keep(f"{kind}-read", "was_read", About(kind, reference, crm_id), client.read(kind, crm_id))
    nobody = ":".join([str(uuid.UUID(int=7))] * (crm_id.count(":") + 1))
    recorder.keep(f"{kind}-read-none", "was_read", About(kind, crm_id=nobody), client.read(kind, nobody))
    recorder.keep(f"{kind}-create-again", "created", about, client.create(draft, reference))
    other = ordinary(kind, tag=f"{recorder.run}x", parent_id=parent)
    recorder.keep(f"{kind}-create-same-reference", "created", about, client.create(other, reference))
    recorder.keep(f"{kind}-find-after", "found", about, find)
    for name, made in (("emptiest", emptiest(kind, parent_id=parent)), ("longest", longest(kind, parent_id=parent))):
        request = client.create(made, f"{recorder.run}-{name}-{kind}")
        recorder.keep(f"{kind}-create-{name}", "created", About(kind), request)
    if kind in {Kind.CONTACT, Kind.OPPORTUNITY}:
        _record_changes(recorder, About(kind, reference, crm_id), draft)
    return crm_id


def _record_changes(recorder: Recorder, about: About, draft: Draft) -> None:
    invalid = recorder.client.create(_invalid(draft), f"{about.reference}-bad")
    recorder.keep(f"{about.kind}-create-invalid", "created", about, invalid)
    with suppress(ValueError):  # a kind that is not updated
        changed = recorder.client.update(about.kind, about.crm_id, {"text": "Lo pensó mejor."})
        recorder.keep(f"{about.kind}-update", "updated", about, changed)


def _invalid(draft: Draft) -> Draft:
    match draft:
        case ContactDraft():
            return replace(draft, email="not an address")
        case OpportunityDraft():
            return replace(draft, title="No válido", contact_id="nobody", currency="USD", pipeline="nowhere")
        case _:
            return draft


def _record_account(recorder: Recorder) -> None:
    client, about = recorder.client, About(Kind.CONTACT, recorder.run)
    recorder.keep("account-control", "controlled", about, client.control())
    stranger = replace(recorder, account=replace(recorder.account, headers=(("Authorization", "Bearer wrong"),)))
    stranger.keep("account-control-refused", "controlled", about, client.control())
    create = client.create(ordinary(Kind.CONTACT), recorder.run)
    stranger.keep("account-create-refused", "created", about, create)
    stranger.keep("account-find-refused", "found", about, client.find(Kind.CONTACT, recorder.run, parent_id=None))


def main() -> None:
    """Record the client named by the first argument."""
    name, base_url, server = sys.argv[1:]
    client = build(name, {})
    account = account_of(client, name, base_url, os.environ["RECORD_TOKEN"])
    with Transport() as transport:
        record(Recorder(client, account, transport, server, f"r{uuid.uuid4().hex[:8]}"))


if __name__ == "__main__":
    main()
