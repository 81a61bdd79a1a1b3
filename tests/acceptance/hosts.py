"""Two web hosts with a spool each, workers, senders that never retry, and a database that goes away."""

from __future__ import annotations

import http.client
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import psycopg

from intake.db import migrate
from intake.embedded import Postgres, start_postgres
from tests.acceptance.test_receiver_outage import hanging
from tests.doorway import SOURCES, as_json, event, rows, tables
from tests.lab import Lab, lab
from tests.running import until
from tests.web_process import Web, web
from workers import clock, drain

# Seconds in which all that was spooled must be in the database, and all that is there in the CRM.
DRAINED_WITHIN, DELIVERED_WITHIN = 240.0, 600.0

# Seconds that each of the eight senders waits between two deliveries.
PAUSE = 0.25

# Longer than a lease of the lab's workers, and than its CRM takes to execute what it got.
LEASE_AND_LIMIT = timedelta(seconds=31)

OPEN = "SELECT state, reason, count(*) FROM deliveries WHERE state <> 'confirmed' GROUP BY 1, 2"


@dataclass(slots=True)
class Told:
    """What senders were told: the event's id, by what they sent.  `before`: events that others sent."""

    before: int
    ids: dict[tuple[str, str], list[UUID]] = field(default_factory=dict)
    states: Counter[str] = field(default_factory=Counter)
    refused: list[int] = field(default_factory=list)
    unanswered: int = 0
    slowest: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, made: Web, source: str, name: str) -> None:
        """One delivery, never again, whatever is answered.  `name` tells it from all others."""
        begin = time.monotonic()
        try:
            answer = made.post(source, form(name), delivery_id=name)
        except (OSError, http.client.HTTPException):
            with self._lock:
                self.unanswered += 1  # Its process was killed; nobody was told anything.
            return
        took = time.monotonic() - begin
        with self._lock:
            self.slowest = max(self.slowest, took)
            if answer.status != 200:
                self.refused.append(answer.status)
                return
            found = event(answer.document)
            self.ids.setdefault((source, name), []).append(UUID(str(found["event_id"])))
            self.states[str(found["state"])] += 1

    @property
    def figures(self) -> str:
        """For whoever measures."""
        sent = f"{len(self.ids)} things acknowledged {self.states.total()} times, {self.spooled()} of them from a spool"
        return f"{sent}; {self.unanswered} unanswered, {self.slowest:.2f} s at most\n"

    @property
    def all(self) -> set[UUID]:
        return {each for some in self.ids.values() for each in some}

    def spooled(self) -> int:
        """How many were acknowledged from a spool."""
        return self.states["spooled"]

    def stored(self) -> int:
        """How many were acknowledged from the database, whatever state they were in by then."""
        return self.states.total() - self.spooled()


def form(name: str) -> bytes:
    """One person's form."""
    return as_json({"name": f"Persona {name}", "email": f"{name}@example.com", "message": name})


@dataclass(slots=True)
class Hosts:
    """Two web hosts, the database that both use, and the workers."""

    url: str
    home: Path
    server: Postgres
    webs: tuple[Web, Web]
    lab: Lab

    @contextmanager
    def load(self, told: Told) -> Iterator[None]:
        """Eight senders in the block."""
        over = threading.Event()
        with ThreadPoolExecutor(8) as pool:
            senders = [pool.submit(self._send, told, number, over) for number in range(8)]
            try:
                yield
            finally:
                over.set()
        for each in senders:
            each.result()

    def _send(self, told: Told, number: int, over: threading.Event) -> None:
        """Each third form comes without an id, and twice: at both hosts at once, or at one after the other."""
        with ThreadPoolExecutor(1 + number % 2) as visitor:
            for count in itertools.count():
                name = f"{told.before}-{number}-{count}"
                if count % 3:
                    told.send(self.webs[count % 2], "web", name)
                else:
                    list(visitor.map(lambda made, name=name: told.send(made, "by-body", name), self.webs))
                if over.wait(PAUSE):
                    return

    def events(self) -> int:
        """How many there are."""
        (row,) = rows(self.url, "SELECT count(*) AS n FROM events")
        return int(str(row["n"]))

    def wait_until_drained(self) -> None:
        drained = until(lambda: all(waiting(made) == 0 for made in self.webs), DRAINED_WITHIN)
        assert drained, [made.log.read_text()[-2000:] for made in self.webs]

    def wait_until_delivered(self) -> None:
        """What was in doubt when the database went is looked at when its time has come, which is made to come soon."""
        limit = time.monotonic() + DELIVERED_WITHIN
        while open_ones := self.lab.rows(OPEN):
            assert time.monotonic() < limit, open_ones
            clock.tick(self.lab.pool, name="spool")
            if not drain.drain(self.lab.desk, threads=4):
                self.lab.pass_time(LEASE_AND_LIMIT)


@contextmanager
def working(made: Lab) -> Iterator[None]:
    """A worker and the clock in this block; a database that is away is waited for."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.1):
            with suppress(psycopg.OperationalError):
                clock.tick(made.pool, name="spool")
                drain.drain(made.desk, threads=4, stop=over)

    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(work)
        try:
            yield
        finally:
            over.set()
    worker.result()


def waiting(made: Web) -> object:
    spool = made.send("GET", "/readyz").document.get("spool")
    assert isinstance(spool, dict)
    return spool["bytes"]


def spooling(folder: Path) -> str:
    return f'spool_dir = "{folder / "spool"}"\nspool_persistent = true\n'


@contextmanager
def two_hosts(home: Path, base: Path, redis_url: str) -> Iterator[Hosts]:
    """`home`: of the database's server.  `base`: of everything else."""
    with ExitStack() as stack:
        server = stack.enter_context(start_postgres(home))
        migrate(server.url)
        made = []
        for name in ("one", "two"):
            folder = base / name
            folder.mkdir()
            host = web(
                folder, database_url=server.url, redis_url=redis_url, intake=spooling(folder), WEB_STORE_LIMIT="0.9"
            )
            made.append(stack.enter_context(host))
        named = {name: SOURCES[name] for name in ("web", "by-body", "keyed")}
        workers = stack.enter_context(lab(server.url, base, sources=tables(named)))
        both = Hosts(server.url, home, server, (made[0], made[1]), workers)
        yield both
        both.server.stop()


@contextmanager
def stopped(hosts: Hosts) -> Iterator[None]:
    hosts.server.stop("immediate")
    try:
        yield
    finally:
        hosts.server = start_postgres(hosts.home)


@contextmanager
def hung(hosts: Hosts) -> Iterator[None]:
    """It accepts connections, as the kernel does for it, and says nothing."""
    with hanging(hosts.server):
        yield


Away = Callable[[Hosts], AbstractContextManager[None]]
