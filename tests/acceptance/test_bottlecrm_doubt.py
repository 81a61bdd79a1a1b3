"""Lost answers, stalled servers and late executions before a running BottleCRM: one record each, every doubt visible.

`bottlecrm-faulty` is the same CRM whose broker is away: it commits contacts and opportunities, and answers 500 after
19 seconds.  The proxy stands before the healthy one and loses what it is told to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from intake.attempts import Patience
from tests.bottlecrm_lab import PATIENCE, BottleLab, bottlecrm_lab
from tests.bottlecrm_server import Server, server
from tests.crm_proxy import Fault, Proxy, before

pytestmark = pytest.mark.crm_servers

CONTACTS, OPPORTUNITIES, TASKS = (f"POST /api/{kind}/ " for kind in ("contacts", "opportunities", "tasks"))
CREATES = {"contact": CONTACTS, "opportunity": OPPORTUNITIES, "task": TASKS}

# Longer than the faulty server takes, and shorter; a create of the healthy one takes a second on a busy machine.
PATIENT = Patience(lease=timedelta(seconds=60), send_within=timedelta(seconds=5), call=timedelta(seconds=30))
HASTY = replace(PATIENCE, send_within=timedelta(seconds=4), call=timedelta(seconds=4))

DOUBTED_AND_FOUND = [("create", "uncertain", "look")]


@pytest.fixture
def crm() -> Server:
    return server("bottlecrm")


@pytest.fixture
def faulty() -> Server:
    return server("bottlecrm-faulty")


@pytest.fixture
def bottle(database_url: str, tmp_path: Path, crm: Server) -> Iterator[BottleLab]:
    with bottlecrm_lab(database_url, tmp_path, crm) as made:
        yield made


@pytest.fixture
def proxy(bottle: BottleLab) -> Iterator[Proxy]:
    """A proxy that the lab's deliveries take, and a worker that soon gives up."""
    with before(bottle.crm.base_url) as made:
        bottle.lab.desk = bottle.desk(url=made.url, patience=HASTY)
        yield made


def counts(bottle: BottleLab) -> list[int]:
    return [len(found) for found in (bottle.contacts(), bottle.opportunities(), bottle.tasks())]


# --- the answer is lost after the commit ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_500_after_the_commit_is_looked_up_and_confirmed(bottle: BottleLab, faulty: Server) -> None:
    bottle.lab.desk = bottle.desk(url=faulty.base_url, patience=PATIENT)
    event = bottle.form()
    bottle.lab.work()
    assert (bottle.lab.state(event), counts(bottle)) == ("confirmed", [1, 1, 1])
    for kind in ("contact", "opportunity"):
        assert bottle.writes(event, kind) == DOUBTED_AND_FOUND
        assert bottle.reasons(event, kind) == ["status_500"]
        assert bottle.looks(event, kind) == ["absent", "found"]


def test_a_time_out_after_the_commit_is_looked_up_and_confirmed(bottle: BottleLab, faulty: Server) -> None:
    bottle.lab.desk = bottle.desk(url=faulty.base_url, patience=HASTY)
    event = bottle.form()
    bottle.lab.work()
    assert (bottle.lab.state(event), counts(bottle)) == ("confirmed", [1, 1, 1])
    for kind in ("contact", "opportunity"):
        assert bottle.writes(event, kind) == DOUBTED_AND_FOUND
        assert bottle.reasons(event, kind) == ["timeout"]


@pytest.mark.parametrize("fault", ["lose_answer", "cut_answer", "drip"])
def test_a_lost_answer_is_looked_up_and_confirmed(bottle: BottleLab, proxy: Proxy, fault: Fault) -> None:
    for request in CREATES.values():
        proxy.once(request, fault)
    event = bottle.form()
    bottle.lab.work()
    assert (bottle.lab.state(event), counts(bottle)) == ("confirmed", [1, 1, 1])
    assert [bottle.writes(event, kind) for kind in CREATES] == [DOUBTED_AND_FOUND] * 3


def test_a_lost_answer_to_an_update_is_settled_by_reading(bottle: BottleLab, proxy: Proxy) -> None:
    bottle.quote(1, "100.00")
    bottle.lab.work()
    proxy.once("PATCH /api/opportunities/", "lose_answer")
    second = bottle.quote(2, "250.50")
    bottle.lab.work()
    assert (bottle.lab.state(second), bottle.opportunity()["amount"]) == ("confirmed", "250.50")
    assert bottle.writes(second, "opportunity")[1:] == [("update", "uncertain", "look")]


