"""One worker process: its desk, made once, and how it stops."""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import dataclass
from functools import cache

import structlog
from rq import SimpleWorker
from rq.serializers import JSONSerializer

from intake import queue
from intake.config import Process
from intake.db import transaction
from intake.heartbeats import beat
from workers import wiring
from workers.desk import Desk
from workers.drain import drain

log = structlog.get_logger()

HEARTBEAT = 5.0  # seconds


def process_name() -> str:
    """A name for this process among all hosts'."""
    return f"{socket.gethostname()}-{os.getpid()}"


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """The desk and the threads of this process; `stopping` ends a drain after the pieces of work in hand."""

    desk: Desk
    threads: int
    stopping: threading.Event

    def drain(self) -> int:
        """One job."""
        return drain(self.desk, threads=self.threads, stop=self.stopping)

    def beat(self) -> None:
        """Say that this process lives, until it stops."""
        while not self.stopping.wait(HEARTBEAT):
            try:
                with transaction(self.desk.pool) as conn:
                    beat(conn, process="worker", name=process_name())
            except Exception as away:  # noqa: BLE001  # A heartbeat that fails is what others shall see.
                log.warning("heartbeat failed", error=type(away).__name__)


@cache
def current() -> WorkerProcess:
    """This process's tools, from the environment.  Raises ConfigError, Mismatch, LookupError."""
    process = Process.from_environ(os.environ)
    settings = wiring.settings_of(process, os.environ)
    return WorkerProcess(wiring.desk_of(process, settings, os.environ), process.threads, threading.Event())


class Worker(SimpleWorker):
    """RQ's worker without a fork for each job; a stop lets the work in hand end and claims nothing more."""

    def request_stop(self, signum: int, frame: object) -> None:
        """SIGTERM or SIGINT."""
        current().stopping.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # RQ publishes no types here


def run(redis_url: str) -> None:
    """Take jobs until a signal.  RQ's own retry is off: PostgreSQL decides when to try again."""
    worker = current()
    threading.Thread(target=worker.beat, name="heartbeat", daemon=True).start()
    client = queue.connect(redis_url, patience=None)
    Worker([queue.queue(client)], connection=client, serializer=JSONSerializer).work(logging_level="WARNING")
