"""Rounds: what happens every so often, once for all clocks, and what may be forgotten with them."""

from __future__ import annotations

from datetime import timedelta

from psycopg.rows import scalar_row

from intake.db import Conn

# Whoever moves the due time has the round; the others wait for the row, and find it moved.
TAKE = """
    INSERT INTO rounds (name, due_at) VALUES (%(name)s, clock_timestamp() + %(every)s)
    ON CONFLICT (name) DO UPDATE SET due_at = EXCLUDED.due_at WHERE rounds.due_at <= statement_timestamp()
    RETURNING name
"""
TICKS = """
    SELECT EXISTS (SELECT FROM heartbeats
                    WHERE process = 'clock' AND at > statement_timestamp() - interval '30 seconds')
"""
# The week that noise is compared with, and some more for who asks.
FORGET = "DELETE FROM refusals WHERE hour < clock_timestamp() - interval '60 days'"


def take(conn: Conn, name: str, every: timedelta) -> bool:
    """Whether this round is due, and ours."""
    return conn.execute(TAKE, {"name": name, "every": every}).rowcount == 1


def clock_ticks(conn: Conn) -> bool:
    """Whether a clock's ticks got through of late."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return bool(cursor.execute(TICKS).fetchone())


def forget_old(conn: Conn) -> None:
    """Refusals of long ago."""
    conn.execute(FORGET)