def test_a_version_after_a_lost_answer_changes_what_nobody_touched(bottle: BottleLab, proxy: Proxy) -> None:
    proxy.once(OPPORTUNITIES, "lose_answer")
    bottle.quote(1, "100.00", currency="PEN")
    bottle.lab.work()
    proxy.once("PATCH /api/opportunities/", "lose_answer")
    second = bottle.quote(2, "250.50", currency="PEN")
    bottle.lab.work()
    third = bottle.quote(3, "300.00", currency="PEN")
    bottle.lab.work()
    assert [bottle.lab.state(each) for each in (second, third)] == ["confirmed", "confirmed"]
    assert "300.00 PEN" in str(bottle.opportunity()["description"])


# --- nothing was executed, or not yet ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CREATES)
def test_a_lost_request_is_proven_absent_and_sent_again(bottle: BottleLab, proxy: Proxy, kind: str) -> None:
    proxy.once(CREATES[kind], "lose_request")
    event = bottle.form()
    bottle.lab.work()
    assert bottle.lab.state(event) == "uncertain"
    bottle.lab.settle(rounds=6)
    assert (bottle.lab.state(event), counts(bottle)) == ("confirmed", [1, 1, 1])
    assert bottle.writes(event, kind)[0] == ("create", "uncertain", "absent")


@pytest.mark.parametrize("kind", CREATES)
def test_a_create_executed_after_the_client_gave_up_is_the_only_one(bottle: BottleLab, proxy: Proxy, kind: str) -> None:
    proxy.once(CREATES[kind], "late")
    event = bottle.form()
    bottle.lab.work()
    assert bottle.lab.state(event) == "uncertain"
    bottle.lab.pass_time(timedelta(seconds=45))  # The lease is over, and the first look says absent.
    bottle.lab.work()
    assert proxy.execute_late() == [200]
    bottle.lab.settle(rounds=4)
    assert (bottle.lab.state(event), counts(bottle)) == ("confirmed", [1, 1, 1])
    assert bottle.writes(event, kind) == DOUBTED_AND_FOUND


@pytest.mark.slow
@pytest.mark.parametrize("kind", CREATES)
def test_a_server_that_stalled_as_a_whole_and_then_executes_all_makes_one(
    bottle: BottleLab, proxy: Proxy, kind: str
) -> None:
    def stall(passed: str) -> None:
        proxy.stalled = proxy.stalled or passed == f"{kind}.committed"

    event = bottle.form()
    awake = bottle.lab.desk
    bottle.lab.desk = bottle.lab.other_desk(at=stall)
    bottle.lab.settle(rounds=3, step=timedelta(seconds=45))
    assert bottle.lab.state(event) != "confirmed"
    proxy.stalled, bottle.lab.desk = False, awake
    assert set(proxy.execute_late()) == {200}
    bottle.lab.settle(rounds=4)
    assert (bottle.lab.state(event), counts(bottle)) == ("confirmed", [1, 1, 1])
    assert bottle.writes(event, kind) == DOUBTED_AND_FOUND


def test_a_person_made_by_hand_while_our_contact_was_lost_is_adopted(bottle: BottleLab, proxy: Proxy) -> None:
    proxy.once(CONTACTS, "lose_request")
    event = bottle.form()
    bottle.lab.work()
    by_hand = bottle.crm.make_contact(first_name="Rosa", last_name="Quispe", email=bottle.email)
    bottle.lab.settle(rounds=6)
    assert (bottle.lab.state(event), [each["id"] for each in bottle.contacts()]) == ("confirmed", [by_hand])


def test_an_opportunity_executed_later_than_was_assumed_is_refused_by_its_name(bottle: BottleLab, proxy: Proxy) -> None:
    proxy.once(OPPORTUNITIES, "late")
    event = bottle.form()
    bottle.lab.settle(rounds=6)
    assert proxy.execute_late() == [400]
    assert (bottle.lab.state(event), counts(bottle)) == ("confirmed", [1, 1, 1])


def test_a_task_executed_later_than_was_assumed_is_an_incident_at_the_next_look(
    bottle: BottleLab, proxy: Proxy
) -> None:
    proxy.once(TASKS, "late")
    event = bottle.form()
    bottle.lab.settle(rounds=6)
    assert (bottle.lab.state(event), counts(bottle)) == ("confirmed", [1, 1, 1])
    assert proxy.execute_late() == [200]
    bottle.lab.pass_time(timedelta(hours=2))
    bottle.lab.work()
    incidents = bottle.lab.rows("SELECT reason, evidence FROM items WHERE kind = 'incident'")
    assert [each["reason"] for each in incidents] == ["several"]
    assert str(bottle.tasks()[0]["id"]) in str(incidents)
