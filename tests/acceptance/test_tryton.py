"""Real deliveries into a running Tryton, with lost answers and people at work; what became of them, it says itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from crm_clients.abilities import KnowsUsers, ListsReferences
from crm_clients.base import Account, Kind, Seen
from crm_clients.transport import Answered
from tests.crm_lab import HASTY
from tests.crm_proxy import Proxy, before
from tests.tryton_lab import TrytonLab, tryton_lab
from tests.tryton_server import Server, server
from workers import calls, drain
from workers.desk import Desk, Wired

pytestmark = pytest.mark.crm_servers

CREATES = {
    "contact": "POST /tryton/rest/model/party.party ",
    "opportunity": "POST /tryton/rest/model/sale.opportunity ",
    "task": "POST /tryton/rest/model/project.work ",
}
DOUBTED_AND_FOUND = [("create", "uncertain", "look")]


@pytest.fixture
def crm() -> Server:
    return server()


@pytest.fixture(params=["identifier", "code"])
def either(request: pytest.FixtureRequest, database_url: str, tmp_path: Path, crm: Server) -> Iterator[TrytonLab]:
    """With a contact's reference in either place."""
    with tryton_lab(database_url, tmp_path, crm, place=str(request.param)) as made:
        yield made


@pytest.fixture
def tryton(database_url: str, tmp_path: Path, crm: Server) -> Iterator[TrytonLab]:
    with tryton_lab(database_url, tmp_path, crm) as made:
        yield made


@pytest.fixture
def proxy(tryton: TrytonLab) -> Iterator[Proxy]:
    """A proxy that the lab's deliveries take, and a worker that soon gives up."""
    with before(tryton.crm.base_url) as made:
        tryton.made.lab.desk = tryton.made.desk(url=made.url, patience=HASTY)
        yield made


# --- what comes of a lead ---------------------------------------------------------------------------------------------


def test_a_form_becomes_contact_opportunity_and_task_once_with_one_owner(either: TrytonLab) -> None:
    event = either.made.form()
    either.made.lab.work()
    assert (either.made.lab.state(event), either.counts()) == ("confirmed", [1, 1, 1])
    opportunity, (contact,), (task,) = either.opportunity(), either.contacts(), either.tasks()
    assert (opportunity["party"], opportunity["reference"]) == (
        contact["id"],
        either.made.reference(event, "opportunity"),
    )
    lines = str(task["comment"]).split("\n")
    assert lines[0] == f"sale.opportunity,{opportunity['id']}"
    assert lines[2] == f"company.employee,{opportunity['employee']}"


def test_a_code_bears_the_reference_where_the_owner_wants_that(database_url: str, tmp_path: Path, crm: Server) -> None:
    with tryton_lab(database_url, tmp_path, crm, place="code") as tryton:
        event = tryton.made.form()
        tryton.made.lab.work()
        assert [each["code"] for each in tryton.contacts()] == [tryton.made.reference(event, "contact")]


def test_a_second_form_of_a_person_is_a_second_opportunity_of_one_contact(either: TrytonLab) -> None:
    events = [either.made.form(message=text) for text in ("Una bomba", "Dos sillas")]
    either.made.lab.work()
    assert [either.made.lab.state(each) for each in events] == ["confirmed"] * 2
    assert either.counts() == [1, 2, 2]


def test_later_messages_are_notes_on_the_opportunity(tryton: TrytonLab) -> None:
    tryton.made.whatsapp("Hola, quiero una bomba")
    tryton.made.lab.work()
    (later,) = tryton.made.whatsapp("¿Cuánto demora?")
    tryton.made.lab.work()
    assert tryton.made.lab.state(later) == "confirmed"
    (note,) = tryton.notes()
    assert "¿Cuánto demora?" in note
    assert note.endswith(f"[ref:{tryton.made.reference(later, 'note')}]")


