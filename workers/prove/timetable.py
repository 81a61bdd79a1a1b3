"""Every column that holds a moment which something waits for: time passes by moving them all into the past.

The database's clock is the only one, so that is all that time is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from intake.db import Conn

TIMES: Mapping[str, tuple[str, ...]] = {
    "records": ("asked_until", "look_at", "created_at"),
    "deliveries": ("due_at", "claimed_until", "received_at"),
    "attempts": ("prepared_at", "send_by", "sent_at", "answered_at", "closed_at", "settled_at"),
    "sentinels": ("seen_at",),
    "accounts": ("paused_at", "control_at"),
    "fetches": ("asked_at", "due_at", "ended_at"),
    "fetch_lanes": ("parked_at", "control_at"),
    "pulls": ("read_until", "due_at", "ended_at"),
    "identity_windows": ("last_seen_at",),
    "installation": ("epoch_opened_at",),
}


def _moved(table: str, columns: tuple[str, ...]) -> str:
    changes = ", ".join(f"{column} = {column} - %(span)s" for column in columns)
    return f"{table}_moved AS (UPDATE {table} SET {changes})"  # noqa: S608  # our own names


# One statement: a proof lets time pass some hundred thousand times.
_MOVE_ALL = "WITH " + ", ".join(_moved(table, columns) for table, columns in TIMES.items()) + " SELECT"


def pass_time(conn: Conn, span: timedelta) -> None:
    """Every stored time is now this much longer ago; inside a transaction.  For databases of tests and proofs only."""
    conn.execute("SET LOCAL intake.purge = 'on'")  # Attempts that are closed do not change otherwise.
    conn.execute(_MOVE_ALL, {"span": span})
