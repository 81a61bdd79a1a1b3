"""Reconciliation finds everything that was done behind our back, and accuses nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import psycopg
import pytest

from intake.reconcile import Reconciliation
from tests.integration.sandbox_calls import Caller
from tests.lab import Json, Lab
from tests.simulation.world import People, incidents
from workers.commands.reconciling import run
from workers.reconcile import Found


def reconciled(lab: Lab) -> tuple[Reconciliation, list[Found]]:
    return run(lab.desk, since=None, verified=True, per_second=None, told=lambda _step: None)


def reasons(lab: Lab) -> set[str]:
    """The reasons of a run's incidents; every one is an open item."""
    result, found = reconciled(lab)
    assert {each.incident.reason for each in found} == set(result.incidents) == set(incidents(lab))
    return set(result.incidents)


@dataclass(frozen=True, slots=True)
class Intruder:
    """Somebody who works on the CRM and on the database past every line of ours."""

    lab: Lab

    def sql(self, statement: str) -> None:
        """Without foreign keys, triggers and checks of arrows."""
        with psycopg.connect(self.lab.database_url) as conn:
            conn.execute("SET session_replication_role = replica")
            conn.execute(statement.encode())

    def crm(self, method: str, path: str, body: object = None) -> None:
        answer = Caller(self.lab.dials.url).call(method, path, body)
        assert answer.ok, answer.text

    def only(self, kind: str) -> Json:
        (found,) = self.lab.in_crm(kind)
        return found

    def edit(self, kind: str, **changes: object) -> None:
        plural = "opportunities" if kind == "opportunity" else f"{kind}s"
        self.crm("PATCH", f"{plural}/{self.only(kind)['id']}", changes)

    def trash(self, kind: str) -> None:
        plural = "opportunities" if kind == "opportunity" else f"{kind}s"
        self.crm("DELETE", f"{plural}/{self.only(kind)['id']}")

    def double(self, kind: str) -> None:
        """Another with the same reference."""
        made = self.only(kind)
        plural = "opportunities" if kind == "opportunity" else f"{kind}s"
        body = {name: made[name] for name in ("reference", "contact_id", "opportunity_id") if name in made}
        self.crm("POST", plural, body | {"name" if kind == "contact" else "title": "Otra"})

    def merge(self) -> None:
        ours = self.only("contact")["id"]
        other = Caller(self.lab.dials.url).create("contacts", name="Otra persona")["id"]
        self.crm("POST", f"contacts/{ours}/merge", {"into": other})

    def make(self, reference: str) -> None:
        """An opportunity under a reference that only looks like ours."""
        contact = self.only("contact")["id"]
        self.crm("POST", "opportunities", {"title": "Ajena", "contact_id": contact, "reference": reference})


Deed = Callable[[Intruder], None]

SABOTAGES: dict[str, tuple[Deed, set[str]]] = {
    "the opportunity is deleted": (lambda they: they.trash("opportunity"), {"opportunity_not_live"}),
    "the opportunity is doubled": (lambda they: they.double("opportunity"), {"opportunity_several"}),
    "the contact is doubled": (lambda they: they.double("contact"), {"contact_several"}),
    "the contact is merged": (lambda they: they.merge(), {"contact_not_live"}),
    "the owner is emptied": (lambda they: they.edit("opportunity", owner_id=None), {"opportunity_without_owner"}),
    "the contact is unlinked": (
        lambda they: they.edit("opportunity", contact_id=None), {"opportunity_without_contact"},
    ),
    "the task is removed": (lambda they: they.trash("task"), {"task_not_live"}),
    "the event's row is removed": (
        lambda they: they.sql("DELETE FROM events"),
        {"delivery_without_event", "receipt_without_event"},
    ),
    "the event's rows are all removed": (
        lambda they: they.sql("DELETE FROM deliveries; DELETE FROM bodies; DELETE FROM events"),
        {"receipt_without_event", "record_without_event"},
    ),
    "the delivery's row is removed": (
        lambda they: they.sql("DELETE FROM deliveries"),
        {"event_without_delivery", "record_without_event"},
    ),
    "the records' rows are removed": (
        lambda they: they.sql("DELETE FROM records"),
        {"confirmed_without_contact", "confirmed_without_opportunity", "confirmed_without_task",
         "contact_unknown", "opportunity_unknown", "task_unknown"},
    ),
    "a record's row names another of the CRM": (
        lambda they: they.sql("UPDATE records SET crm_id = 'opp-other' WHERE kind = 'opportunity'"),
        {"opportunity_gone", "opportunity_several"},
    ),
    "a record's row forgets the CRM": (
        lambda they: they.sql("UPDATE records SET crm_id = NULL, how = NULL, state = 'none' WHERE kind = 'task'"),
        {"confirmed_without_task", "task_unexpected"},
    ),
    "the content is removed": (
        lambda they: they.sql("DELETE FROM bodies WHERE event_id IS NOT NULL"), {"event_without_lead"},
    ),
    "a record under our reference was made by nobody": (
        lambda they: they.make("n" + "a" * 26 + "-o"), {"opportunity_unknown"},
    ),
    "a delivery is confirmed by hand": (
        lambda they: they.sql("UPDATE deliveries SET task_record = NULL"),
        {"confirmed_without_task", "record_without_event"},
    ),
    "a delivery waits for a person by hand": (
        lambda they: they.sql("UPDATE deliveries SET state = 'review', reason = 'validation'"), {"open_without_item"},
    ),
    "a delivery is due, and forgotten": (
        lambda they: they.sql("UPDATE deliveries SET state = 'received', due_at = now() - interval '1 hour'"),
        {"forgotten"},
    ),
}  # fmt: skip


@pytest.fixture
def confirmed(stored: Lab) -> Lab:
    """A lab with one form that stands in the CRM."""
    event = stored.form()
    stored.work()
    assert stored.state(event) == "confirmed"
    return stored


@pytest.mark.parametrize("sabotage", SABOTAGES)
def test_it_catches_what_was_done_behind_our_back(confirmed: Lab, sabotage: str) -> None:
    deed, expected = SABOTAGES[sabotage]
    assert reasons(confirmed) == set()
    deed(Intruder(confirmed))
    assert reasons(confirmed) == expected


def test_a_note_that_is_removed_is_missed(stored: Lab) -> None:
    stored.whatsapp("Hola", "Quiero dos sillas")
    stored.settle(2)
    Intruder(stored).trash("note")
    assert reasons(stored) == {"note_not_live"}


def test_a_contact_that_people_made_needs_no_reference_of_ours(stored: Lab) -> None:
    People(stored).add_contact(name="Ana", phone="+51987654321")
    stored.form()
    stored.work()
    assert reasons(stored) == set()
