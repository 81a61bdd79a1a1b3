"""Who is alive: clocks and workers say so in PostgreSQL, where the readiness check and the doctor read it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from psycopg.rows import class_row

from intake.db import Conn

BEAT = """
    INSERT INTO heartbeats (process, name, at) VALUES (%(process)s, %(name)s, clock_timestamp())
    ON CONFLICT (process, name) DO UPDATE SET at = EXCLUDED.at
"""
FORGET = "DELETE FROM heartbeats WHERE at < clock_timestamp() - interval '1 day'"
AGES = """
    SELECT process, min(clock_timestamp() - at) AS age, count(*) FILTER (WHERE at > clock_timestamp() - interval '30 s')
           AS alive
      FROM heartbeats GROUP BY process ORDER BY process
"""


@dataclass(frozen=True, slots=True)
class Pulse:
    """The youngest heartbeat of a kind of process, and how many of them beat within the last half minute."""

    process: str
    age: timedelta
    alive: int


def beat(conn: Conn, *, process: Literal["clock", "worker"], name: str) -> None:
    """This process lives."""
    conn.execute(BEAT, {"process": process, "name": name})


def pulses(conn: Conn) -> list[Pulse]:
    """One row for each kind of process that ever beat."""
    with conn.cursor(row_factory=class_row(Pulse)) as cursor:
        return cursor.execute(AGES).fetchall()


def forget_dead(conn: Conn) -> None:
    """Hosts come and go; their names need not stay."""
    conn.execute(FORGET)
