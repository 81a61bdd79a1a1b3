"""The threads of a worker take turns at fewer connections to PostgreSQL than there are threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from psycopg_pool import PoolTimeout

from crm_clients.transport import Transport
from crm_clients.watchdog import boot_clock
from intake.config import Process
from intake.db import BoundedConnection, Pool
from tests.commands import beside
from tests.lab import Lab, lab
from workers import wiring
from workers.desk import Desk
from workers.drain import drain, one


@pytest.fixture
def made(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as one:
        yield one


@pytest.fixture
def desk_with(made: Lab, tmp_path: Path) -> Callable[[Mapping[str, str]], Desk]:
    def desk(said: Mapping[str, str]) -> Desk:
        environ = {**beside(made, tmp_path), **said}
        return wiring.desk_of(Process.from_environ(environ), made.settings, environ)

    return desk


def test_a_worker_holds_no_more_connections_than_its_setting_says(
    desk_with: Callable[[Mapping[str, str]], Desk],
) -> None:
    with closing(desk_with({"INTAKE_THREADS": "64", "INTAKE_CONNECTIONS": "3"}).pool) as pool:
        assert (pool.max_size, pool.timeout) == (3, wiring.TURN)


def test_a_worker_of_few_threads_holds_no_more_than_they_need(
    desk_with: Callable[[Mapping[str, str]], Desk],
) -> None:
    with closing(desk_with({"INTAKE_THREADS": "2"}).pool) as pool:
        assert pool.max_size == 4


def test_many_threads_deliver_with_two_connections(made: Lab, desk_with: Callable[[Mapping[str, str]], Desk]) -> None:
    events = [made.form(email=f"ana{number}@example.com", phone=f"98765432{number}") for number in range(6)]
    desk = desk_with({"INTAKE_THREADS": "6", "INTAKE_CONNECTIONS": "2"})
    with closing(desk.pool), desk.transport:
        drain(desk, threads=6)
    assert [made.state(each) for each in events] == ["confirmed"] * 6


@dataclass
class Crowded:
    """A pool in which everybody waits so long for a connection, in seconds, by the clock that it is."""

    pool: Pool
    takes: float
    waited: float = 0.0

    def connection(self, timeout: float | None = None) -> AbstractContextManager[BoundedConnection]:
        self.waited += self.takes
        return self.pool.connection(timeout)

    def clock(self) -> float:
        return boot_clock() + self.waited


def test_a_wait_for_a_connection_takes_nothing_of_the_time_to_send(made: Lab) -> None:
    event = made.form()
    crowded = Crowded(made.pool, takes=2 * made.desk.patience.send_within.total_seconds())
    with Transport(clock=crowded.clock) as transport:
        assert one(made.other_desk(pool=crowded, clock=crowded.clock, transport=transport))
    assert {each["outcome"] for each in made.attempts(event) if each["kind"] == "write"} == {"confirmed"}


@dataclass
class StandsStill:
    """A pool that has no connection for so many seconds: who waits for less gets none."""

    pool: Pool
    seconds: float = 0.0

    def connection(self, timeout: float | None = None) -> AbstractContextManager[BoundedConnection]:
        if self.seconds >= (wiring.TURN if timeout is None else timeout):
            raise PoolTimeout
        self.seconds = 0.0
        return self.pool.connection(timeout)


def test_an_answer_waits_longer_for_its_turn_than_what_is_only_asked(made: Lab) -> None:
    event, pool = made.form(), StandsStill(made.pool)

    def at(boundary: str) -> None:
        if boundary == "contact.answered":
            pool.seconds = 2 * wiring.TURN

    assert one(made.other_desk(pool=pool, at=at))
    assert made.state(event) == "confirmed"
    assert {each["outcome"] for each in made.attempts(event) if each["kind"] == "write"} == {"confirmed"}
