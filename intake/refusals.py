"""How much the door refuses, by source, reason and hour, so that noise is noticed.

A refused request only counts in memory; a thread writes the counts every few seconds, all in one statement.  A process
that is killed loses those of some seconds: they are for alerts, and nothing else rests on them.  The log names the
first of a kind, and then how many there were: a flood that could write a line each would fill the disk.  Refused tests
are for whoever tries a sender out: they stand in the log alone, and are no noise.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import psycopg
import psycopg_pool
import structlog
from psycopg.types.json import Jsonb

from intake import background
from intake.db import Pool
from intake.identity import Mode

log = structlog.get_logger()

EVERY = 10.0  # seconds
# Kinds of refusals; mode, source and reason are closed lists, and this bounds the memory all the same.
MOST = 1000

ADD = """
    INSERT INTO refusals (source, reason, hour, count)
    SELECT source, reason, date_trunc('hour', clock_timestamp()), count
      FROM jsonb_to_recordset(%(rows)s) AS r (source text, reason text, count bigint)
     ORDER BY source, reason
    ON CONFLICT (source, reason, hour) DO UPDATE SET count = refusals.count + EXCLUDED.count
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """`source`: a name of the configuration, "" where it was none.  `reason`: the code that was answered."""

    mode: Mode
    source: str
    reason: str


@dataclass(slots=True)
class Refusals:
    """`pool` is the door's.  Nothing here waits for the database but the thread."""

    pool: Pool
    every: float = EVERY
    _counted: Counter[Refusal] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None

    def count(self, refusal: Refusal) -> None:
        """One more."""
        with self._lock:
            first = refusal not in self._counted
            if len(self._counted) < MOST:
                self._counted[refusal] += 1
            self._thread = background.begin(self._thread, self._run, "refusals")
        if first:
            log.info("delivery refused", **asdict(refusal))

    def _run(self) -> None:
        """Write what was counted, until nothing more comes for a while; the next refusal begins anew."""
        wait = threading.Event()
        while not wait.wait(self.every):
            self.write()

    def write(self) -> None:
        """Add what was counted to the table; while the database is away it is counted on."""
        with self._lock:
            counted, self._counted = self._counted, Counter()
        rows = _rows(counted)
        try:
            if rows:
                with self.pool.connection() as conn:
                    conn.execute(ADD, {"rows": Jsonb(rows)})
        except (psycopg.Error, psycopg_pool.PoolTimeout, psycopg_pool.PoolClosed) as away:
            log.warning("refusals not counted yet", error=type(away).__name__)
            with self._lock:
                self._counted += counted
        else:
            for refusal, number in counted.items():
                log.info("deliveries refused", **asdict(refusal), count=number)


def _rows(counted: Mapping[Refusal, int]) -> list[dict[str, object]]:
    live = [each for each in counted.items() if each[0].mode == "live"]
    return [{"source": each.source, "reason": each.reason, "count": count} for each, count in live]
