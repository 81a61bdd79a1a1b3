"""Hints to the workers: an RQ job says "something may be due", and nothing else.

PostgreSQL is the truth.  A hint that is lost, doubled or late changes nothing but the time: the clock gives the next.
"""

from __future__ import annotations

from collections.abc import Mapping

import redis
from rq import Queue
from rq.serializers import JSONSerializer

QUEUE = "intake"

# The job by name: the door and the desk import no worker.
DRAIN = "workers.jobs.drain"

# Seconds.  A hint may be lost, but it may hold nobody up.
REDIS_PATIENCE = 0.5

# RQ kills a job after this many seconds; a drain ends by itself long before.
JOB_TIMEOUT = 300


def connect(redis_url: str, *, patience: float | None = REDIS_PATIENCE) -> redis.Redis:
    """A client whose every call ends within `patience` seconds (None: RQ's own blocking reads need more)."""
    return redis.Redis.from_url(redis_url, socket_timeout=patience, socket_connect_timeout=REDIS_PATIENCE)


def queue(client: redis.Redis) -> Queue:
    """Our one queue; jobs are JSON, never pickle."""
    return Queue(QUEUE, connection=client, serializer=JSONSerializer)


def hint(client: redis.Redis, *, at_most: int) -> bool:
    """Ask for a drain, if fewer than `at_most` wait already.  False: enough wait, or Redis is away."""
    try:
        waiting = queue(client)
        if waiting.count >= at_most:
            return False
        # No `unique`, no retry: the first was seen to block after a killed worker, the second is PostgreSQL's business.
        waiting.enqueue(DRAIN, job_timeout=JOB_TIMEOUT, result_ttl=0, failure_ttl=0, ttl=JOB_TIMEOUT)
    except redis.RedisError:
        return False
    return True


def reachable(client: redis.Redis) -> Mapping[str, object]:
    """For the doctor: does it answer, and how many hints wait."""
    try:
        return {"ok": bool(client.ping()), "waiting": queue(client).count}
    except redis.RedisError as away:
        return {"ok": False, "error": type(away).__name__}
