"""The clock: every second it takes back what lost its worker, wakes what may go on, and hints at what is due.

Each tick is idempotent; any number of clocks may run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psycopg
import structlog
from psycopg.rows import scalar_row

from intake import deliveries, fetches, person_arrows, refused
from intake.db import Conn, Pool, transaction
from intake.heartbeats import beat

log = structlog.get_logger()

EVERY = 1.0  # seconds

# What may be many is asked for its first time, which an index tells also where nothing is due.
# What has a time at which it is due may be claimed (due_iff_claimable).
DUE = """
    SELECT EXISTS (SELECT FROM lanes WHERE due_at <= statement_timestamp())
        OR (SELECT min(look_at) FROM records) <= statement_timestamp()
        OR EXISTS (SELECT FROM accounts WHERE control_at <= statement_timestamp())
        OR EXISTS (SELECT FROM fetches f WHERE due_at <= statement_timestamp()
                      AND NOT EXISTS (SELECT FROM fetch_lanes l WHERE l.source = f.source))
        OR EXISTS (SELECT FROM fetch_lanes WHERE control_at <= statement_timestamp())
        OR EXISTS (SELECT FROM pulls WHERE due_at <= statement_timestamp())
        OR EXISTS (SELECT FROM reconciliation_runs WHERE due_at <= statement_timestamp())
        OR EXISTS (SELECT FROM bulk_items i JOIN bulk_runs r USING (bulk_id)
                    WHERE i.result IS NULL AND r.stopped_at IS NULL)
"""


@dataclass(frozen=True, slots=True)
class Ticked:
    """What one tick did."""

    released: int
    woken: int
    due: bool


def tick(pool: Pool, *, name: str, missing: Sequence[str] | None = None) -> Ticked:
    """One round.  `name` and `missing`: this clock's, and the secrets that it lacks, for its heartbeat."""
    with transaction(pool) as conn:
        released = deliveries.release_expired(conn)
        person_arrows.expire(conn)
        woken = deliveries.wake(conn) + fetches.wake(conn)
        refused.purge(conn)
        beat(conn, process="clock", name=name, missing=missing)
        return Ticked(released, woken, _due(conn))


def _due(conn: Conn) -> bool:
    with conn.cursor(row_factory=scalar_row) as cursor:
        return bool(cursor.execute(DUE).fetchone())


def run(
    pool: Pool,
    *,
    name: str,
    hint: Callable[[], object],
    stop: threading.Event,
    missing: Sequence[str] | None = None,
) -> None:
    """Tick until `stop` is set.  A database that is away is waited for."""
    while not stop.wait(EVERY):
        try:
            ticked = tick(pool, name=name, missing=missing)
        except psycopg.Error as away:
            log.warning("clock tick failed", error=type(away).__name__)
            continue
        if ticked.released or ticked.woken:
            log.info("clock ticked", released=ticked.released, woken=ticked.woken)
        if ticked.due:
            hint()
