"""The contract against a running BottleCRM: what was recorded once is still so, and a lost answer is found again.

It runs where a server is: `$CRM_SERVERS_HOME/bottlecrm/state.json` (by default below ~/.cache/crm-servers) names its
base URL, the headers of a token and the profiles `alice` and `bob`; `bottlecrm-faulty` is one whose broker is away.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import pytest

from crm_clients.base import (
    Absent,
    Account,
    Confirmed,
    ContactDraft,
    Draft,
    Duplicate,
    Found,
    Kind,
    NoteDraft,
    OpportunityDraft,
    Rejected,
    Request,
    Response,
    Seen,
    Several,
    Uncertain,
    kind_of,
)
from crm_clients.bottlecrm import BottleCRM
from crm_clients.transport import Answered, Transport, Unanswered
from crm_clients.watchdog import boot_clock
from tests.contract.drafts import emptiest, longest, ordinary

pytestmark = pytest.mark.crm_servers

HOME = Path(os.environ.get("CRM_SERVERS_HOME", "~/.cache/crm-servers")).expanduser()
CLIENT = BottleCRM()
SECONDS = 60.0
# The faulty server answers after 19 seconds.
SOON = 3.0


@dataclass(frozen=True, slots=True)
class Live:
    """A running server, and a name for this run that makes what must be unique differ."""

    account: Account
    transport: Transport
    alice: str
    bob: str
    run: str

    def ask(self, request: Request) -> Response:
        now = boot_clock()
        sent = self.transport.write(self.account, request, send_by=now + SECONDS, deadline=now + SECONDS)
        assert isinstance(sent, Answered), sent
        return sent.response

    def reference(self, kind: Kind) -> str:
        return f"{self.run}-{kind}"

    def create(self, draft: Draft, reference: str) -> str:
        """The id of a new record, by the answer or, where that has none, by the look that follows at once."""
        kind = kind_of(draft)
        written = CLIENT.created(kind, self.ask(CLIENT.create(draft, reference)))
        if isinstance(written, Confirmed):
            return written.crm_id
        assert written == Uncertain("no_id_by_design")
        parent = None if isinstance(draft, ContactDraft | OpportunityDraft) else draft.opportunity_id
        return self.find(kind, reference, parent).crm_id

    def find(self, kind: Kind, reference: str, parent: str | None = None) -> Seen:
        looked = CLIENT.found(kind, reference, self.ask(CLIENT.find(kind, reference, parent_id=parent)))
        assert isinstance(looked, Found), looked
        return looked.seen

    def read(self, kind: Kind, crm_id: str) -> Seen:
        looked = CLIENT.was_read(kind, crm_id, self.ask(CLIENT.read(kind, crm_id)))
        assert isinstance(looked, Found), looked
        return looked.seen

    def contact(self) -> str:
        return self.create(ordinary(Kind.CONTACT, tag=self.run, owner=self.alice), self.reference(Kind.CONTACT))

    def opportunity(self, contact_id: str) -> str:
        draft = ordinary(Kind.OPPORTUNITY, tag=self.run, parent_id=contact_id, owner=self.alice)
        return self.create(draft, self.reference(Kind.OPPORTUNITY))


def running(name: str) -> Iterator[Live]:
    """The server of this name; without it the test is not run, and says why."""
    state = HOME / name / "state.json"
    if not state.is_file():
        pytest.skip(f"not run: there is no {name} ({state} is missing)")
    told = json.loads(state.read_text(encoding="utf-8"))
    account = Account(name, told["base_url"], tuple(told["headers"].items()))
    with Transport() as transport:
        answer = transport.look(account, CLIENT.control(), deadline=boot_clock() + SECONDS)
        if not isinstance(answer, Answered):
            pytest.skip(f"not run: {name} does not answer ({answer})")
        assert CLIENT.controlled(answer.response) is None
        yield Live(account, transport, told["profiles"]["alice"], told["profiles"]["bob"], f"t{uuid.uuid4().hex[:10]}")


@pytest.fixture
def live() -> Iterator[Live]:
    yield from running("bottlecrm")


@pytest.fixture
def faulty() -> Iterator[Live]:
    yield from running("bottlecrm-faulty")


def test_a_contact_is_found_by_its_reference_with_its_owner(live: Live) -> None:
    crm_id = live.contact()
    seen = live.find(Kind.CONTACT, live.reference(Kind.CONTACT))
    assert (seen.crm_id, seen.owner, seen.live) == (crm_id, live.alice, True)


def test_an_opportunity_is_read_back_with_contact_owner_and_what_is_guarded(live: Live) -> None:
    contact_id = live.contact()
    seen = live.read(Kind.OPPORTUNITY, live.opportunity(contact_id))
    assert (seen.reference, seen.contact_id, seen.owner) == (live.reference(Kind.OPPORTUNITY), contact_id, live.alice)
    assert seen.values == {
        "title": f"Rosa Quispe · web · bomba {live.run}",
        "text": "Quiero una bomba de 2 HP.",
        "amount": "1200.5",
        "currency": "USD",
    }


def test_a_task_is_found_by_the_look_that_follows_its_create(live: Live) -> None:
    opportunity_id = live.opportunity(live.contact())
    draft = ordinary(Kind.TASK, tag=live.run, parent_id=opportunity_id, owner=live.bob)
    crm_id = live.create(draft, live.reference(Kind.TASK))
    seen = live.read(Kind.TASK, crm_id)
    assert (seen.reference, seen.owner) == (live.reference(Kind.TASK), live.bob)


def test_a_note_is_a_comment_and_is_found_by_its_marker(live: Live) -> None:
    opportunity_id = live.opportunity(live.contact())
    crm_id = live.create(NoteDraft("¿Cuánto demora?\n", opportunity_id), live.reference(Kind.NOTE))
    assert live.read(Kind.NOTE, crm_id).values["text"] == "¿Cuánto demora?"


@pytest.mark.parametrize("kind", list(Kind))
def test_the_emptiest_and_the_longest_lead_are_taken(live: Live, kind: Kind) -> None:
    parent = live.contact() if kind is Kind.OPPORTUNITY else ""
    if kind in {Kind.TASK, Kind.NOTE}:
        parent = live.opportunity(live.contact())
    long = longest(kind, parent_id=parent)
    if isinstance(long, ContactDraft):
        long = replace(long, email=f"{live.run}@example.com")
    assert live.create(emptiest(kind, parent_id=parent), f"{live.run}-empty-{kind}")
    assert live.create(long, f"{live.run}-long-{kind}")


def test_an_amount_in_a_currency_that_it_lacks_stands_in_the_text(live: Live) -> None:
    draft = OpportunityDraft("Bomba", "Urgente", live.contact(), Decimal("1200.50"), "PEN")
    seen = live.read(Kind.OPPORTUNITY, live.create(draft, live.reference(Kind.OPPORTUNITY)))
    assert (seen.values["amount"], seen.values["text"]) == ("", "PEN 1200.50\n\nUrgente")


def test_an_update_changes_what_it_names_and_leaves_the_owner(live: Live) -> None:
    crm_id = live.opportunity(live.contact())
    changes = {"amount": "1500.00", "currency": "EUR", "title": f"Dos bombas {live.run}", "text": "Ahora dos."}
    written = CLIENT.updated(Kind.OPPORTUNITY, crm_id, live.ask(CLIENT.update(Kind.OPPORTUNITY, crm_id, changes)))
    assert written == Confirmed(crm_id)
    seen = live.read(Kind.OPPORTUNITY, crm_id)
    assert seen.values == {**changes, "amount": "1500"}
    assert (seen.owner, seen.reference) == (live.alice, live.reference(Kind.OPPORTUNITY))


def test_a_second_contact_with_the_same_email_is_refused_by_that_rule(live: Live) -> None:
    live.contact()
    draft = ordinary(Kind.CONTACT, tag=live.run)
    assert CLIENT.created(Kind.CONTACT, live.ask(CLIENT.create(draft, f"{live.run}-other"))) == Duplicate("email")


def test_a_second_opportunity_of_one_reference_is_refused_by_its_name(live: Live) -> None:
    contact_id = live.contact()
    live.opportunity(contact_id)
    draft = ordinary(Kind.OPPORTUNITY, tag=live.run, parent_id=contact_id)
    again = CLIENT.create(draft, live.reference(Kind.OPPORTUNITY))
    assert CLIENT.created(Kind.OPPORTUNITY, live.ask(again)) == Duplicate("name")


def test_two_leads_of_one_title_are_two_opportunities(live: Live) -> None:
    contact_id = live.contact()
    first = live.create(OpportunityDraft("Consulta", "", contact_id), f"{live.run}-1-opportunity")
    second = live.create(OpportunityDraft("Consulta", "", contact_id), f"{live.run}-2-opportunity")
    assert first != second


def test_two_tasks_under_one_reference_are_seen(live: Live) -> None:
    opportunity_id = live.opportunity(live.contact())
    request = CLIENT.create(ordinary(Kind.TASK, parent_id=opportunity_id), live.reference(Kind.TASK))
    live.ask(request)
    live.ask(request)
    find = CLIENT.find(Kind.TASK, live.reference(Kind.TASK), parent_id=opportunity_id)
    assert isinstance(CLIENT.found(Kind.TASK, live.reference(Kind.TASK), live.ask(find)), Several)


def test_a_contact_of_the_same_phone_is_matched_however_it_was_typed(live: Live) -> None:
    number = str(uuid.uuid4().int)[-8:]
    typed = ContactDraft("Ana Flores", f"+51 9{number[:2]} {number[2:5]}-{number[5:]}")
    crm_id = live.create(typed, live.reference(Kind.CONTACT))
    draft = ContactDraft("Ana", f"+519{number}", f"{live.run}@example.com")
    by_phone, by_email = (CLIENT.matched(draft, live.ask(request)) for request in CLIENT.matches(draft))
    assert ([seen.crm_id for seen in by_phone], by_email) == ([crm_id], ())


def test_a_record_that_does_not_exist_is_absent(live: Live) -> None:
    nobody = str(uuid.uuid4())
    for kind in (Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK):
        assert CLIENT.was_read(kind, nobody, live.ask(CLIENT.read(kind, nobody))) == Absent()


def test_an_unknown_owner_leaves_none_which_the_read_shows(live: Live) -> None:
    draft = ordinary(Kind.OPPORTUNITY, tag=live.run, parent_id=live.contact(), owner=str(uuid.uuid4()))
    assert live.read(Kind.OPPORTUNITY, live.create(draft, live.reference(Kind.OPPORTUNITY))).owner is None


def test_an_owner_that_is_no_id_is_refused(live: Live) -> None:
    draft = ordinary(Kind.CONTACT, tag=live.run, owner="nobody")
    written = CLIENT.created(Kind.CONTACT, live.ask(CLIENT.create(draft, live.reference(Kind.CONTACT))))
    assert isinstance(written, Rejected)
    assert written.fields[0][0] == "assigned_to"


def test_a_field_that_is_not_defined_fails_the_control_call(live: Live) -> None:
    elsewhere = BottleCRM(reference_field="not_defined")
    assert elsewhere.controlled(live.ask(elsewhere.control())) is not None


@pytest.mark.slow
def test_a_create_that_answers_500_is_doubt_and_the_record_is_found(faulty: Live) -> None:
    draft = ordinary(Kind.CONTACT, tag=faulty.run)
    reference = faulty.reference(Kind.CONTACT)
    assert CLIENT.created(Kind.CONTACT, faulty.ask(CLIENT.create(draft, reference))) == Uncertain("status_500")
    assert faulty.find(Kind.CONTACT, reference).reference == reference


def test_a_create_whose_answer_is_not_waited_for_is_doubt_and_the_record_is_found(faulty: Live) -> None:
    draft, reference = ordinary(Kind.OPPORTUNITY, tag=faulty.run, parent_id=""), faulty.reference(Kind.OPPORTUNITY)
    now = boot_clock()
    request = CLIENT.create(draft, reference)
    sent = faulty.transport.write(faulty.account, request, send_by=now + SOON, deadline=now + SOON)
    assert sent == Unanswered("timeout")
    assert faulty.find(Kind.OPPORTUNITY, reference).reference == reference
