"""A worker that stops until others have finished its work does nothing more when it wakes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from intake import attempts, deliveries, naming, records, siblings
from intake.attempts import Draft, Patience
from intake.db import Conn
from intake.deliveries import Claim, LostClaim
from intake.naming import Scope
from tests.lab import Json, Lab
from tests.running import until
from tests.simulation.world import creates, incidents, ledger
from tests.simulation.zombies import zombie

AN_HOUR = 3600.0
KINDS = ("contact", "opportunity", "task")
EACH_ONCE = dict.fromkeys(KINDS, 1)


def moves(lab: Lab, event: UUID) -> list[Json]:
    return lab.rows("SELECT * FROM delivery_history WHERE event_id = %(id)s ORDER BY history_id", id=event)


@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_that_stopped_between_commit_and_send_sends_nothing(stored: Lab, kind: str) -> None:
    event = stored.form()
    with zombie(stored, f"{kind}.committed") as stopped:
        stored.settle()
        finished = moves(stored, event)
        stopped.wake(after=AN_HOUR)
    assert ledger(stored) == EACH_ONCE
    assert (stored.state(event), moves(stored, event)) == ("confirmed", finished)
    assert [each["outcome"] for each in creates(stored, kind)] == ["not_sent", "confirmed"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_late_answer_of_a_worker_that_stopped_is_taken_and_moves_nothing(stored: Lab, kind: str) -> None:
    event = stored.form()
    with zombie(stored, f"{kind}.answered") as stopped:
        stored.settle()
        finished = moves(stored, event)
        (write,) = creates(stored, kind)
        assert (write["outcome"], write["settled_how"]) == (None, "look")
        stopped.wake(after=AN_HOUR)
    (write,) = creates(stored, kind)
    assert (write["outcome"], write["settled_how"]) == ("confirmed", "look")
    assert ledger(stored) == EACH_ONCE
    assert (stored.state(event), moves(stored, event)) == ("confirmed", finished)
    assert incidents(stored) == []


@pytest.mark.parametrize("boundary", ["contact.before_commit", "task.before_commit", "delivery.before_arrow"])
def test_a_worker_whose_lease_is_over_commits_nothing(stored: Lab, boundary: str) -> None:
    event = stored.form()
    with zombie(stored, boundary) as stopped:
        stored.settle()
        finished = moves(stored, event)
        written = stored.rows("SELECT * FROM attempts ORDER BY attempt_id")
        stopped.wake(after=AN_HOUR)
    assert (stored.state(event), moves(stored, event)) == ("confirmed", finished)
    assert stored.rows("SELECT * FROM attempts ORDER BY attempt_id") == written
    assert ledger(stored) == EACH_ONCE


def test_a_worker_whose_lease_is_over_commits_nothing_though_nobody_took_it_yet(stored: Lab) -> None:
    stored.form()
    with zombie(stored, "contact.before_commit") as stopped:
        stored.pass_time(timedelta(seconds=31))
        stopped.wake()
        assert creates(stored, "contact") == []


def test_a_late_success_on_a_record_that_was_written_again_is_an_incident(stored: Lab) -> None:
    event = stored.form()
    # The CRM breaks its word: what it made is found by no search.
    stored.dials.fault("lagging", match={"what": "create", "kind": "contact"}, seconds=86_400)
    with zombie(stored, "contact.answered") as stopped:
        stored.settle()
        assert incidents(stored) == []
        stopped.wake(after=AN_HOUR)
    assert incidents(stored) == ["late_success"]
    assert stored.state(event) == "confirmed"
    (known,) = stored.rows("SELECT crm_id FROM records WHERE kind = 'contact'")
    assert known["crm_id"] == stored.in_crm("opportunity")[0]["contact_id"]


def test_two_workers_that_look_at_once_come_to_one_result(stored: Lab) -> None:
    event = stored.form()
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    stored.work()
    stored.pass_time(timedelta(seconds=31))
    with zombie(stored, "contact.looked") as stopped:
        stored.pass_time(timedelta(minutes=3))
        stored.settle()
        stopped.wake(after=AN_HOUR)
    assert (stored.state(event), ledger(stored)) == ("confirmed", EACH_ONCE)


def test_a_contact_that_is_being_written_is_not_adopted_by_somebody_else(stored: Lab) -> None:
    event = stored.form()
    with zombie(stored, "contact.committed"), stored.pool.connection() as conn:
        (row,) = stored.rows("SELECT record_id FROM records WHERE kind = 'contact'")
        assert not records.know(conn, int(str(row["record_id"])), crm_id="con-of-another", how="adopted")
    stored.settle()
    assert (stored.state(event), ledger(stored), incidents(stored)) == ("confirmed", EACH_ONCE, [])


# --- every write of a holder is fenced --------------------------------------------------------------------------------

FENCED: dict[str, Callable[[Conn, Claim, int], object]] = {
    "extend": lambda conn, held, _: deliveries.extend(conn, held, lease=timedelta(seconds=30)),
    "confirm": lambda conn, held, _: deliveries.confirm(conn, held),
    "postpone": lambda conn, held, _: deliveries.postpone(conn, held, reason="late", after=timedelta(0)),
    "mark_uncertain": lambda conn, held, record: deliveries.mark_uncertain(
        conn, held, reason="doubt", blocked_on=record
    ),
    "reject": lambda conn, held, _: deliveries.reject(conn, held, reason="refused"),
    "supersede": lambda conn, held, _: deliveries.supersede(conn, held),
    "give_back": lambda conn, held, _: deliveries.give_back(conn, held),
    "link": lambda conn, held, record: siblings.link(conn, held, "contact", record),
    "name_for": lambda conn, held, _: naming.name_for(conn, held, Scope("crm", "live", timedelta(0)), "task", "late-t"),
    "prepare": lambda conn, held, record: attempts.prepare(
        conn, held, records.read(conn, record), Draft("create", b"{}"), Patience()
    ),
}


def a_record(lab: Lab) -> int:
    with lab.pool.connection() as conn:
        return naming.name(conn, lab.desk.scope("crm", "live"), "contact", f"c-{uuid4().hex}")


def test_every_write_of_a_holder_needs_the_token_of_the_lease(stored: Lab) -> None:
    event = stored.form()
    record = a_record(stored)
    with stored.pool.connection() as conn:
        stale = deliveries.claim(conn, destinations=["crm"], lease=timedelta(seconds=30))
        assert stale is not None
        deliveries.give_back(conn, stale)
        assert deliveries.claim(conn, destinations=["crm"], lease=timedelta(seconds=30)) is not None
    before = stored.delivery(event)
    assert [name for name, write in FENCED.items() if not _is_lost(stored, write, stale, record)] == []
    assert stored.delivery(event) == before


def _is_lost(lab: Lab, write: Callable[[Conn, Claim, int], object], held: Claim, record: int) -> bool:
    with lab.pool.connection() as conn, conn.transaction(force_rollback=True):
        try:
            write(conn, held, record)
        except LostClaim:
            return True
    return False


# --- two holders at one record ----------------------------------------------------------------------------------------

WAITS = "SELECT 1 FROM pg_stat_activity WHERE pid = %(pid)s AND wait_event_type = 'Lock'"


def test_of_two_that_write_one_record_at_once_only_one_commits(stored: Lab) -> None:
    stored.form()
    stored.form()
    record_id = a_record(stored)
    with stored.pool.connection() as first, stored.pool.connection() as second, ThreadPoolExecutor(1) as pool:
        held, other = (
            deliveries.claim(conn, destinations=["crm"], lease=timedelta(seconds=30)) for conn in (first, second)
        )
        assert held is not None
        assert other is not None
        record = records.read(first, record_id)
        with first.transaction():
            attempts.prepare(first, held, record, Draft("create", b"{}"), Patience())
            late = pool.submit(attempts.prepare, second, other, record, Draft("create", b"{}"), Patience())
            pid = second.info.backend_pid
            assert until(lambda: late.done() or bool(stored.rows(WAITS, pid=pid)))
        with pytest.raises(attempts.RecordMoved):
            late.result()
    (write,) = stored.rows("SELECT event_id FROM attempts WHERE record_id = %(id)s", id=record_id)
    assert write["event_id"] == held.event_id