def test_a_later_version_of_a_quote_changes_its_opportunity_and_not_its_owner(tryton: TrytonLab) -> None:
    tryton.made.quote(1, "100.00")
    tryton.made.lab.work()
    crm_id, other = str(tryton.opportunity()["id"]), tryton.crm.bob
    tryton.crm.change("sale.opportunity", crm_id, employee=int(other))
    tryton.made.quote(2, "250.50")
    tryton.made.lab.work()
    assert (tryton.amount(), str(tryton.opportunity()["employee"])) == (Decimal("250.50"), other)


def test_the_opportunities_of_a_contact_and_all_of_a_kind_are_listed_with_their_references(tryton: TrytonLab) -> None:
    event = tryton.made.form()
    tryton.made.lab.work()
    desk, wired = tryton.made.lab.desk, tryton.made.wired
    of_contact = calls.opportunities_of(desk, wired, str(tryton.contacts()[0]["id"]))
    assert isinstance(of_contact, tuple)
    ours = {tryton.made.reference(event, "opportunity")}
    assert {each.reference for each in of_contact} == ours
    assert ours <= {each.reference for each in every(desk, wired, Kind.OPPORTUNITY)}
    assert {tryton.made.reference(event, "contact")} <= {each.reference for each in every(desk, wired, Kind.CONTACT)}


def every(desk: Desk, wired: Wired, kind: Kind) -> Iterator[Seen]:
    """All records of a kind, page by page."""
    client, after, done = wired.client, None, False
    assert isinstance(client, ListsReferences)
    while not done:
        request = client.all_of(kind, after=after)
        assert request is not None
        sent = desk.transport.look(wired.account, request, deadline=desk.deadline(timedelta(seconds=60)))
        assert isinstance(sent, Answered)
        page = client.page_of(kind, sent.response, after=after)
        yield from page.seen
        after, done = page.after, page.after is None


@pytest.mark.parametrize(("owner", "there"), [("alice", True), ("nobody", False)])
def test_tryton_says_who_is_still_there(tryton: TrytonLab, owner: str, there: bool) -> None:
    client, desk, wired = tryton.made.wired.client, tryton.made.lab.desk, tryton.made.wired
    assert isinstance(client, KnowsUsers)
    number = tryton.crm.alice if owner == "alice" else "999999"
    sent = desk.transport.look(wired.account, client.user(number), deadline=desk.deadline(timedelta(seconds=60)))
    assert isinstance(sent, Answered)
    assert client.is_there(number, sent.response) is there


# --- lost answers -----------------------------------------------------------------------------------------------------


def test_an_answer_that_is_lost_is_looked_for_at_once(tryton: TrytonLab, proxy: Proxy) -> None:
    for request in CREATES.values():
        proxy.once(request, "lose_answer")
    event = tryton.made.form()
    tryton.made.lab.work()
    assert (tryton.made.lab.state(event), tryton.counts()) == ("confirmed", [1, 1, 1])
    assert [tryton.made.writes(event, kind) for kind in CREATES] == [DOUBTED_AND_FOUND] * 3


@pytest.mark.parametrize("kind", ["contact"])
def test_a_lost_request_is_proven_absent_and_sent_again(tryton: TrytonLab, proxy: Proxy, kind: str) -> None:
    proxy.once(CREATES[kind], "lose_request")
    event = tryton.made.form()
    tryton.made.lab.work()
    assert tryton.made.lab.state(event) == "uncertain"
    tryton.made.lab.settle(rounds=6)
    assert (tryton.made.lab.state(event), tryton.counts()) == ("confirmed", [1, 1, 1])


@pytest.mark.parametrize("kind", ["opportunity", "task"])
def test_a_create_executed_after_the_client_gave_up_is_the_only_one(tryton: TrytonLab, proxy: Proxy, kind: str) -> None:
    proxy.once(CREATES[kind], "late")
    event = tryton.made.form()
    tryton.made.lab.work()
    assert tryton.made.lab.state(event) == "uncertain"
    tryton.made.lab.pass_time(timedelta(seconds=45))
    tryton.made.lab.work()
    assert proxy.execute_late() == [200]
    tryton.made.lab.settle(rounds=4)
    assert (tryton.made.lab.state(event), tryton.counts()) == ("confirmed", [1, 1, 1])
    assert tryton.made.writes(event, kind) == DOUBTED_AND_FOUND


