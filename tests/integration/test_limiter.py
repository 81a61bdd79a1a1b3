"""The limiter that workers share in Redis: it counts, it closes, and without Redis it stands in nobody's way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count

import pytest
import redis

from crm_clients.abilities import CALLS, Limit
from intake import queue
from workers.limiter import LET_BE, NOW, REMEMBERED, RedisLimiter

SECOND = timedelta(seconds=1)
TEN_A_SECOND = (Limit(12, SECOND),)  # of which ten are our share
MIXED = (Limit(12, SECOND), Limit(2, SECOND, "search"))


@dataclass
class World:
    """A clock that a test moves."""

    client: redis.Redis
    seconds: float = 1_800_000_000.0
    slept: list[float] = field(default_factory=list)

    def limiter(self) -> RedisLimiter:
        return RedisLimiter(self.client, now=lambda: self.seconds, clock=lambda: self.seconds, sleep=self.slept.append)

    def taken(self, *, over: float, every: float, limits: tuple[Limit, ...] = TEN_A_SECOND) -> list[float]:
        """When requests were let through, of one that is tried every so often."""
        limiter, start = self.limiter(), self.seconds
        let: list[float] = []
        while self.seconds < start + over:
            if limiter.room("crm", CALLS, limits) == NOW:
                let.append(self.seconds)
            self.seconds += every
        return let


@pytest.fixture
def world(redis_url: str) -> Iterator[World]:
    with redis.Redis.from_url(redis_url) as client:
        yield World(client)


def test_what_fits_is_let_through_and_no_more(world: World) -> None:
    limiter = world.limiter()
    told = [limiter.room("crm", CALLS, TEN_A_SECOND) for _ in range(12)]
    assert [each == NOW for each in told] == [True] * 10 + [False] * 2


def test_no_second_has_more_than_the_published_limit(world: World) -> None:
    let = world.taken(over=10.0, every=0.013)
    assert max(sum(at <= each < at + 1 for each in let) for at in let) <= 12


def test_the_limit_is_used(world: World) -> None:
    assert 80 <= len(world.taken(over=10.0, every=0.013)) <= 101


def test_after_the_told_wait_there_is_room(world: World) -> None:
    limiter = world.limiter()
    for _ in range(10):
        limiter.room("crm", CALLS, TEN_A_SECOND)
    wait = limiter.room("crm", CALLS, TEN_A_SECOND)
    world.seconds += wait.total_seconds()
    assert limiter.room("crm", CALLS, TEN_A_SECOND) == NOW


def test_two_workers_share_one_limit(world: World) -> None:
    one, other = world.limiter(), world.limiter()
    for _ in range(5):
        one.room("crm", CALLS, TEN_A_SECOND)
        other.room("crm", CALLS, TEN_A_SECOND)
    assert one.room("crm", CALLS, TEN_A_SECOND) > NOW


def test_another_account_has_its_own_room(world: World) -> None:
    limiter = world.limiter()
    for _ in range(11):
        limiter.room("crm", CALLS, TEN_A_SECOND)
    assert limiter.room("other", CALLS, TEN_A_SECOND) == NOW


def test_searches_are_counted_apart(world: World) -> None:
    limiter = world.limiter()
    told = [limiter.room("crm", "search", MIXED) for _ in range(2)]
    assert (told[0], told[1] > NOW, limiter.room("crm", CALLS, MIXED)) == (NOW, True, NOW)


def test_a_closed_bucket_is_closed_for_every_worker_until_then(world: World) -> None:
    world.limiter().close("crm", CALLS, timedelta(seconds=30))
    limiter = world.limiter()
    assert limiter.room("crm", CALLS, ()) == timedelta(seconds=30)
    assert limiter.closed(["crm", "other"]) == {"crm"}
    world.seconds += 30
    assert (limiter.room("crm", CALLS, ()), limiter.closed(["crm"])) == (NOW, frozenset())


def test_what_another_closes_is_seen_after_a_moment(world: World) -> None:
    limiter = world.limiter()
    assert (limiter.room("crm", CALLS, ()), limiter.closed(["crm"])) == (NOW, frozenset())
    world.limiter().close("crm", CALLS, timedelta(seconds=30))
    world.seconds += REMEMBERED
    assert (limiter.room("crm", CALLS, ()) > NOW, limiter.closed(["crm"])) == (True, frozenset({"crm"}))


def test_what_a_worker_closes_itself_it_sees_at_once(world: World) -> None:
    limiter = world.limiter()
    assert (limiter.room("crm", CALLS, ()), limiter.closed(["crm"])) == (NOW, frozenset())
    limiter.close("crm", CALLS, timedelta(seconds=30))
    assert (limiter.room("crm", CALLS, ()) > NOW, limiter.closed(["crm"])) == (True, frozenset({"crm"}))


def asked_at_the_same_time(world: World, *, reading: int) -> RedisLimiter:
    """A limiter that closes an account, whose threads ask too at this reading of the clock (the first is 0)."""
    readings = count()

    def clock() -> float:
        if next(readings) == reading:
            limiter.room("crm", CALLS, ())
            limiter.closed(["crm"])
        return world.seconds

    limiter = RedisLimiter(world.client, now=lambda: world.seconds, clock=clock)
    limiter.close("crm", CALLS, timedelta(seconds=30))
    return limiter


def test_what_a_thread_asks_while_another_closes_is_not_remembered_past_it(world: World) -> None:
    limiter = asked_at_the_same_time(world, reading=0)
    assert (limiter.room("crm", CALLS, ()) > NOW, limiter.closed(["crm"])) == (True, frozenset({"crm"}))


@pytest.mark.parametrize("ask", [RedisLimiter.room, RedisLimiter.closed])
def test_an_answer_of_before_a_closing_is_not_remembered_after_it(world: World, ask: Callable[..., object]) -> None:
    """The last reading of a question's clock is that of when its answer came."""
    given = ("crm", CALLS, ()) if ask == RedisLimiter.room else (["crm"],)
    readings = count()
    alone = RedisLimiter(world.client, now=lambda: world.seconds, clock=lambda: float(next(readings)))
    ask(alone, *given)
    last = next(readings) - 1

    def clock() -> float:
        if next(again) == last:
            limiter.close("crm", CALLS, timedelta(seconds=30))
        return world.seconds

    again = count()
    limiter = RedisLimiter(world.client, now=lambda: world.seconds, clock=clock)
    ask(limiter, *given)
    assert (limiter.room("crm", CALLS, ()) > NOW, limiter.closed(["crm"])) == (True, frozenset({"crm"}))


