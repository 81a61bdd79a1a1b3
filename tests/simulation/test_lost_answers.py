"""Each fault of an answer, for each kind of write: one record, and attempts that tell how the doubt ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import pytest

from intake import person_arrows
from tests.lab import Json, Lab
from tests.simulation.stops import stopping
from tests.simulation.world import People, incidents, ledger

KINDS = ("contact", "opportunity", "task", "note")

# Executed, though the answer does not say so.
DONE: Mapping[str, Mapping[str, object]] = {
    "lost_answer": {},
    "cut_answer": {},
    "cut_answer in its head": {"cut_in": "head"},
    "500_with_effect": {},
    "503": {"effect": True},
    "no_id": {},
    "garbage": {"effect": True},
    "redirect": {"effect": True},
    "408": {"effect": True},
}
# Not executed, though the answer does not say so either.
UNDONE: Mapping[str, Mapping[str, object]] = {
    "lost_answer": {"effect": False},
    "500_without_effect": {},
    "503": {},
    "garbage": {},
    "redirect": {},
    "408": {},
}


@dataclass(frozen=True, slots=True)
class Leads:
    """A form, and a conversation with a note: a write of each kind, by people who were never here before."""

    lab: Lab
    events: tuple[UUID, ...]
    made_before: Counter[str]

    def states(self) -> list[str]:
        return [self.lab.state(event) for event in self.events]

    def made(self) -> Counter[str]:
        """What the CRM made of them."""
        return ledger(self.lab) - self.made_before

    def attempts(self, kind: str) -> list[Json]:
        """All attempts at their records of a kind, in order."""
        found = {str(each["attempt_id"]): each for event in self.events for each in self.lab.attempts(event)}
        return sorted(
            (each for each in found.values() if each["record"] == kind), key=lambda each: str(each["prepared_at"])
        )


def leads(lab: Lab) -> Leads:
    number, made_before = next(lab.counter), ledger(lab)
    form = lab.form(email=f"p{number}@example.com", phone=f"98{number:07d}")
    return Leads(lab, (form, *lab.whatsapp("Hola", "Quiero", sender=f"5197{number:07d}")), made_before)


def updates(lab: Lab) -> int:
    """How often the CRM changed a record, the sentinels of the preflight apart."""
    changed = (each for each in lab.dials.ledger() if each["what"] == "updated")
    return len([each for each in changed if "sentinel" not in str(each["reference"])])


EACH = {"contact": 2, "opportunity": 2, "task": 2, "note": 1}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", DONE)
def test_what_was_executed_without_a_good_answer_is_found_at_once(shared: Lab, kind: str, fault: str) -> None:
    shared.dials.fault(fault.split(maxsplit=1)[0], match={"what": "create", "kind": kind}, **DONE[fault])
    sent = leads(shared)
    shared.work()
    assert sent.states() == ["confirmed"] * 3
    assert sent.made() == EACH
    doubted, *others = (each for each in sent.attempts(kind) if each["action"] == "create")
    assert (doubted["outcome"], doubted["settled_how"]) == ("uncertain", "look")
    assert doubted["confirmed_at"] is not None
    assert all(each["outcome"] == "confirmed" for each in others)
    assert "found" in [each["outcome"] for each in sent.attempts(kind) if each["kind"] == "look"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", UNDONE)
def test_what_was_not_executed_is_proven_absent_and_then_made_once(shared: Lab, kind: str, fault: str) -> None:
    shared.dials.fault(fault, match={"what": "create", "kind": kind}, **UNDONE[fault])
    sent = leads(shared)
    shared.work()
    assert "uncertain" in sent.states()
    shared.settle(5)
    assert sent.states() == ["confirmed"] * 3
    assert sent.made() == EACH
    doubted = next(each for each in sent.attempts(kind) if each["action"] == "create")
    assert (doubted["outcome"], doubted["settled_how"], doubted["confirmed_at"]) == ("uncertain", "absent", None)
    absent = [each for each in sent.attempts(kind) if each["outcome"] == "absent" and each["controlled"]]
    # Before the first create, and the two of the proof.
    assert len([each for each in absent if each["record_id"] == doubted["record_id"]]) >= 3
    assert incidents(shared) == []


@pytest.mark.parametrize("fault", DONE)
def test_an_update_without_a_good_answer_is_settled_by_reading(stored: Lab, fault: str) -> None:
    stored.quote(version=1)
    stored.work()
    stored.dials.fault(fault.split(maxsplit=1)[0], match={"what": "update"}, **DONE[fault])
    event = stored.quote(version=2, amount="250.50")
    stored.work()
    assert stored.state(event) == "confirmed"
    assert updates(stored) == 1
    (write,) = stored.rows("SELECT * FROM attempts WHERE action = 'update'")
    assert (write["outcome"], write["settled_how"]) == ("uncertain", "look")


@pytest.mark.parametrize("fault", UNDONE)
def test_an_update_that_was_not_executed_is_sent_again_after_the_proof(stored: Lab, fault: str) -> None:
    stored.quote(version=1)
    stored.work()
    stored.dials.fault(fault, match={"what": "update"}, **UNDONE[fault])
    event = stored.quote(version=2, amount="250.50")
    stored.work()
    assert stored.state(event) == "uncertain"
    stored.settle()
    assert stored.state(event) == "confirmed"
    assert stored.in_crm("opportunity")[0]["amount"] == "250.50"
    assert updates(stored) == 1


@pytest.mark.parametrize("fault", ["lost_answer", "500_with_effect"])
def test_a_version_after_an_update_whose_answer_was_lost_is_applied(stored: Lab, fault: str) -> None:
    stored.quote(version=1)
    stored.work()
    stored.dials.fault(fault, match={"what": "update"})
    stored.quote(version=2, amount="250.50")
    stored.work()
    event = stored.quote(version=3, amount="300.00")
    stored.work()
    assert stored.state(event) == "confirmed"
    assert stored.in_crm("opportunity")[0]["amount"] == "300.00"


def test_a_version_after_an_update_that_a_crash_kept_from_being_read_back_is_applied(stored: Lab) -> None:
    stored.quote(version=1)
    stored.work()
    with stopping(stored) as worker:
        event = stored.quote(version=2, amount="250.50")
        worker.run({event: ["opportunity.update.noted"]})
    stored.quote(version=3, amount="300.00")
    stored.work()
    assert stored.in_crm("opportunity")[0]["amount"] == "300.00"


def test_an_answer_without_effect_is_believed_and_told_apart_by_nobody(stored: Lab) -> None:
    """Outside the assumptions: a 201 with an id is the CRM's word; reconciliation reads it, the delivery cannot."""
    stored.dials.fault("answer_without_effect", match={"what": "create", "kind": "task"})
    event = stored.form()
    stored.work()
    assert stored.state(event) == "confirmed"
    assert ledger(stored)["task"] == 0


def test_an_answer_that_comes_twice_is_one_record(stored: Lab) -> None:
    stored.dials.fault("duplicate_answer", times=None, match={"what": "create"})
    event = stored.form()
    stored.work()
    assert stored.state(event) == "confirmed"
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1}


def test_one_request_that_made_two_records_is_an_incident_and_goes_on_when_people_left_one(stored: Lab) -> None:
    event = stored.form()
    stored.dials.fault("double_execution", match={"what": "create", "kind": "opportunity"})
    with stopping(stored) as worker:
        worker.run({event: ["opportunity.answered"]}, rounds=3)
    assert (stored.state(event), stored.delivery(event)["reason"]) == ("review", "several")
    assert incidents(stored) == ["several"]
    (double,) = stored.dials.doubles()
    People(stored).trash_one("opportunities", str(double["ids"][0]))  # type: ignore[index]  # a list of two ids
    with stored.pool.connection() as conn:
        person_arrows.revive(conn, event, 1)
    stored.settle(3, timedelta(hours=25))
    assert stored.state(event) == "confirmed"
    assert len(stored.in_crm("opportunity")) == 1
    assert ledger(stored) == {"contact": 1, "opportunity": 2, "task": 1}
