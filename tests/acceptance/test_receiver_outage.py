"""The database stops, hangs and comes back, under a gunicorn that goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from intake.db import migrate
from intake.embedded import Postgres, start_postgres
from tests.doorway import ANSWERS, as_json, event
from tests.unhurried import STORE_LIMIT
from tests.web_process import Answer, Web, web

BODY = as_json(ANSWERS)

# Seconds that the door allows its database here, and in which a refusal must be there; a machine may be slow.
LIMIT = 2.0
SOON = 8.0


@dataclass(slots=True)
class Outage:
    """A database, a door that gives up soon, and one that waits for it."""

    home: Path
    server: Postgres
    hasty: Web
    patient: Web

    @contextmanager
    def away(self, how: Literal["fast", "immediate"]) -> Iterator[None]:
        """The server is stopped in this block."""
        self.server.stop(how)
        try:
            yield
        finally:
            self.server = start_postgres(self.home, fsync=False)


@pytest.fixture(scope="module")
def outage(server_home: Path, tmp_path_factory: pytest.TempPathFactory, valkey_server: str) -> Iterator[Outage]:
    home = server_home / f"outage-{time.monotonic_ns()}"
    with ExitStack() as stack:
        server = stack.enter_context(start_postgres(home, fsync=False))
        migrate(server.url)
        hasty, patient = (
            stack.enter_context(
                web(
                    tmp_path_factory.mktemp("web"),
                    database_url=server.url,
                    redis_url=valkey_server,
                    WEB_STORE_LIMIT=str(limit),
                )
            )
            for limit in (LIMIT, STORE_LIMIT)
        )
        made = Outage(home, server, hasty, patient)
        yield made
        made.server.stop()


def fill_the_pools(made: Web) -> None:
    """Several connections in each process."""
    for i in range(20):
        assert made.post("web", BODY, delivery_id=f"msg_before_{i}").status == 200


def assert_told_to_come_again(answer: Answer, took: float) -> None:
    assert (answer.status, answer.document["error"]) == (503, "storage_unavailable")
    assert int(answer.headers["retry-after"]) > 0
    assert took < SOON


def timed(made: Web, name: str) -> tuple[Answer, float]:
    begin = time.monotonic()
    return made.post("web", BODY, delivery_id=name), time.monotonic() - begin


@contextmanager
def hanging(server: Postgres) -> Iterator[None]:
    """Every process of the server stands still, the first one first, so that it starts no more of them."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    os.kill(server.pid, signal.SIGSTOP)
    stopped = [server.pid, *map(int, children.read_text().split())]
    for pid in stopped[1:]:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in reversed(stopped):
            os.kill(pid, signal.SIGCONT)


def test_a_database_that_is_away_is_a_503_and_the_next_delivery_after_it_is_accepted(outage: Outage) -> None:
    fill_the_pools(outage.hasty)
    with outage.away("fast"):
        for i in range(4):
            assert_told_to_come_again(*timed(outage.hasty, f"msg_away_{i}"))
    answers = [outage.hasty.post("web", BODY, delivery_id=f"msg_away_{i}") for i in range(8)]
    assert [answer.status for answer in answers] == [200] * 8


def test_a_restart_between_two_deliveries_costs_none(outage: Outage) -> None:
    fill_the_pools(outage.patient)
    with outage.away("immediate"):
        pass
    answers = [outage.patient.post("web", BODY, delivery_id=f"msg_after_{i}") for i in range(30)]
    assert [answer.status for answer in answers] == [200] * 30


def test_a_database_that_hangs_is_a_503_and_the_next_delivery_after_it_is_accepted(outage: Outage) -> None:
    fill_the_pools(outage.hasty)
    with hanging(outage.server):
        for i in range(4):
            assert_told_to_come_again(*timed(outage.hasty, f"msg_hang_{i}"))
    again = [event(outage.hasty.post("web", BODY, delivery_id=f"msg_hang_{i}").document) for i in range(4)]
    # What was on its way when it hung may have been committed; then it is a duplicate, and there once.
    assert len({each["event_id"] for each in again}) == 4


def test_readiness_follows_the_database_and_health_does_not(outage: Outage) -> None:
    made = outage.hasty
    assert made.send("GET", "/readyz").status == 200
    with hanging(outage.server):
        begin = time.monotonic()
        unready = made.send("GET", "/readyz")
        took = time.monotonic() - begin
        assert made.send("GET", "/healthz").status == 200
    assert_told_to_come_again(unready, took)
    assert made.send("GET", "/readyz").status == 200


def test_a_database_without_tables_accepts_nothing(empty_database_url: str, tmp_path: Path, redis_url: str) -> None:
    with web(tmp_path, database_url=empty_database_url, redis_url=redis_url, WEB_WORKERS="1") as made:
        assert [made.send("GET", "/readyz").status, made.post("web", BODY, delivery_id="msg").status] == [503, 503]
        migrate(empty_database_url)
        assert [made.send("GET", "/readyz").status, made.post("web", BODY, delivery_id="msg").status] == [200, 200]
