"""A rate limiter that all workers share, one per account and bucket: it spares calls that a CRM would refuse.

Redis only spares calls.  Where it is away or was flushed every request is let through, as without a limiter; no
request's correctness rests on it.  Its own clock counts, so that those of the hosts need not agree.

    room    may this request go now?  zero, and counted: yes; else how long to wait
    close   the CRM refuses for so long: nobody asks before
    closed  accounts for which nothing should be claimed for now

What is counted is counted call by call.  Where nothing is, Redis would only say again and again that nobody closed the
account: that is remembered for a moment, so that what one process closes, the others may call for as long.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final, Protocol

import redis
import structlog

from crm_clients.abilities import CALLS, Limit
from intake.budgets import closing_key, counting_key

log = structlog.get_logger()

NOW: Final = timedelta(0)

# Of a published limit: other programs of the company may call too, and requests do not arrive as evenly as they leave.
SHARE: Final = 0.9

# After Redis failed it is not asked for so long, in seconds: each try may take half a second of a worker's time.
LET_BE: Final = 5.0

# For how long it is remembered that nobody closed an account, and who did, in seconds.
REMEMBERED: Final = 1.0

_NOW = """
local now = tonumber(ARGV[1])
if now == nil then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
"""

# A sliding window out of two counters: of the window before, the part counts that still lies within the last `per`.
# Taken is from all limits or from none.
ROOM = f"""
{_NOW}
local wait = math.max(0, (tonumber(redis.call('GET', KEYS[1]) or '0')) - now)
local taken = {{}}
for i = 2, #KEYS do
  local calls, per = tonumber(ARGV[2 * i - 2]), tonumber(ARGV[2 * i - 1])
  local window = math.floor(now / per)
  local gone = (now - window * per) / per
  local kept = redis.call('HMGET', KEYS[i], 'window', 'count', 'before')
  local at, count, before = tonumber(kept[1] or '-1'), tonumber(kept[2] or '0'), tonumber(kept[3] or '0')
  if at == window - 1 then
    before, count = count, 0
  elseif at ~= window then
    before, count = 0, 0
  end
  if count + 1 > calls then
    wait = math.max(wait, math.ceil((2 - gone - (calls - 1) / count) * per))
  elseif before * (1 - gone) + count + 1 > calls then
    wait = math.max(wait, math.ceil((1 - gone - (calls - count - 1) / before) * per))
  end
  taken[i] = {{window, count + 1, before, 2 * per}}
end
if wait > 0 then return wait end
for i = 2, #KEYS do
  redis.call('HSET', KEYS[i], 'window', taken[i][1], 'count', taken[i][2], 'before', taken[i][3])
  redis.call('PEXPIRE', KEYS[i], taken[i][4])
end
return 0
"""

# The longer wish counts.  The key outlives it a little, since what it says is compared with the clock.
CLOSE = f"""
{_NOW}
local till = now + tonumber(ARGV[2])
if till > tonumber(redis.call('GET', KEYS[1]) or '0') then
  redis.call('SET', KEYS[1], string.format('%.0f', till), 'PX', tonumber(ARGV[2]) + 60000)
