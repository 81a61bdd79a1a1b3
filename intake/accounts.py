"""CRM accounts: paused as a whole when a control call fails too, and the sentinels that make an "absent" count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.records import RecordKind


@dataclass(frozen=True, slots=True)
class Sentinel:
    """The record that a look for this kind must find.  `fresh`: it was found some minutes ago at most."""

    kind: RecordKind
    reference: str
    crm_id: str
    parent_id: str | None
    seen_at: datetime
    fresh: bool


# How long a control serves the look before a first create; a proof of absence has a control of its own each time.
CONTROL_SERVES = timedelta(minutes=5)

SENTINEL = """
    SELECT kind, reference, crm_id, parent_id, seen_at, seen_at > clock_timestamp() - %(serves)s AS fresh
      FROM sentinels WHERE destination = %(destination)s AND kind = %(kind)s
"""


def sentinel(conn: Conn, destination: str, kind: RecordKind) -> Sentinel | None:
    """None: nobody made one (`intake crm check --create`)."""
    given = {"destination": destination, "kind": kind, "serves": CONTROL_SERVES}
    with conn.cursor(row_factory=class_row(Sentinel)) as cursor:
        return cursor.execute(SENTINEL, given).fetchone()


ADD_ACCOUNT = "INSERT INTO accounts (destination) VALUES (%(destination)s) ON CONFLICT DO NOTHING"
KEEP_SENTINEL = """
    INSERT INTO sentinels (destination, kind, reference, crm_id, parent_id, seen_at)
    VALUES (%(destination)s, %(kind)s, %(reference)s, %(crm_id)s, %(parent_id)s, clock_timestamp())
    ON CONFLICT (destination, kind)
    DO UPDATE SET reference = EXCLUDED.reference, crm_id = EXCLUDED.crm_id, parent_id = EXCLUDED.parent_id,
                  seen_at = EXCLUDED.seen_at
"""


@dataclass(frozen=True, slots=True)
class Made:
    """A sentinel that was found, or made, in the CRM just now."""

    kind: RecordKind
    reference: str
    crm_id: str
    parent_id: str | None


def keep_sentinel(conn: Conn, destination: str, made: Made) -> None:
    """Remember where the sentinel of a kind stands."""
    with conn.transaction():
        conn.execute(ADD_ACCOUNT, {"destination": destination})
        conn.execute(
            KEEP_SENTINEL,
            {
                "destination": destination,
                "kind": made.kind,
                "reference": made.reference,
                "crm_id": made.crm_id,
                "parent_id": made.parent_id,
            },
        )


SENTINEL_SEEN = """
    UPDATE sentinels SET seen_at = clock_timestamp() WHERE destination = %(destination)s AND kind = %(kind)s
"""


def sentinel_seen(conn: Conn, destination: str, kind: RecordKind) -> None:
    """The control was positive just now."""
    conn.execute(SENTINEL_SEEN, {"destination": destination, "kind": kind})


# --- pause and resume -----------------------------------------------------------------------------------------------

PAUSE = """
    INSERT INTO accounts (destination, paused_at, paused_reason, control_at)
    VALUES (%(destination)s, clock_timestamp(), %(reason)s, clock_timestamp() + %(again)s)
    ON CONFLICT (destination) DO UPDATE
       SET paused_at = coalesce(accounts.paused_at, EXCLUDED.paused_at), paused_reason = EXCLUDED.paused_reason,
           control_at = EXCLUDED.control_at
"""
RESUME = """
    UPDATE accounts SET paused_at = NULL, paused_reason = NULL, control_at = NULL
     WHERE destination = %(destination)s AND paused_at IS NOT NULL
"""

# Claiming the control call moves its due time, so that two workers do not make it at once.
CLAIM_CONTROL = """
    UPDATE accounts SET control_at = clock_timestamp() + %(again)s
     WHERE destination = (SELECT destination FROM accounts
                           WHERE control_at <= clock_timestamp() AND destination = ANY(%(destinations)s)
                           ORDER BY control_at FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING destination
"""


def pause(conn: Conn, destination: str, *, reason: str, again: timedelta) -> None:
    """Deliver nothing there for now; the control call is made again after `again`.  No budget is touched."""
    conn.execute(PAUSE, {"destination": destination, "reason": reason, "again": again})


def resume(conn: Conn, destination: str) -> bool:
    """False: it was not paused."""
    return conn.execute(RESUME, {"destination": destination}).rowcount == 1


def claim_control(conn: Conn, *, destinations: list[str], again: timedelta) -> str | None:
    """The next paused account whose control call is due; None: none is."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(CLAIM_CONTROL, {"destinations": destinations, "again": again}).fetchone()
