"""A CRM that limits calls: few are wasted on it, other accounts go on, and nothing rests on Redis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
import redis

from crm_clients.abilities import CALLS, Limit
from crm_clients.base import Request
from crm_clients.sandbox.client import SandboxClient
from intake import queue
from tests.lab import Lab, lab
from workers import drain
from workers.desk import Desk
from workers.limiter import RedisLimiter

THREADS = 4
WAIT = 3  # seconds that the CRM asks for


@dataclass(slots=True)
class Limited:
    """A lab whose CRM refuses calls for now, and whose limiter has a clock that a test moves."""

    lab: Lab
    client: redis.Redis
    seconds: float = 1_800_000_000.0

    def limiter(self) -> RedisLimiter:
        return RedisLimiter(self.client, now=lambda: self.seconds, clock=lambda: self.seconds, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def desk(self) -> Desk:
        return self.lab.other_desk(limiter=self.limiter())

    def leads(self, number: int = 5) -> list[UUID]:
        return [self.lab.form(email=f"p{n}@example.com", phone=f"9876543{n:02}") for n in range(number)]

    def refuse(self) -> None:
        """Every call, until somebody waited."""
        self.lab.dials.fault("429", times=None, retry_after=WAIT)

    def pass_time(self) -> None:
        self.seconds += WAIT + 1
        self.lab.pass_time(timedelta(seconds=WAIT + 1))

    def refused(self) -> int:
        return sum(each["status"] == 429 for each in self.lab.dials.requests())

    def settle(self, desk: Desk) -> None:
        """Until nothing waits any more, with a bound that a sound limiter does not come near."""
        for _ in range(30):
            drain.drain(desk, threads=THREADS)
            if not self.lab.rows("SELECT FROM deliveries WHERE state <> 'confirmed'"):
                return
            self.pass_time()


@pytest.fixture
def limited(database_url: str, redis_url: str, tmp_path: Path) -> Iterator[Limited]:
    with lab(database_url, tmp_path, profile="enforced") as made, redis.Redis.from_url(redis_url) as client:
        yield Limited(made, client)


@dataclass(frozen=True, slots=True)
class Metered(SandboxClient):
    """The sandbox, with a limit on its page."""

    def limits(self) -> tuple[Limit, ...]:
        return (Limit(25, timedelta(seconds=10)),)

    def bucket(self, request: Request) -> str:  # noqa: ARG002 - all count alike
        return CALLS


def confirmed(made: Lab, events: list[UUID]) -> bool:
    return {made.state(each) for each in events} == {"confirmed"}


def test_twenty_leads_waste_no_more_calls_than_there_are_threads(limited: Limited) -> None:
    events, desk = limited.leads(20), limited.desk()
    limited.refuse()
    drain.drain(desk, threads=THREADS)
    assert 0 < limited.refused() <= THREADS
    limited.lab.dials.no_faults()
    limited.pass_time()
    limited.settle(desk)
    assert confirmed(limited.lab, events)
    assert (limited.refused() <= THREADS, limited.lab.dials.doubles()) == (True, [])


def test_while_an_account_refuses_nothing_is_claimed_for_it(limited: Limited) -> None:
    limited.leads()
    desk = limited.desk()
    desk.limiter.close("crm", CALLS, timedelta(seconds=WAIT))
    before = len(limited.lab.dials.requests())
    drain.drain(desk, threads=THREADS)
    assert len(limited.lab.dials.requests()) == before


def test_a_short_refusal_pauses_no_account(limited: Limited) -> None:
    limited.leads()
    limited.refuse()
    drain.drain(limited.desk(), threads=THREADS)
    assert limited.lab.rows("SELECT FROM accounts WHERE paused_at IS NOT NULL") == []


def test_another_account_goes_on(limited: Limited) -> None:
    limited.leads()
    test = limited.lab.form(mode="test", email="prueba@example.com", phone="987111222")
    desk = limited.desk()
    desk.limiter.close("crm", CALLS, timedelta(hours=1))
    drain.drain(desk, threads=THREADS)
    assert limited.lab.state(test) == "confirmed"


def test_a_flush_in_the_middle_loses_and_doubles_nothing(limited: Limited) -> None:
    events, desk = limited.leads(), limited.desk()
    limited.refuse()
    drain.drain(desk, threads=THREADS)
    limited.client.flushdb()
    limited.lab.dials.no_faults()
    limited.settle(desk)
    assert confirmed(limited.lab, events)
    assert limited.lab.dials.doubles() == []


def test_without_redis_leads_arrive_as_before(limited: Limited) -> None:
    events = limited.leads()
    away = RedisLimiter(queue.connect("redis://127.0.0.1:9/0"))
    limited.settle(limited.lab.other_desk(limiter=away))
    assert confirmed(limited.lab, events)


def test_a_published_limit_holds_leads_up_and_loses_none(limited: Limited) -> None:
    events = limited.leads()
    wired = limited.lab.desk.wired["crm"]
    metered = replace(wired, client=Metered(profile="enforced", limit=timedelta(seconds=20)))
    desk = limited.lab.other_desk(wired={"crm": metered}, limiter=limited.limiter())
    begun, before = limited.seconds, len(limited.lab.dials.requests())
    limited.settle(desk)
    called = len(limited.lab.dials.requests()) - before
    assert confirmed(limited.lab, events)
    assert called <= 25 * ((limited.seconds - begun) / 10 + 1)
