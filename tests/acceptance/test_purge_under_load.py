"""Old events are purged and people forgotten while leads come; how much slower they are accepted meanwhile is told.

PURGE_EVENTS: how many are stored and old (300); FORGET_PEOPLE: how many are forgotten at once, by a file (3);
PURGE_QUIET: for how many seconds the door is measured alone (2).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from intake import installation
from intake.db import migrate
from intake.embedded import start_postgres, start_valkey
from tests.doorway import ENVIRON, SOURCES, as_json
from tests.web_process import CHECKOUT, Web, web

pytestmark = pytest.mark.slow

EVENTS = int(os.environ.get("PURGE_EVENTS") or 300)
PEOPLE = int(os.environ.get("FORGET_PEOPLE") or 3)
QUIET = float(os.environ.get("PURGE_QUIET") or 2)

STOCK = Path(__file__).parents[1] / "bench" / "stock.sql"
KEPT = "payload_retention_days = 8\nattempt_retention_days = 8\ndecision_retention_days = 8\nkey_retention_days = 8\n"


@dataclass(slots=True)
class Senders:
    """What two senders saw: seconds from each request to its answer."""

    web: Web
    statuses: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def during(self, over: threading.Event) -> list[float]:
        """Send until it is over; how long each took meanwhile."""
        first = len(self.seconds)
        with ThreadPoolExecutor(2) as pool:
            for each in [pool.submit(self._send, number, over) for number in range(2)]:
                each.result()
        return self.seconds[first:]

    def _send(self, number: int, over: threading.Event) -> None:
        while not over.is_set():
            count = len(self.statuses)
            self.post(f"load-{number}-{count}-{time.monotonic_ns()}")
            over.wait(0.02)

    def post(self, name: str) -> None:
        body = as_json({"name": "Ana Prueba", "email": f"{name}@example.com", "message": name})
        began = time.monotonic()
        answer = self.web.post("web", body, delivery_id=name)
        self.seconds.append(time.monotonic() - began)
        self.statuses.append(answer.status)


@dataclass(frozen=True, slots=True)
class Place:
    """`environ`: of commands, which are the owner's."""

    url: str
    environ: dict[str, str]
    senders: Senders

    def meanwhile(self, *command: str) -> tuple[str, list[float], float]:
        """Run a program while leads come: what it printed, how long they took, and how long it took."""
        over, began = threading.Event(), time.monotonic()
        with ThreadPoolExecutor(1) as pool:
            seen = pool.submit(self.senders.during, over)
            try:
                done = subprocess.run(
                    [sys.executable, *command],
                    cwd=CHECKOUT,
                    env=self.environ,
                    capture_output=True,
                    text=True,
                    check=False,
                )
            finally:
                over.set()
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout, seen.result(), time.monotonic() - began

    def quiet(self) -> list[float]:
        over = threading.Event()
        timer = threading.Timer(QUIET, over.set)
        timer.start()
        return self.senders.during(over)

    def count(self, table: str) -> int:
        with psycopg.connect(self.url) as conn:
            (row,) = conn.execute(f"SELECT count(*) FROM {table}".encode()).fetchall()  # noqa: S608  # a name of ours
        return int(row[0])


@pytest.fixture(scope="module")
def place(server_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server that puts its commits on the disk, a database full of old events, and a door."""
    home = server_home / "purging"
    folder = tmp_path_factory.mktemp("purging")
    sources = {"web": SOURCES["web"] + KEPT}
    with start_postgres(home) as server, start_valkey(home) as valkey:
        migrate(server.url)
        fill(server.url)
        with web(folder, database_url=server.url, redis_url=valkey.url, sources=sources) as door:
            environ = {
                **{name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG"}},
                **ENVIRON,
                "DATABASE_URL": server.url,
                "REDIS_URL": valkey.url,
                "INTAKE_HOME": str(folder),
                "INTAKE_CONFIG": str(folder / "intake.toml"),
            }
            with psycopg.connect(server.url) as conn:
                installation.pin(installation.read(conn), folder / "installation", ours=True)
            yield Place(server.url, environ, Senders(door))


def fill(url: str) -> None:
    script = STOCK.read_text("utf-8").replace("%(stored)s", str(EVENTS)).replace("%(pending)s", "0")
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(script.replace("interval '1 day'", "interval '30 days'").encode())
        conn.execute("VACUUM (ANALYZE)")


def told(what: str, took: float, busy: list[float], quiet: list[float]) -> None:
    """For whoever measures; a busy machine's ratios are no reason to fail."""
    ratio = statistics.median(busy) / statistics.median(quiet)
    worst = statistics.quantiles(busy, n=100)[98] / statistics.quantiles(quiet, n=100)[98]
    each = f"{statistics.median(quiet) * 1000:.1f} ms quiet, {statistics.median(busy) * 1000:.1f} ms meanwhile"
    print(f"{what}: {took:.1f} s; accepted in {each}; median x{ratio:.2f}, 99th of 100 x{worst:.2f}, {len(busy)} sent")  # noqa: T201


def test_people_are_forgotten_and_old_events_purged_while_leads_come(place: Place, tmp_path: Path) -> None:
    """Forgotten first, while all that is old stands, so that there is most to be read."""
    for number in range(PEOPLE):
        place.senders.post(f"person{number}")
    quiet = place.quiet()
    people = tmp_path / "people.csv"
    people.write_text("\n".join(["email", *(f"person{number}@example.com" for number in range(PEOPLE))]), "utf-8")
    forgetting = ("forget", "--people", str(people), "--by", "rosa", "--reason", "asked to be", "--cancel-open")
    out, busy, took = place.meanwhile("-m", "workers.main", *forgetting, "--json")
    told(f"{PEOPLE} people forgotten among {EVENTS + len(place.senders.statuses)} events", took, busy, quiet)
    assert [each["counts"]["leads"] for each in json.loads(out)["certificates"]] == [1] * PEOPLE
    assert place.count("forgotten") == PEOPLE
    assert "person" not in leads(place)
    quiet = place.quiet()
    out, busy, took = place.meanwhile("-m", "workers.main", "purge", "--json")
    told(f"{EVENTS} events purged", took, busy, quiet)
    assert json.loads(out)["identities"] == EVENTS
    assert set(place.senders.statuses) == {200}
    assert place.count("events") == len(place.senders.statuses)


def leads(place: Place) -> str:
    """The contents that name who asked to be forgotten."""
    query = "SELECT convert_from(content, 'UTF8') FROM bodies WHERE convert_from(content, 'UTF8') LIKE '%person%'"
    with psycopg.connect(place.url) as conn:
        return " ".join(str(row[0]) for row in conn.execute(query))
