"""Reconciliation finds everything that was done behind our back, and accuses nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Thread

import psycopg
import pytest

from crm_clients.base import Capability, Kind
from crm_clients.sandbox.client import SandboxClient
from intake import nights
from intake.db import open_pool, transaction
from tests.commands import DECIDED, beside, intake, listed
from tests.lab import Lab
from tests.running import until
from tests.simulation.intruder import Intruder, reasons, reconciled
from tests.simulation.world import People, incidents
from workers import drain, nightly, reconcile

Deed = Callable[[Intruder], None]

SABOTAGES: dict[str, tuple[Deed, set[str]]] = {
    "the opportunity is deleted": (lambda they: they.trash("opportunity"), {"opportunity_not_live"}),
    "the opportunity is doubled": (lambda they: they.double("opportunity"), {"opportunity_several"}),
    "the contact is doubled": (lambda they: they.double("contact"), {"contact_several"}),
    "the contact is merged into one that is trashed": (lambda they: they.merge(), {"contact_not_live"}),
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


def test_a_crm_that_said_yes_and_made_nothing_is_caught(stored: Lab) -> None:
    stored.dials.fault("answer_without_effect", match={"what": "create", "kind": "task"})
    stored.form()
    stored.work()
    assert reasons(stored) == {"task_gone"}


class DeletesTheDone(SandboxClient):
    """A CRM in which a task that is done is no more."""

    def capability(self, kind: Kind) -> Capability:
        can = super().capability(kind)
        return replace(can, absence_may_mean_done=kind is Kind.TASK)


def test_a_task_that_is_no_more_may_be_done_where_the_crm_deletes_those(stored: Lab) -> None:
    wired = replace(stored.desk.wired["crm"], client=DeletesTheDone())
    stored.desk = replace(stored.desk, wired={**stored.desk.wired, "crm": wired})
    stored.dials.fault("answer_without_effect", match={"what": "create", "kind": "task"})
    stored.form()
    stored.work()
    assert reasons(stored) == set()


def test_a_crm_that_executed_one_request_twice_is_caught(stored: Lab) -> None:
    stored.dials.fault("double_execution", match={"what": "create", "kind": "opportunity"})
    stored.form()
    stored.work()
    assert reasons(stored) == {"opportunity_several"}


# --- open items ------------------------------------------------------------------------------------------------------


def test_an_incident_that_is_gone_on_the_next_run_is_closed(confirmed: Lab) -> None:
    Intruder(confirmed).edit("opportunity", owner_id=None)
    reconciled(confirmed)
    Intruder(confirmed).edit("opportunity", owner_id="ana")
    assert reasons(confirmed) == set()
    (item,) = confirmed.rows("SELECT resolution FROM items WHERE kind = 'incident'")
    assert item["resolution"] == "reconciled"


def test_the_same_incident_found_again_is_one_item(confirmed: Lab) -> None:
    Intruder(confirmed).trash("task")
    for _ in range(3):
        reconciled(confirmed)
    assert incidents(confirmed) == ["task_not_live"]


def test_what_a_person_accepted_is_accused_no_more(confirmed: Lab, tmp_path: Path) -> None:
    Intruder(confirmed).trash("task")
    _, (found,) = reconciled(confirmed)
    assert intake(beside(confirmed, tmp_path), "resolve", found.item_id, "accept", *DECIDED).status == 0
    assert reasons(confirmed) == set()


def test_an_item_names_the_event_that_rests_on_the_record(confirmed: Lab) -> None:
    Intruder(confirmed).trash("opportunity")
    reconciled(confirmed)
    (item,) = confirmed.rows("SELECT event_id, source, record_id FROM items WHERE kind = 'incident'")
    (event,) = confirmed.rows("SELECT event_id FROM events")
    assert (item["event_id"], item["source"]) == (event["event_id"], "web")


# --- what the CRM does not tell -------------------------------------------------------------------------------------


def test_a_crm_that_does_not_answer_is_one_incident_and_acquits_nobody(confirmed: Lab) -> None:
    Intruder(confirmed).edit("opportunity", owner_id=None)
    reconciled(confirmed)
    confirmed.dials.fault("503", times=None)
    assert reasons_of_run(confirmed) == {"account_not_verified"}
    assert set(incidents(confirmed)) == {"account_not_verified", "opportunity_without_owner"}


def reasons_of_run(lab: Lab) -> set[str]:
    return set(reconciled(lab)[0].incidents)


def test_one_lost_answer_is_asked_again(confirmed: Lab) -> None:
    confirmed.dials.fault("lost_answer", match={"what": "read"})
    assert reasons(confirmed) == set()


def test_an_account_that_answers_again_is_verified(confirmed: Lab) -> None:
    confirmed.dials.fault("503", times=None)
    reconciled(confirmed)
    confirmed.dials.no_faults()
    assert reasons(confirmed) == set()


def test_what_is_on_its_way_or_in_doubt_is_no_incident(stored: Lab) -> None:
    stored.form(email="uno@example.com", phone="987000001")
    stored.dials.fault("500_with_effect", match={"what": "create", "kind": "opportunity"})
    stored.dials.fault("false_absent", times=None, match={"what": "find", "kind": "opportunity"})
    stored.work()
    stored.form(email="dos@example.com", phone="987000002")
    assert reasons(stored) == set()


# --- at night -------------------------------------------------------------------------------------------------------


def ask(lab: Lab) -> None:
    with transaction(lab.pool) as conn:
        nights.ask_for_run(conn)


def night(lab: Lab) -> None:
    """Let the workers take page after page, with the pauses between them."""
    for _ in range(40):
        lab.work()
        with psycopg.connect(lab.database_url) as conn:
            conn.execute("UPDATE reconciliation_runs SET due_at = due_at - interval '2 seconds'")


def test_workers_reconcile_at_night_page_by_page(confirmed: Lab) -> None:
    Intruder(confirmed).trash("task")
    ask(confirmed)
    night(confirmed)
    (run,) = confirmed.rows("SELECT verified, incidents FROM reconciliations")
    assert (run["verified"], run["incidents"]) == (True, {"task_not_live": 1})
    assert incidents(confirmed) == ["task_not_live"]


def test_a_page_whose_worker_died_is_taken_by_another(confirmed: Lab) -> None:
    ask(confirmed)
    with transaction(confirmed.pool) as conn:
        assert nights.claim_run(conn) is not None
    assert not nightly.page_due(confirmed.desk)
    with psycopg.connect(confirmed.database_url) as conn:
        conn.execute("UPDATE reconciliation_runs SET due_at = due_at - %s", [nights.HOLD])
    night(confirmed)
    assert len(confirmed.rows("SELECT * FROM reconciliations")) == 1


def test_many_workers_at_once_make_one_result(confirmed: Lab) -> None:
    ask(confirmed)
    workers = [Thread(target=night, args=(confirmed,)) for _ in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert len(confirmed.rows("SELECT * FROM reconciliations")) == 1


def test_leads_come_before_the_reconciliation(confirmed: Lab) -> None:
    ask(confirmed)
    event = confirmed.form(email="otro@example.com", phone="987000009")
    assert drain.one(confirmed.desk)
    assert confirmed.state(event) == "confirmed"


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_command_says_that_all_is_well(confirmed: Lab, tmp_path: Path) -> None:
    said = intake(beside(confirmed, tmp_path), "reconcile", "--verify", "--json")
    assert (said.status, said.document["ok"], said.document["counts"]) == (0, True, {"confirmed": 1})


def test_the_command_lists_each_incident_and_ends_with_one(confirmed: Lab, tmp_path: Path) -> None:
    Intruder(confirmed).trash("task")
    said = intake(beside(confirmed, tmp_path), "reconcile", "--verify", "--json")
    (incident,) = listed(said.document, "incidents")
    assert (said.status, incident["reason"]) == (1, "task_not_live")


def test_the_command_says_it_in_words(confirmed: Lab, tmp_path: Path) -> None:
    Intruder(confirmed).trash("task")
    said = intake(beside(confirmed, tmp_path), "reconcile", "--verify")
    assert said.status == 1
    assert "1 task_not_live: La tarea está en la papelera del CRM" in said.out
    (item,) = listed(intake(beside(confirmed, tmp_path), "items", "--json").document, "items")
    shown = intake(beside(confirmed, tmp_path), "item", item["item_id"], "--lang", "en")
    assert "intake redeliver" in " ".join(shown.out.split())


def test_without_verify_the_crm_is_not_asked(confirmed: Lab, tmp_path: Path) -> None:
    Intruder(confirmed).trash("task")
    before = len(confirmed.dials.requests())
    said = intake(beside(confirmed, tmp_path), "reconcile")
    assert (said.status, len(confirmed.dials.requests())) == (0, before)


def test_since_leaves_out_what_is_older(confirmed: Lab, tmp_path: Path) -> None:
    Intruder(confirmed).trash("task")
    confirmed.pass_time(timedelta(days=3))
    assert intake(beside(confirmed, tmp_path), "reconcile", "--verify", "--since", "2d").status == 0
    assert intake(beside(confirmed, tmp_path), "reconcile", "--verify", "--since", "4d").status == 1


def test_the_trend_is_shown(confirmed: Lab, tmp_path: Path) -> None:
    reconciled(confirmed)
    Intruder(confirmed).trash("task")
    reconciled(confirmed)
    said = intake(beside(confirmed, tmp_path), "reconcile", "--history", "--json")
    assert [run["incidents"] for run in listed(said.document, "runs")] == [{"task_not_live": 1}, {}]


SOMEBODY_WAITS = """
    SELECT EXISTS (SELECT FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                      AND clock_timestamp() - query_start > interval '1 s')
"""


def test_what_reads_every_row_may_take_longer_than_other_statements(stored: Lab) -> None:
    """Here it waits for a table, for longer than the limit of its connection."""
    began: list[reconcile.Step] = []
    with (
        psycopg.connect(stored.database_url) as holding,
        open_pool(stored.database_url, size=2, options="-c statement_timeout=500") as pool,
    ):
        holding.execute("LOCK TABLE receipts")
        desk = stored.other_desk(pool=pool)
        asking = Thread(target=lambda: began.append(reconcile.begin(desk, "r", since=None, verified=False)))
        asking.start()
        with psycopg.connect(stored.database_url, autocommit=True) as conn:
            assert until(lambda: conn.execute(SOMEBODY_WAITS).fetchone() == (True,))
        holding.rollback()
        asking.join()
    assert [each.place.step for each in began] == ["over"]
