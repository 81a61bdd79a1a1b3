"""The database holds the state machine, whatever the code does: only the drawn arrows, and rows of the right shape."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors, sql

from intake.db import Conn
from intake.deliveries import FINAL, OPEN
from tests.conftest import fresh_database

STATES = (*OPEN, *FINAL)

# The drawing of section 3, arrow by arrow.
ARROWS = {
    "awaiting_approval": {"received", "cancelled", "superseded"},
    "received": {"awaiting_approval", "delivering", "review", "cancelled", "superseded"},
    "delivering": {"received", "waiting", "uncertain", "review", "confirmed", "superseded"},
    "waiting": {"awaiting_approval", "delivering", "review", "cancelled", "superseded"},
    "uncertain": {"waiting", "confirmed", "review", "cancelled"},
    "review": {"awaiting_approval", "received", "uncertain", "confirmed", "cancelled", "superseded"},
    "confirmed": set(),
    "cancelled": set(),
    "superseded": set(),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A delivery that a test may put into any state."""

    conn: Conn
    event_id: UUID
    record_id: int

    def shape(self, state: str) -> dict[str, object]:
        """The columns that a row in this state must have, and no others."""
        leased, due = state == "delivering", state in {"received", "waiting"}
        return {
            "state": state,
            "reason": "because" if state in {"awaiting_approval", "waiting", "uncertain", "review"} else None,
            "due_at": "2026-01-01Z" if due else None,
            "claim_token": uuid4() if leased else None,
            "claimed_until": "2026-01-01Z" if leased else None,
            "blocked_on": self.record_id if state == "uncertain" else None,
        }

    def put(self, columns: dict[str, object]) -> None:
        """UPDATE by hand.  Raises what the database says."""
        moved = sql.SQL(", ").join(
            sql.SQL("{} = {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in columns
        )
        self.conn.execute(
            sql.SQL("UPDATE deliveries SET {} WHERE event_id = %(event_id)s").format(moved),
            columns | {"event_id": self.event_id},
        )


@contextmanager
def row(conn: Conn, state: str) -> Iterator[Row]:
    """A delivery in this state, for as long as the block lasts."""
    with conn.transaction(force_rollback=True):
        event_id, receipt_id = uuid4(), uuid4()
        conn.execute(
            "INSERT INTO receipts (receipt_id, mode, source, content_type, verdict)"
            " VALUES (%s, 'live', 's', '', 'accepted')",
            [receipt_id],
        )
        conn.execute(
            "INSERT INTO events (event_id, mode, source, scope, kind, request_id, minted, fingerprint, receipt_id)"
            " VALUES (%s, 'live', 's', 's', 'form', 'r', false, '', %s)",
            [event_id, receipt_id],
        )
        need = conn.execute(
            "INSERT INTO needs (mode, scope, key, destination, reference, first_at, last_at)"
            " VALUES ('live', 's', 'k', 'crm', 'n', now(), now()) RETURNING need_id"
        ).fetchone()
        record = conn.execute(
            "INSERT INTO records (destination, mode, kind, reference) VALUES ('crm', 'live', 'contact', 'c')"
            " RETURNING record_id"
        ).fetchone()
        assert need is not None
        assert record is not None
        made = Row(conn, event_id, record[0])
        conn.execute(
            "INSERT INTO deliveries (event_id, need_id, part, position, mode, source, destination, state, reason,"
            " due_at, claim_token, claimed_until, blocked_on)"
            " VALUES (%(event_id)s, %(need_id)s, 'opener', 0, 'live', 's', 'crm', %(state)s,"
            " %(reason)s, %(due_at)s, %(claim_token)s, %(claimed_until)s, %(blocked_on)s)",
            made.shape(state) | {"event_id": event_id, "need_id": need[0]},
        )
        yield made


@pytest.fixture(scope="module")
def conn(postgres_server: str, migrated_template: str) -> Iterator[Conn]:
    """A database for all of these tests, since each rolls back what it does."""
    database = fresh_database(postgres_server, template=migrated_template)
    with database as (_, url), psycopg.connect(url, autocommit=True) as opened:
        yield opened


def is_refused(made: Row, columns: dict[str, object]) -> bool:
    try:
        with made.conn.transaction():
            made.put(columns)
    except (errors.CheckViolation, errors.RaiseException):
        return True
    return False


def test_the_database_allows_exactly_the_arrows_that_are_drawn(conn: Conn) -> None:
    allowed: dict[str, set[str]] = {state: set() for state in STATES}
    for one, other in product(STATES, STATES):
        if one != other:
            with row(conn, one) as made:
                if not is_refused(made, made.shape(other)):
                    allowed[one].add(other)
    assert allowed == ARROWS


@pytest.mark.parametrize("state", STATES)
def test_a_move_that_somebody_types_by_hand_stands_in_the_history(conn: Conn, state: str) -> None:
    for other in ARROWS[state]:
        with row(conn, state) as made:
            made.put(made.shape(other))
            history = conn.execute(
                "SELECT from_state, to_state FROM delivery_history WHERE event_id = %s ORDER BY history_id",
                [made.event_id],
            )
            assert history.fetchall() == [(None, state), (state, other)]


@pytest.mark.parametrize("state", STATES)
def test_a_lease_stands_if_and_only_if_it_is_being_delivered(conn: Conn, state: str) -> None:
    with row(conn, state) as made:
        lease = {"claim_token": uuid4(), "claimed_until": "2026-01-01Z"}
        assert is_refused(made, lease | {"claim_token": None} if state == "delivering" else lease)
        assert is_refused(made, {"claim_token": uuid4(), "claimed_until": None})


@pytest.mark.parametrize("state", ["awaiting_approval", "waiting", "uncertain", "review"])
def test_what_waits_says_why(conn: Conn, state: str) -> None:
    with row(conn, state) as made:
        assert is_refused(made, {"reason": None})


@pytest.mark.parametrize("state", STATES)
def test_a_due_time_stands_if_and_only_if_it_can_be_claimed(conn: Conn, state: str) -> None:
    with row(conn, state) as made:
        assert is_refused(made, {"due_at": None if state in {"received", "waiting"} else "2026-01-01Z"})


def test_an_uncertain_delivery_names_the_record_in_doubt(conn: Conn) -> None:
    with row(conn, "uncertain") as made:
        assert is_refused(made, {"blocked_on": None})


@pytest.mark.parametrize("state", ["awaiting_approval", "uncertain", "review"])
def test_what_waits_for_a_person_has_one_open_item_until_it_moves_on(conn: Conn, state: str) -> None:
    with row(conn, state) as made:
        made.put({"reason": "another reason"})
        items = "SELECT reason, closed_at IS NULL, resolution FROM items WHERE event_id = %s"
        assert conn.execute(items, [made.event_id]).fetchall() == [("another reason", True, None)]
        made.put(made.shape("cancelled"))
        assert conn.execute(items, [made.event_id]).fetchall() == [("another reason", False, "cancelled")]


@pytest.mark.parametrize("statement", ["UPDATE {} SET reason = 'x'", "DELETE FROM {}"])
@pytest.mark.parametrize("table", ["decisions", "delivery_history"])
def test_what_is_append_only_is(conn: Conn, table: str, statement: str) -> None:
    with row(conn, "received") as made:
        conn.execute(
            "INSERT INTO decisions (author, reason, action, event_id) VALUES ('eva', 'why', 'revive', %s)",
            [made.event_id],
        )
        with pytest.raises(errors.CheckViolation), conn.transaction():
            conn.execute(sql.SQL(statement).format(sql.Identifier(table)))


# --- records and attempts ---------------------------------------------------------------------------------------------


def test_a_record_never_changes_its_id_in_the_crm(conn: Conn) -> None:
    with row(conn, "received") as made:
        known = "UPDATE records SET state = 'known', crm_id = %s, how = 'answer' WHERE record_id = %s"
        conn.execute(known, ["con-1", made.record_id])
        for crm_id in ("con-2", None):
            with pytest.raises(errors.CheckViolation), conn.transaction():
                conn.execute(known, [crm_id, made.record_id])


WRITE = """
    INSERT INTO attempts (record_id, destination, kind, action, send_by)
    VALUES (%s, 'crm', 'write', %s, clock_timestamp())
"""


def test_a_record_that_stands_is_never_created_again(conn: Conn) -> None:
    with row(conn, "received") as made:
        conn.execute("UPDATE records SET state = 'known', crm_id = 'con-1', how = 'answer'")
        with pytest.raises(errors.CheckViolation), conn.transaction():
            conn.execute(WRITE, [made.record_id, "create"])
        conn.execute(WRITE, [made.record_id, "update"])


def test_a_record_has_at_most_one_write_that_is_not_settled(conn: Conn) -> None:
    with row(conn, "received") as made:
        conn.execute(WRITE, [made.record_id, "create"])
        with pytest.raises(errors.UniqueViolation), conn.transaction():
            conn.execute(WRITE, [made.record_id, "create"])
        conn.execute("UPDATE attempts SET settled_at = clock_timestamp(), settled_how = 'absent'")
        conn.execute(WRITE, [made.record_id, "create"])
