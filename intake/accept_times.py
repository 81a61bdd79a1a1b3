"""How long the receiver takes for what it accepts, for Prometheus: counted in memory, written by a thread.

A process that is killed loses what it counted in some seconds; nothing rests on it.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psycopg
import psycopg_pool
import structlog
from psycopg.types.json import Jsonb

from intake import background
from intake.db import Pool

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = structlog.get_logger()

EVERY = 10.0  # seconds

# In seconds.  The database is given 0.9 by default; the least patient senders wait for 5.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, float("inf"))

ADD = """
    INSERT INTO accept_times (most, count, seconds)
    SELECT most, count, seconds
      FROM jsonb_to_recordset(%(rows)s) AS r (most double precision, count bigint, seconds double precision)
     ORDER BY most
    ON CONFLICT (most) DO UPDATE
       SET count = accept_times.count + EXCLUDED.count, seconds = accept_times.seconds + EXCLUDED.seconds
"""


@dataclass(slots=True)
class AcceptTimes:
    """`pool` is the door's.  Nothing here waits for the database but the thread, which `start` lets run."""

    pool: Pool
    every: float = EVERY
    start: Callable[[threading.Thread], object] = threading.Thread.start
    _counted: Counter[float] = field(default_factory=Counter)
    _seconds: dict[float, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None

    def note(self, seconds: float) -> None:
        """One more delivery was accepted, in so many seconds."""
        most = BUCKETS[bisect_left(BUCKETS, seconds)]
        with self._lock:
            self._counted[most] += 1
            self._seconds[most] = self._seconds.get(most, 0.0) + seconds
            self._thread = background.begin(self._thread, self._run, "accept-times", self.start)

    def _run(self) -> None:
        wait = threading.Event()
        while not wait.wait(self.every):
            self.write()

    def write(self) -> None:
        """Add what was counted to the table; while the database is away it is counted on."""
        with self._lock:
            counted, seconds = self._counted, self._seconds
            self._counted, self._seconds = Counter(), {}
        if not counted:
            return
        rows = [{"most": _told(most), "count": number, "seconds": seconds[most]} for most, number in counted.items()]
        try:
            with self.pool.connection() as conn:
                conn.execute(ADD, {"rows": Jsonb(rows)})
        except (psycopg.Error, psycopg_pool.PoolTimeout, psycopg_pool.PoolClosed) as away:
            log.warning("times not counted yet", error=type(away).__name__)
            with self._lock:
                self._counted += counted
                for most, more in seconds.items():
                    self._seconds[most] = self._seconds.get(most, 0.0) + more


def _told(most: float) -> float | str:
    """JSON has no infinity; PostgreSQL reads the word."""
    return "Infinity" if most == float("inf") else most


@dataclass(frozen=True, slots=True)
class Timed:
    """A WSGI application that notes how long each accepted POST took, from its headers to the whole answer."""

    inner: WSGIApplication
    note: Callable[[float], None]
    clock: Callable[[], float] = time.perf_counter

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        if environ["REQUEST_METHOD"] != "POST" or not environ["PATH_INFO"].startswith("/hooks/"):
            return self.inner(environ, start_response)
        began, status = self.clock(), ""

        def started(given: str, *rest: object) -> object:
            nonlocal status
            status = given
            return start_response(given, *rest)  # type: ignore[arg-type]  # handed on as it came

        answer = self.inner(environ, started)  # type: ignore[arg-type]  # a start_response with its arguments unnamed
        if status.startswith("2"):
            self.note(self.clock() - began)
        return answer
