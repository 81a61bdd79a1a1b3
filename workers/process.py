"""One worker process: its desk, made once, and how it stops."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace

import redis
import structlog
from rq import SimpleWorker
from rq.exceptions import StopRequested
from rq.serializers import JSONSerializer

from intake import queue
from intake.config import Process
from intake.heartbeats import keep_beating
from intake.missing_secrets import missing
from workers import wiring
from workers.desk import Desk
from workers.drain import drain

log = structlog.get_logger()

# RQ waits 5 s less than this for an answer of Redis, in seconds; by its own 420 a host that vanished without a word
# would hold up the leads for as long.
REDIS_SILENCE = 30

# After RQ gave up, in seconds.
BEGINS_AGAIN = 1.0


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """The desk and the threads of this process; `stopping` ends a drain after the calls in hand."""

    desk: Desk
    threads: int
    stopping: threading.Event

    def drain(self) -> int:
        """One job."""
        return drain(self.desk, threads=self.threads, stop=self.stopping)

    def beat(self) -> None:
        """Say that this process lives, until it stops."""
        lacks = missing(self.desk.settings, "worker")
        keep_beating(self.desk.pool, process="worker", missing=lacks, stop=self.stopping)


# RQ calls a job by its name, so that the job looks here for the process in which it runs.
CURRENT: ContextVar[WorkerProcess] = ContextVar("CURRENT")


def from_environ(environ: Mapping[str, str]) -> WorkerProcess:
    """A worker as the environment wants it; a destination that cannot be used is told, and holds no other up.

    Raises ConfigError, Mismatch, LookupError, psycopg.Error.
    """
    process = Process.from_environ(environ)
    settings = wiring.settings_of(process, environ)
    unusable = wiring.unusable(settings, environ)
    for each in settings.destinations.values():
        if why := unusable.get(each.name) or each.unfinished:
            log.error("nothing is delivered there", destination=each.name, why=why)
    stopping = threading.Event()
    desk = replace(wiring.desk_of(process, settings, environ, without=unusable), stopping=stopping.is_set)
    return WorkerProcess(desk, process.threads, stopping)


class Worker(SimpleWorker):
    """RQ's worker without a fork for each job; a stop lets the calls in hand end and claims nothing more."""

    # Seconds between two tries to reach Redis again; RQ's own pauses grow to a minute, and leads would wait with them.
    max_connection_wait_time = 5.0

    def request_stop(self, signum: int, frame: object) -> None:
        """SIGTERM or SIGINT."""
        CURRENT.get().stopping.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # RQ publishes no types here


def run(redis_url: str, worker: WorkerProcess) -> None:
    """Take jobs until a signal.  RQ's own retry is off: PostgreSQL decides when to try again."""
    CURRENT.set(worker)
    threading.Thread(target=worker.beat, name="heartbeat", daemon=True).start()
    client = queue.connect(redis_url, patience=None)
    while not worker.stopping.is_set():
        _take_jobs(client)
        # The handlers of RQ's worker stand still, and end it from wherever a signal finds this process.
        with suppress(StopRequested, redis.RedisError):
            worker.stopping.wait(BEGINS_AGAIN)


def _take_jobs(client: redis.Redis) -> None:
    """Until a signal, or until RQ gives up: it outlives an absence of Redis only while it waits for a job."""
    try:
        rq_worker = Worker(
            [queue.queue(client)], connection=client, serializer=JSONSerializer, worker_ttl=REDIS_SILENCE
        )
        rq_worker.work(logging_level="WARNING")
    except redis.RedisError as away:
        log.warning("Redis lost", error=type(away).__name__)