end
return 1
"""

CLOSED = f"""
{_NOW}
local closed = {{}}
for i, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') > now then closed[#closed + 1] = i end
end
return closed
"""


def stay(seconds: float) -> None:
    """As `time.sleep`, which raised OSError (EINVAL) in a process whose clock libfaketime sets."""
    threading.Event().wait(seconds)


class Limiter(Protocol):
    """What a worker asks before it calls a CRM, and tells after."""

    def room(self, account: str, bucket: str, limits: Sequence[Limit]) -> timedelta:
        """How long to wait for room; zero: go, and it is counted."""

    def close(self, account: str, bucket: str, lasts: timedelta) -> bool:
        """Nobody is to ask for so long.  False: it could not be kept."""

    def closed(self, accounts: Sequence[str]) -> frozenset[str]:
        """Those whose usual calls are refused for now."""

    def pause(self, lasts: timedelta) -> None:
        """Wait so long."""


class Unlimited:
    """Every request goes: there is no Redis to agree in."""

    def room(self, account: str, bucket: str, limits: Sequence[Limit]) -> timedelta:  # noqa: ARG002
        return NOW

    def close(self, account: str, bucket: str, lasts: timedelta) -> bool:  # noqa: ARG002
        return False

    def closed(self, accounts: Sequence[str]) -> frozenset[str]:  # noqa: ARG002
        return frozenset()

    def pause(self, lasts: timedelta) -> None:
        """Nobody is told to wait."""


class RedisLimiter:
    """The limiter in Redis.

    `now` gives seconds since the epoch, None: Redis's own clock counts.  `clock` gives seconds, for how long Redis is
    let be after it failed, and what it said is remembered.
    """

    def __init__(
        self,
        client: redis.Redis,
        *,
        now: Callable[[], float] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = stay,
    ) -> None:
        self._room = client.register_script(ROOM)
        self._close = client.register_script(CLOSE)
        self._closed = client.register_script(CLOSED)
        self._now = now
        self._clock = clock
        self._sleep = sleep
        self._away_until = -math.inf
        # An answer of before one of our own closings is not remembered after it: all threads would go on for a moment.
        self._remembering = threading.Lock()
        self._closings = 0
        self._open_until: dict[tuple[str, str], float] = {}
        self._closed_known: dict[tuple[str, ...], tuple[float, frozenset[str]]] = {}

    def room(self, account: str, bucket: str, limits: Sequence[Limit]) -> timedelta:
        """How long to wait for room; zero: go, and it is counted."""
        counted = [each for each in limits if each.bucket == bucket]
        if not counted and self._clock() < self._open_until.get((account, bucket), -math.inf):
            return NOW
        keys = [closing_key(account, bucket), *(_counting(account, each) for each in counted)]
        numbers = [number for each in counted for number in (share(each), milliseconds(each.per))]
        closings = self._closings
        wait = self._ask(self._room, keys, numbers)
        until = self._clock() + REMEMBERED
        with self._remembering:
            if wait == 0 and closings == self._closings:
                self._open_until[account, bucket] = until
        return timedelta(milliseconds=wait) if isinstance(wait, int) else NOW

    def close(self, account: str, bucket: str, lasts: timedelta) -> bool:
        """Nobody is to ask for so long.  False: it could not be kept."""
        kept = self._ask(self._close, [closing_key(account, bucket)], [milliseconds(lasts)]) is not None
        with self._remembering:
            self._closings += 1
            self._open_until.pop((account, bucket), None)
            self._closed_known.clear()
        return kept

    def closed(self, accounts: Sequence[str]) -> frozenset[str]:
        """Those whose usual calls are refused for now."""
        until, known = self._closed_known.get(tuple(accounts), (-math.inf, frozenset[str]()))
        if not accounts or self._clock() < until:
            return known
        closings = self._closings
        told = self._ask(self._closed, [closing_key(each, CALLS) for each in accounts], [])
        if not isinstance(told, list):
            return frozenset()
        known = frozenset(accounts[int(each) - 1] for each in told)
        until = self._clock() + REMEMBERED
        with self._remembering:
            if closings == self._closings:
                self._closed_known[tuple(accounts)] = (until, known)
        return known

    def pause(self, lasts: timedelta) -> None:
        """Wait so long."""
        self._sleep(lasts.total_seconds())

    def _ask(self, script: Callable[..., object], keys: list[str], numbers: list[int]) -> object:
        """None: Redis does not answer, and is let be for a while."""
        if self._clock() < self._away_until:
            return None
        now = "" if self._now is None else round(self._now() * 1000)
        try:
            return script(keys=keys, args=[now, *numbers])
        except redis.RedisError as failed:
            self._away_until = self._clock() + LET_BE
            log.warning("no rate limiter", error=type(failed).__name__)
            return None


def _counting(account: str, limit: Limit) -> str:
    return counting_key(account, limit.bucket, milliseconds(limit.per))


def share(limit: Limit) -> int:
    """How many calls of a limit are ours."""
    return max(1, math.floor(limit.calls * SHARE))


def milliseconds(span: timedelta) -> int:
    """As Redis counts."""
    return max(1, round(span.total_seconds() * 1000))
