"""Who is alive: clocks, workers and web processes say so in PostgreSQL, for the readiness check and the doctor."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import structlog
from psycopg.rows import class_row

from intake.db import Conn, Pool, transaction

log = structlog.get_logger()

ProcessKind = Literal["clock", "worker", "web"]

EVERY = 5.0  # seconds

BEAT = """
    INSERT INTO heartbeats (process, name, at, missing) VALUES (%(process)s, %(name)s, clock_timestamp(), %(missing)s)
    ON CONFLICT (process, name) DO UPDATE SET at = EXCLUDED.at, missing = EXCLUDED.missing
"""
FORGET = "DELETE FROM heartbeats WHERE at < statement_timestamp() - interval '1 day'"
AGES = """
    SELECT process, min(clock_timestamp() - at) AS age,
           count(*) FILTER (WHERE at > statement_timestamp() - interval '30 s') AS alive
      FROM heartbeats GROUP BY process ORDER BY process
"""


@dataclass(frozen=True, slots=True)
class Pulse:
    """The youngest heartbeat of a kind of process, and how many of them beat within the last half minute."""

    process: str
    age: timedelta
    alive: int


def process_name() -> str:
    """A name for this process among all hosts'."""
    return f"{socket.gethostname()}-{os.getpid()}"


def beat(conn: Conn, *, process: ProcessKind, name: str, missing: Sequence[str] | None = None) -> None:
    """This process lives.  `missing`: the secrets that it lacks (`intake.missing_secrets`), None: it does not say."""
    conn.execute(BEAT, {"process": process, "name": name, "missing": None if missing is None else list(missing)})


def keep_beating(
    pool: Pool, *, process: ProcessKind, missing: Sequence[str], stop: threading.Event, every: float = EVERY
) -> None:
    """Say that this process lives, at once and until it stops.  `every`: in seconds."""
    while not stop.is_set():
        try:
            with transaction(pool) as conn:
                beat(conn, process=process, name=process_name(), missing=missing)
        except Exception as away:  # noqa: BLE001  # A heartbeat that fails is what others shall see.
            log.warning("heartbeat failed", error=type(away).__name__)
        stop.wait(every)


def pulses(conn: Conn) -> list[Pulse]:
    """One row for each kind of process that ever beat."""
    with conn.cursor(row_factory=class_row(Pulse)) as cursor:
        return cursor.execute(AGES).fetchall()


# --- what they lack -------------------------------------------------------------------------------------------------

LACKING = """
    SELECT process, array(SELECT DISTINCT lacked FROM heartbeats h, unnest(h.missing) AS lacked
                           WHERE h.process = b.process AND h.at > statement_timestamp() - interval '30 s'
                           ORDER BY lacked) AS names
      FROM heartbeats b
     WHERE missing IS NOT NULL AND at > statement_timestamp() - interval '30 s'
     GROUP BY process
"""


@dataclass(frozen=True, slots=True)
class Lacking:
    """The secrets that at least one living process of a kind lacks."""

    process: ProcessKind
    names: list[str]


def lacking(conn: Conn) -> dict[ProcessKind, Lacking]:
    """By kind of process; a kind of which none lives, or none says, is missing."""
    with conn.cursor(row_factory=class_row(Lacking)) as cursor:
        return {each.process: each for each in cursor.execute(LACKING).fetchall()}


def forget_dead(conn: Conn) -> None:
    """Hosts come and go; their names need not stay."""
    conn.execute(FORGET)