def test_a_lost_note_is_found_among_those_of_its_opportunity(tryton: TrytonLab, proxy: Proxy) -> None:
    tryton.made.whatsapp("Hola, quiero una bomba")
    tryton.made.lab.work()
    proxy.once("POST /tryton/rest/model/ir.note ", "lose_answer")
    (later,) = tryton.made.whatsapp("¿Cuánto demora?")
    tryton.made.lab.work()
    assert (tryton.made.lab.state(later), len(tryton.notes())) == ("confirmed", 1)


def test_a_lost_answer_to_an_update_is_settled_by_reading(tryton: TrytonLab, proxy: Proxy) -> None:
    tryton.made.quote(1, "100.00")
    tryton.made.lab.work()
    proxy.once("PUT /tryton/rest/model/sale.opportunity/", "lose_answer")
    second = tryton.made.quote(2, "250.50")
    tryton.made.lab.work()
    assert tryton.made.lab.state(second) == "confirmed"
    assert tryton.made.writes(second, "opportunity")[1:] == [("update", "uncertain", "look")]


def test_a_contact_whose_code_stands_already_is_adopted(database_url: str, tmp_path: Path, crm: Server) -> None:
    with tryton_lab(database_url, tmp_path, crm, place="code") as tryton, before(crm.base_url) as proxy:
        tryton.made.lab.desk = tryton.made.desk(url=proxy.url, patience=HASTY)
        proxy.once(CREATES["contact"], "late")
        event = tryton.made.form()
        tryton.made.lab.settle(rounds=6)  # It is sent again, since PostgreSQL refuses a double.
        assert (tryton.made.lab.state(event), tryton.counts()) == ("confirmed", [1, 1, 1])
        assert proxy.execute_late() == [400]
        assert tryton.counts() == [1, 1, 1]


# --- many at once, and people at work ---------------------------------------------------------------------------------


def test_parallel_deliveries_of_one_person_are_one_contact(either: TrytonLab) -> None:
    events = [either.made.form(message=f"Pedido {number}") for number in range(6)]
    start = threading.Barrier(3)

    def work() -> None:
        start.wait()
        while drain.one(either.made.lab.other_desk()):
            pass

    in_parallel(work, work, work)
    either.made.lab.settle(rounds=3)
    assert [either.made.lab.state(each) for each in events] == ["confirmed"] * 6
    assert either.counts() == [1, 6, 6]


def test_an_opportunity_reassigned_before_its_task_keeps_its_owner_who_gets_the_task(tryton: TrytonLab) -> None:
    def reassign() -> None:
        opportunity = tryton.opportunity()
        other = tryton.crm.alice if str(opportunity["employee"]) == tryton.crm.bob else tryton.crm.bob
        tryton.crm.change("sale.opportunity", str(opportunity["id"]), employee=int(other))
        new.append(other)

    new: list[str] = []
    event = tryton.made.form()
    tryton.made.lab.desk = tryton.made.lab.other_desk(at=once("opportunity.noted", reassign))
    tryton.made.lab.work()
    (task,) = tryton.tasks()
    assert (tryton.made.lab.state(event), str(tryton.opportunity()["employee"])) == ("confirmed", *new)
    assert f"\ncompany.employee,{new[0]}\n" in str(task["comment"])


def test_a_title_renamed_behind_our_back_is_left_and_the_amount_is_changed(tryton: TrytonLab) -> None:
    tryton.made.quote(1, "100.00")
    tryton.made.lab.work()
    renamed = f"Bomba para Rosa {tryton.made.run}"
    tryton.crm.change("sale.opportunity", str(tryton.opportunity()["id"]), description=renamed)
    items = [{"name": "Bomba", "quantity": 2}]
    second = tryton.made.quote(2, "250.50", items=items)
    tryton.made.lab.work()
    assert (tryton.made.lab.state(second), tryton.opportunity()["description"]) == ("confirmed", renamed)
    assert tryton.amount() == Decimal("250.50")


