"""The database stops, hangs and comes back, under a gunicorn that goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


@pytest.fixture
def home(server_home: Path) -> Path:
    """A database server of the test's own."""
    return server_home / f"outage-{time.monotonic_ns()}"


@contextmanager
def running(home: Path, tmp_path: Path, redis_url: str, limit: float = LIMIT) -> Iterator[tuple[Postgres, Web]]:
    with start_postgres(home, fsync=False) as server:
        migrate(server.url)
        with web(tmp_path, database_url=server.url, redis_url=redis_url, WEB_STORE_LIMIT=str(limit)) as made:
            yield server, made


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


def test_a_database_that_is_away_is_a_503_and_the_next_delivery_after_it_is_accepted(
    home: Path, tmp_path: Path, redis_url: str
) -> None:
    with running(home, tmp_path, redis_url) as (server, made):
        fill_the_pools(made)
        server.stop()
        for i in range(4):
            assert_told_to_come_again(*timed(made, f"msg_away_{i}"))
        with start_postgres(home, fsync=False):
            answers = [made.post("web", BODY, delivery_id=f"msg_away_{i}") for i in range(8)]
    assert [answer.status for answer in answers] == [200] * 8


def test_a_restart_between_two_deliveries_costs_none(home: Path, tmp_path: Path, redis_url: str) -> None:
    with running(home, tmp_path, redis_url, limit=STORE_LIMIT) as (server, made):
        fill_the_pools(made)
        server.stop("immediate")
        with start_postgres(home, fsync=False):
            answers = [made.post("web", BODY, delivery_id=f"msg_after_{i}") for i in range(30)]
    assert [answer.status for answer in answers] == [200] * 30


def test_a_database_that_hangs_is_a_503_and_the_next_delivery_after_it_is_accepted(
    home: Path, tmp_path: Path, redis_url: str
) -> None:
    with running(home, tmp_path, redis_url) as (server, made):
        fill_the_pools(made)
        with hanging(server):
            for i in range(4):
                assert_told_to_come_again(*timed(made, f"msg_hang_{i}"))
        again = [event(made.post("web", BODY, delivery_id=f"msg_hang_{i}").document) for i in range(4)]
        # What was on its way when it hung may have been committed; then it is a duplicate, and there once.
        assert len({each["event_id"] for each in again}) == 4


def test_readiness_follows_the_database_and_health_does_not(home: Path, tmp_path: Path, redis_url: str) -> None:
    with running(home, tmp_path, redis_url) as (server, made):
        assert made.send("GET", "/readyz").status == 200
        with hanging(server):
            begin = time.monotonic()
            unready = made.send("GET", "/readyz")
            took = time.monotonic() - begin
            assert made.send("GET", "/healthz").status == 200
        assert_told_to_come_again(unready, took)
        assert made.send("GET", "/readyz").status == 200


def test_a_database_without_tables_accepts_nothing(home: Path, tmp_path: Path, redis_url: str) -> None:
    with (
        start_postgres(home, fsync=False) as server,
        web(tmp_path, database_url=server.url, redis_url=redis_url, WEB_WORKERS="1") as made,
    ):
        assert [made.send("GET", "/readyz").status, made.post("web", BODY, delivery_id="msg").status] == [503, 503]
        migrate(server.url)
        assert [made.send("GET", "/readyz").status, made.post("web", BODY, delivery_id="msg").status] == [200, 200]