def test_where_calls_are_counted_another_closing_is_seen_at_once(world: World) -> None:
    limiter = world.limiter()
    assert limiter.room("crm", CALLS, TEN_A_SECOND) == NOW
    world.limiter().close("crm", CALLS, timedelta(seconds=30))
    assert limiter.room("crm", CALLS, TEN_A_SECOND) > NOW


def test_where_nothing_is_counted_redis_is_asked_once_in_a_moment(world: World) -> None:
    limiter = world.limiter()
    before = world.client.info("commandstats").get("cmdstat_evalsha", {}).get("calls", 0)
    for _ in range(10):
        limiter.room("crm", CALLS, ())
    after = world.client.info("commandstats")["cmdstat_evalsha"]["calls"]
    assert after - before == 1


def test_the_longer_wish_counts(world: World) -> None:
    limiter = world.limiter()
    limiter.close("crm", CALLS, timedelta(seconds=30))
    limiter.close("crm", CALLS, timedelta(seconds=3))
    assert limiter.room("crm", CALLS, ()) == timedelta(seconds=30)


def test_a_closed_search_leaves_the_account_open(world: World) -> None:
    limiter = world.limiter()
    limiter.close("crm", "search", timedelta(seconds=30))
    assert (limiter.closed(["crm"]), limiter.room("crm", CALLS, MIXED)) == (frozenset(), NOW)


def test_a_flushed_redis_has_room_for_everything(world: World) -> None:
    limiter = world.limiter()
    limiter.close("crm", CALLS, timedelta(hours=1))
    world.client.flushdb()
    world.client.script_flush()
    assert limiter.room("crm", CALLS, TEN_A_SECOND) == NOW


def test_by_the_clock_of_redis_a_closed_bucket_is_closed(world: World) -> None:
    limiter = RedisLimiter(world.client)
    limiter.close("crm", CALLS, timedelta(hours=1))
    assert timedelta(minutes=59) < limiter.room("crm", CALLS, ()) <= timedelta(hours=1)


def test_without_redis_everything_goes(world: World) -> None:
    away = RedisLimiter(queue.connect("redis://127.0.0.1:9/0"), clock=lambda: world.seconds)
    assert (away.room("crm", CALLS, TEN_A_SECOND), away.closed(["crm"])) == (NOW, frozenset())
    assert away.close("crm", CALLS, SECOND) is False


def test_a_redis_that_failed_is_let_be_for_a_while(world: World) -> None:
    """Its port is closed at first; then it is a Redis that says no, and is not asked."""
    limiter = world.limiter()
    limiter.close("crm", CALLS, timedelta(hours=1))
    kept = world.client.connection_pool
    world.client.connection_pool = queue.connect("redis://127.0.0.1:9/0").connection_pool
    assert limiter.room("crm", CALLS, ()) == NOW
    world.client.connection_pool = kept
    assert limiter.room("crm", CALLS, ()) == NOW
    world.seconds += LET_BE
    assert limiter.room("crm", CALLS, ()) > NOW
