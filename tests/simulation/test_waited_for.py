"""A statement that had to wait for a record writes what follows from the record as it stands then, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TypeVar
from uuid import uuid4

import pytest

from intake import attempts, deliveries, naming, records
from intake.attempts import Answer, Draft, Patience
from intake.db import Conn
from intake.deliveries import Claim
from intake.records import Record
from tests.lab import Json, Lab
from tests.running import until

T = TypeVar("T")
WAITS = "SELECT 1 FROM pg_stat_activity WHERE pid = %(pid)s AND wait_event_type = 'Lock'"
CREATE = Draft("create", b"{}")
MADE = Answer("confirmed", "answer", body=b"{}")


class Meeting:
    """A held delivery and a record that it is about to write, at which somebody else is just now."""

    def __init__(self, lab: Lab, conn: Conn, other: Conn) -> None:
        self.lab, self.conn, self.other = lab, conn, other
        lab.form()
        held = deliveries.claim(conn, destinations=["crm"], lease=timedelta(seconds=60))
        assert held is not None
        self.held: Claim = held
        self.record_id = naming.name(conn, lab.desk.scope("crm", "live"), "contact", f"c-{uuid4().hex}")

    def prepare(self, record: Record | None = None) -> int:
        read = record or records.read(self.conn, self.record_id)
        return attempts.prepare(self.conn, self.held, read, CREATE, Patience())

    def behind(self, others: Callable[[Conn], object], ours: Callable[[], T]) -> T:
        """What ours comes to, begun while the others' transaction holds the record, which ends then."""
        with ThreadPoolExecutor(1) as pool:
            with self.other.transaction():
                others(self.other)
                late = pool.submit(ours)
                assert until(lambda: late.done() or bool(self.lab.rows(WAITS, pid=self.conn.info.backend_pid)))
                assert not late.done()
            return late.result()

    def record(self) -> Json:
        (row,) = self.lab.rows("SELECT * FROM records WHERE record_id = %(id)s", id=self.record_id)
        return row

    def writes(self) -> list[Json]:
        return self.lab.rows("SELECT * FROM attempts WHERE record_id = %(id)s", id=self.record_id)

    def touch(self, conn: Conn) -> None:
        conn.execute("UPDATE records SET looks = looks + 1 WHERE record_id = %s", [self.record_id])

    def found(self, crm_id: str) -> Callable[[Conn], object]:
        def look(conn: Conn) -> None:
            assert records.know(conn, self.record_id, crm_id=crm_id, how="look")
            records.settle_write(conn, self.record_id, how="look")

        return look


@pytest.fixture
def meeting(stored: Lab) -> Iterator[Meeting]:
    with stored.pool.connection() as conn, stored.pool.connection() as other:
        yield Meeting(stored, conn, other)


def test_a_write_asks_a_record_that_others_have_only_touched(meeting: Meeting) -> None:
    record = records.read(meeting.conn, meeting.record_id)
    write_id = meeting.behind(meeting.touch, lambda: meeting.prepare(record))
    now = meeting.record()
    assert (now["state"], now["write_id"], now["looks"]) == ("asked", write_id, 0)
    assert now["asked_until"] == meeting.lab.delivery(meeting.held.event_id)["claimed_until"]


def test_a_write_of_a_record_that_was_found_meanwhile_commits_nothing(meeting: Meeting) -> None:
    record = records.read(meeting.conn, meeting.record_id)
    with pytest.raises(attempts.RecordMoved):
        meeting.behind(meeting.found("1"), lambda: meeting.prepare(record))
    assert (meeting.record()["state"], meeting.writes()) == ("known", [])


def confirm(meeting: Meeting, write_id: int) -> bool:
    return attempts.confirm(meeting.conn, meeting.record_id, write_id, MADE, crm_id="1")


def test_an_answer_is_taken_where_others_have_only_touched_the_record(meeting: Meeting) -> None:
    write_id = meeting.prepare()
    assert meeting.behind(meeting.touch, lambda: confirm(meeting, write_id))
    assert (meeting.record()["state"], meeting.writes()[0]["outcome"]) == ("known", "confirmed")


def test_an_answer_is_taken_where_a_look_has_settled_the_same_meanwhile(meeting: Meeting) -> None:
    write_id = meeting.prepare()
    assert meeting.behind(meeting.found("1"), lambda: confirm(meeting, write_id))
    (write,) = meeting.writes()
    assert (write["outcome"], write["settled_how"]) == ("confirmed", "look")


def test_an_answer_notes_nothing_where_a_look_has_found_another_meanwhile(meeting: Meeting) -> None:
    write_id = meeting.prepare()
    assert not meeting.behind(meeting.found("2"), lambda: confirm(meeting, write_id))
    (write,) = meeting.writes()
    assert (meeting.record()["crm_id"], write["outcome"], write["settled_how"]) == ("2", None, "look")
