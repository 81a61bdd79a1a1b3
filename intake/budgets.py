"""How much of an account's limits of calls is used just now: the counters of the workers' limiter, in Redis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import redis

from intake.account_facts import Published


def closing_key(account: str, bucket: str) -> str:
    """Holds until when the CRM refuses such calls, in milliseconds since 1970."""
    return f"intake:limit:{account}:{bucket}:closed"


def counting_key(account: str, bucket: str, milliseconds: int) -> str:
    """Holds the calls of this window and of the one before it."""
    return f"intake:limit:{account}:{bucket}:{milliseconds}"


@dataclass(frozen=True, slots=True)
class Budget:
    """`left` of `limit.ours` calls just now.  `closed_for` None: the CRM refuses none."""

    limit: Published
    left: int
    closed_for: timedelta | None


def read(client: redis.Redis, account: str, limits: Sequence[Published]) -> list[Budget] | None:
    """None: Redis does not answer, and nobody counts."""
    try:
        seconds, microseconds = client.time()
        now = seconds * 1000 + microseconds // 1000
        return [_budget(client, account, each, now) for each in limits]
    except redis.RedisError:
        return None


def _budget(client: redis.Redis, account: str, limit: Published, now: int) -> Budget:
    counted = client.hgetall(counting_key(account, limit.bucket, limit.milliseconds))
    closed = client.get(closing_key(account, limit.bucket))
    until = int(closed) if isinstance(closed, bytes) else 0
    used = _used({_text(name): int(value) for name, value in counted.items()}, limit.milliseconds, now)
    return Budget(limit, max(0, int(limit.ours - used)), timedelta(milliseconds=until - now) if until > now else None)


def _text(name: object) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def _used(counted: dict[str, int], per: int, now: int) -> float:
    """As the limiter's own script counts: of the window before, what still lies within the last `per`."""
    window, gone = now // per, now % per / per
    match counted.get("window"):
        case at if at == window:
            return counted["before"] * (1 - gone) + counted["count"]
        case at if at == window - 1:
            return counted["count"] * (1 - gone)
        case _:
            return 0.0
