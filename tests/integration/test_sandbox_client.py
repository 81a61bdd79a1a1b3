"""The sandbox's client over the real transport, against the real server, in every profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from crm_clients.base import (
    Absent,
    Account,
    Client,
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
    Retry,
    Seen,
    Several,
    TaskDraft,
    Uncertain,
    Written,
    kind_of,
)
from crm_clients.sandbox.client import SandboxClient
from crm_clients.sandbox.dials import Dials
from crm_clients.sandbox.profiles import PROFILES, profile
from crm_clients.sandbox.server import Running, running
from crm_clients.transport import Answered, Transport, Unanswered
from crm_clients.watchdog import boot_clock

DUE = datetime(2026, 3, 2, 15, tzinfo=UTC)
EVA = ContactDraft("Eva Ejemplo", "+51999000111", "eva@example.com", "Ejemplo SAC", "luis", (("ruc", "20000000001"),))


@dataclass(frozen=True, slots=True)
class Desk:
    """A client, its account and the way there."""

    client: Client
    account: Account
    transport: Transport
    dials: Dials

    def write(self, request: Request) -> Response:
        now = boot_clock()
        sent = self.transport.write(self.account, request, send_by=now + 5, deadline=now + 10)
        assert isinstance(sent, Answered)
        return sent.response

    def look(self, request: Request) -> Response:
        sent = self.transport.look(self.account, request, deadline=boot_clock() + 10)
        assert isinstance(sent, Answered)
        return sent.response

    def create(self, draft: Draft, reference: str) -> Written:
        return self.client.created(kind_of(draft), self.write(self.client.create(draft, reference)))

    def made(self, draft: Draft, reference: str) -> str:
        written = self.create(draft, reference)
        assert isinstance(written, Confirmed)
        return written.crm_id

    def seen(self, kind: Kind, reference: str, parent_id: str | None = None) -> Seen:
        looked = self.client.found(kind, reference, self.look(self.client.find(kind, reference, parent_id=parent_id)))
        assert isinstance(looked, Found)
        return looked.seen


def desk_at(sandbox: Running, name: str, transport: Transport) -> Desk:
    account = Account("test", sandbox.url, (("Authorization", f"Bearer {sandbox.token}"),))
    return Desk(SandboxClient(name), account, transport, Dials(sandbox.url))


@pytest.fixture(scope="module")
def transport() -> Iterator[Transport]:
    with Transport() as transport:
        yield transport


@pytest.fixture(params=sorted(PROFILES))
def desk(request: pytest.FixtureRequest, transport: Transport) -> Iterator[Desk]:
    """In every profile, without its lag."""
    name = str(request.param)
    with running(of=profile(name, lag=0)) as sandbox:
        yield desk_at(sandbox, name, transport)


@pytest.fixture
def stored(transport: Transport) -> Iterator[Desk]:
    with running() as sandbox:
        yield desk_at(sandbox, "stored", transport)


def test_every_kind_is_made_found_and_read(desk: Desk) -> None:
    contact = desk.made(EVA, "c-1")
    opportunity = desk.made(OpportunityDraft("T", "x", contact, Decimal("1200.5"), "PEN", "ana"), "o-1")
    task = desk.made(TaskDraft("Llamar", opportunity, DUE, "rosa", "call"), "t-1")
    note = desk.made(NoteDraft("Hola [ref:otra]", opportunity), "n-1")
    found = [
        desk.seen(Kind.CONTACT, "c-1"),
        desk.seen(Kind.OPPORTUNITY, "o-1", contact),
        desk.seen(Kind.TASK, "t-1", opportunity),
        desk.seen(Kind.NOTE, "n-1", opportunity),
    ]
    assert [seen.crm_id for seen in found] == [contact, opportunity, task, note]
    for kind, seen in zip(Kind, found, strict=True):
        read = desk.client.was_read(kind, seen.crm_id, desk.look(desk.client.read(kind, seen.crm_id)))
        assert read == Found(seen)
    assert desk.dials.doubles() == []


@pytest.mark.parametrize("kind", list(Kind))
def test_what_is_not_there_is_absent(desk: Desk, kind: Kind) -> None:
    opportunity = desk.made(OpportunityDraft("T", "x", desk.made(EVA, "c-1")), "o-1")
    answer = desk.look(desk.client.find(kind, "zz-9", parent_id=opportunity))
    assert desk.client.found(kind, "zz-9", answer) == Absent()
    assert desk.client.was_read(kind, "zz-9", desk.look(desk.client.read(kind, "zz-9"))) == Absent()


def test_sentinels_show_the_installation_again(desk: Desk) -> None:
    parents: dict[Kind, str] = {}
    for kind in Kind:
        parent = parents.get(Kind.CONTACT if kind is Kind.OPPORTUNITY else Kind.OPPORTUNITY)
        draft = desk.client.sentinel(kind, "installation-1", parent_id=parent)
        parents[kind] = desk.made(draft, f"intake-sentinel-{kind}")
        assert desk.seen(kind, f"intake-sentinel-{kind}", parent).values["text"] == "installation-1"


def test_an_update_is_read_back_in_the_form_it_was_sent(desk: Desk) -> None:
    opportunity = desk.made(OpportunityDraft("T", "x", desk.made(EVA, "c-1"), Decimal(5), "PEN", "ana"), "o-1")
    changes = {"amount": "1300.5", "title": "Nuevo"}
    answer = desk.write(desk.client.update(Kind.OPPORTUNITY, opportunity, changes))
    assert desk.client.updated(Kind.OPPORTUNITY, opportunity, answer) == Confirmed(opportunity)
    seen = desk.seen(Kind.OPPORTUNITY, "o-1")
    assert dict(seen.values) == changes | {"text": "x", "currency": "PEN"}
    assert seen.owner == "ana"


def test_an_update_of_what_is_in_the_trash_is_gone(stored: Desk) -> None:
    contact = stored.made(EVA, "c-1")
    merged = Request("POST", f"/api/contacts/{contact}/merge", body=f'{{"into": "{stored.made(EVA, "c-2")}"}}'.encode())
    stored.write(merged)
    answer = stored.write(stored.client.update(Kind.CONTACT, contact, {"text": "x"}))
    assert stored.client.updated(Kind.CONTACT, contact, answer) == Rejected("gone")


def test_somebody_who_is_there_already_is_matched(desk: Desk) -> None:
    contact = desk.made(EVA, "c-1")
    answers = [desk.look(request) for request in desk.client.matches(EVA)]
    assert [[seen.crm_id for seen in desk.client.matched(EVA, answer)] for answer in answers] == [[contact]] * 2


def test_a_second_create_is_what_the_profile_makes_of_it(desk: Desk) -> None:
    first = desk.made(EVA, "c-1")
    again = desk.create(EVA, "c-1")
    match desk.client.capability(Kind.CONTACT).reference, desk.dials.doubles():
        case "enforced", doubles:
            assert (again, doubles) == (Duplicate("reference", first), [])
        case _, []:
            assert again in (Confirmed(first), Duplicate("email", first))
        case _:
            looked = desk.client.found(
                Kind.CONTACT, "c-1", desk.look(desk.client.find(Kind.CONTACT, "c-1", parent_id=None))
            )
            assert isinstance(again, Confirmed)
            assert looked == Several((first, again.crm_id))


def test_the_account_works(desk: Desk) -> None:
    assert desk.client.controlled(desk.look(desk.client.control())) is None


# --- under faults ---


@pytest.mark.parametrize("fault", ["lost_answer", "cut_answer"])
def test_a_create_whose_answer_is_lost_is_doubt_and_found(stored: Desk, fault: str) -> None:
    stored.dials.fault(fault)
    now = boot_clock()
    request = stored.client.create(EVA, "c-1")
    sent = stored.transport.write(stored.account, request, send_by=now + 5, deadline=now + 10)
    assert isinstance(sent, Unanswered)
    assert stored.seen(Kind.CONTACT, "c-1").live


@pytest.mark.parametrize(
    ("fault", "meaning"),
    [
        ("500_with_effect", Uncertain("status_500")),
        ("503", Uncertain("status_503")),
        ("408", Uncertain("status_408")),
        ("redirect", Uncertain("status_302")),
        ("garbage", Uncertain("unreadable")),
        ("no_id", Uncertain("unreadable")),
        ("false_absent", Uncertain("status_404")),
        ("401", Retry("bad_credential", scope="account")),
        ("403", Retry("bad_credential", scope="account")),
        ("refuse_reference", Rejected("validation", (("reference", "Refused."),))),
    ],
)
def test_a_fault_is_read_for_what_it_may_be(stored: Desk, fault: str, meaning: Written) -> None:
    stored.dials.fault(fault)
    assert stored.create(EVA, "c-1") == meaning


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_too_many_requests_tell_when_to_come_again(stored: Desk, form: str) -> None:
    stored.dials.fault("429", retry_after=90, retry_after_as=form)
    written = stored.create(EVA, "c-1")
    assert isinstance(written, Retry)
    assert written.after is not None
    assert abs(written.after - timedelta(seconds=90)) <= timedelta(seconds=1)


@pytest.mark.parametrize(
    "fault", sorted({"401", "403", "422", "429", "refuse_reference"}), ids=lambda fault: f"fault_{fault}"
)
def test_what_the_client_calls_undone_was_not_done(stored: Desk, fault: str) -> None:
    stored.dials.fault(fault)
    assert isinstance(stored.create(EVA, "c-1"), Retry | Rejected)
    assert stored.dials.ledger() == []