def test_a_contact_made_by_hand_is_adopted_by_its_telephone_however_it_was_typed(tryton: TrytonLab) -> None:
    phone = tryton.made.phone
    typed = f"+51 {phone[:3]} {phone[3:6]} {phone[6:]}"
    mechanisms = [["create", [{"type": "mobile", "value": typed}]]]
    by_hand = tryton.crm.make("party.party", name="Rosa María", contact_mechanisms=mechanisms)
    event = tryton.made.form()
    tryton.made.lab.work()
    assert (tryton.made.lab.state(event), str(tryton.opportunity()["party"])) == ("confirmed", by_hand)


def test_a_party_that_was_put_aside_is_not_adopted(tryton: TrytonLab) -> None:
    mechanisms = [["create", [{"type": "email", "value": tryton.made.email}]]]
    by_hand = tryton.crm.make("party.party", name="Rosa María", contact_mechanisms=mechanisms)
    tryton.crm.change("party.party", by_hand, active=False)
    event = tryton.made.form()
    tryton.made.lab.work()
    assert tryton.made.lab.state(event) == "confirmed"
    assert str(tryton.opportunity()["party"]) != by_hand


def test_what_is_said_of_a_lost_opportunity_waits_for_a_person(tryton: TrytonLab) -> None:
    tryton.made.whatsapp("Hola, quiero una bomba")
    tryton.made.lab.work()
    tryton.crm.press("sale.opportunity", str(tryton.opportunity()["id"]), "lost")
    (later,) = tryton.made.whatsapp("¿Sigue en pie?")
    tryton.made.lab.work()
    closed = tryton.made.lab.delivery(later)
    assert (closed["state"], closed["reason"], tryton.notes()) == ("review", "opportunity_closed", [])


def test_an_opportunity_deleted_before_its_task_goes_to_a_person(tryton: TrytonLab) -> None:
    def delete() -> None:
        crm_id = str(tryton.opportunity()["id"])
        tryton.crm.press("sale.opportunity", crm_id, "cancel")
        tryton.crm.delete("sale.opportunity", crm_id)

    event = tryton.made.form()
    tryton.made.lab.desk = tryton.made.lab.other_desk(at=once("opportunity.noted", delete))
    tryton.made.lab.settle(rounds=3)
    assert (tryton.made.lab.state(event), tryton.made.lab.delivery(event)["reason"]) == ("review", "opportunity_gone")
    assert (tryton.opportunities(), tryton.tasks()) == ([], [])


def test_a_wrong_key_is_the_account_s_and_nothing_is_lost(tryton: TrytonLab) -> None:
    wired = tryton.made.wired
    wrong = Account(wired.account.name, wired.account.base_url, (("Authorization", "Bearer wrong"),))
    stranger = tryton.made.lab.other_desk(wired={"crm": replace(wired, account=wrong)})
    working, tryton.made.lab.desk = tryton.made.lab.desk, stranger
    event = tryton.made.form()
    tryton.made.lab.work()
    assert tryton.made.lab.state(event) == "waiting"
    tryton.made.lab.desk = working
    tryton.made.lab.settle(rounds=4)
    assert (tryton.made.lab.state(event), tryton.counts()) == ("confirmed", [1, 1, 1])


# ---------------------------------------------------------------------------------------------------------------------


def once(boundary: str, act: Callable[[], None]) -> Callable[[str], None]:
    """Do this when the boundary is passed for the first time."""
    done: list[str] = []

    def at(passed: str) -> None:
        if passed == boundary and not done:
            done.append(passed)
            act()

    return at


def in_parallel(*acts: Callable[[], None]) -> None:
    """Run each in a thread of its own, to its end."""
    with ThreadPoolExecutor(len(acts)) as pool:
        for running in [pool.submit(act) for act in acts]:
            running.result()
