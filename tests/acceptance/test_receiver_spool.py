"""PostgreSQL stops, and hangs, under senders that never retry, on two web hosts with a spool each."""

from __future__ import annotations

import http.client
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import pytest

from intake.db import migrate
from intake.embedded import Postgres, start_postgres
from tests.acceptance.test_receiver_outage import hanging
from tests.doorway import ANSWERS, as_json, event, rows
from tests.web_process import Web, web

# Seconds in which every sender must be answered, and in which all that was spooled must be in the database.
SOON, DRAINED_WITHIN = 5.0, 240.0


@dataclass(slots=True)
class Told:
    """What senders were told: the event's id, by what they sent."""

    ids: dict[tuple[str, str], list[UUID]] = field(default_factory=dict)
    states: list[str] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    unanswered: int = 0
    slowest: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, made: Web, source: str, name: str) -> None:
        """One delivery, never again, whatever is answered.  `name` tells it from all others."""
        begin = time.monotonic()
        try:
            answer = made.post(source, as_json(ANSWERS | {"message": name}), delivery_id=name)
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
            self.states.append(str(found["state"]))

    @property
    def all(self) -> set[UUID]:
        return {each for some in self.ids.values() for each in some}


@dataclass(slots=True)
class Hosts:
    """Two web hosts, and the database that both use."""

    url: str
    home: Path
    server: Postgres
    webs: tuple[Web, Web]

    def load(self, told: Told, seconds: float, pause: float = 0.02) -> None:
        """Eight senders for a while; each third form comes without an id, and twice, once at each host."""
        until = time.monotonic() + seconds

        def run(number: int) -> None:
            count = 0
            while time.monotonic() < until:
                count += 1
                name = f"{number}-{count}-{until}"
                if count % 3:
                    told.send(self.webs[count % 2], "web", name)
                else:
                    for made in self.webs:
                        told.send(made, "by-body", name)
                time.sleep(pause)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(run, range(8)))

    def wait_until_drained(self) -> None:
        until = time.monotonic() + DRAINED_WITHIN
        while time.monotonic() < until:
            if all(waiting(made) == 0 for made in self.webs):
                return
            time.sleep(0.2)
        raise AssertionError([made.log.read_text()[-2000:] for made in self.webs])


def waiting(made: Web) -> object:
    spool = made.send("GET", "/readyz").document.get("spool")
    assert isinstance(spool, dict)
    return spool["bytes"]


def spooling(folder: Path) -> str:
    return f'spool_dir = "{folder / "spool"}"\nspool_persistent = true\n'


@pytest.fixture
def hosts(server_home: Path, tmp_path: Path, redis_url: str) -> Iterator[Hosts]:
    home = server_home / f"spool-{time.monotonic_ns()}"
    with ExitStack() as stack:
        server = stack.enter_context(start_postgres(home))
        migrate(server.url)
        made = []
        for name in ("one", "two"):
            folder = tmp_path / name
            folder.mkdir()
            host = web(folder, database_url=server.url, redis_url=redis_url, intake=spooling(folder))
            made.append(stack.enter_context(host))
        both = Hosts(server.url, home, server, (made[0], made[1]))
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
    with hanging(hosts.server):
        yield


FOUND = "SELECT event_id AS told, event_id FROM events UNION SELECT alias, event_id FROM event_aliases"
COUNT = "SELECT count(*) AS events, count(DISTINCT need_id) AS needs FROM events JOIN deliveries USING (event_id)"


def events_of(hosts: Hosts, told: set[UUID]) -> dict[UUID, UUID]:
    """By the id that a sender was told: the event that it leads to."""
    found = rows(
        hosts.url, "SELECT event_id AS told, event_id FROM events UNION SELECT alias, event_id FROM event_aliases"
    )
    known = {row["told"]: row["event_id"] for row in found}
    return {each: UUID(str(known[each])) for each in told if each in known}


@pytest.mark.parametrize("away", [stopped, hung])
def test_all_that_was_acknowledged_is_there_once(
    hosts: Hosts, away: Callable[[Hosts], AbstractContextManager[None]]
) -> None:
    told = Told()
    with ThreadPoolExecutor(1) as pool:
        senders = pool.submit(hosts.load, told, 8.0)
        time.sleep(2.0)
        with away(hosts):
            time.sleep(4.0)
            ready = [made.send("GET", "/readyz") for made in hosts.webs]
        senders.result()
    hosts.wait_until_drained()
    # No balancer may take out a host that can keep deliveries.
    assert [(each.status, each.document["database"]) for each in ready] == [(200, "away")] * 2
    assert told.refused == []
    assert "spooled" in told.states
    assert told.slowest < SOON
    became = events_of(hosts, told.all)
    assert became.keys() == told.all
    # One event for each thing that was sent, also where its two senders were told two ids.
    assert all(len({became[each] for each in ids}) == 1 for ids in told.ids.values())
    (count,) = rows(hosts.url, COUNT)
    assert count == {"events": len(told.ids), "needs": len(told.ids)}


@pytest.mark.slow
def test_a_minute_of_each_with_web_processes_killed_in_between(hosts: Hosts) -> None:
    told = Told()
    with ThreadPoolExecutor(1) as pool:
        senders = pool.submit(hosts.load, told, 130.0, 0.2)
        for away in (stopped, hung):
            with away(hosts):
                for _ in range(6):
                    time.sleep(10.0)
                    os.kill(min(hosts.webs[0].workers()), signal.SIGKILL)
        senders.result()
    hosts.wait_until_drained()
    assert told.refused == []
    assert told.states.count("spooled") > 100
    became = events_of(hosts, told.all)
    assert became.keys() == told.all
    assert all(len({became[each] for each in ids}) == 1 for ids in told.ids.values())
    (count,) = rows(hosts.url, COUNT)
    assert isinstance(count["events"], int)
    assert len(told.ids) <= count["events"] <= len(told.ids) + told.unanswered
