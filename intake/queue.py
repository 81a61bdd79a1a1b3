"""Hints to the workers: an RQ job says "something may be due", and nothing else.

PostgreSQL is the truth.  A hint that is lost, doubled or late changes nothing but the time: the clock gives the next.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import redis
import structlog
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import Queue
from rq.serializers import JSONSerializer

from intake import background

log = structlog.get_logger()

QUEUE = "intake"

# The job by name: the door and the desk import no worker.
DRAIN = "workers.jobs.drain"

# Seconds.  A hint may be lost, but it may hold nobody up.
REDIS_PATIENCE = 0.5

# Seconds until the next hint: what comes meanwhile shares it, and asking Redis costs as much as reading a form.
REST = 0.02

# RQ kills a job after this many seconds; a drain ends by itself long before.
JOB_TIMEOUT = 300


def connect(redis_url: str, *, patience: float | None = REDIS_PATIENCE) -> redis.Redis:
    """A client whose every call ends within `patience` seconds (None: RQ's own blocking reads need more)."""
    # One try: the client's own retries would multiply the patience, and the clock's next hint is a retry already.
    once = Retry(NoBackoff(), 0)
    return redis.Redis.from_url(
        redis_url, socket_timeout=patience, socket_connect_timeout=REDIS_PATIENCE, retry=once if patience else None
    )


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


@dataclass(slots=True)
class Bell:
    """Rings for the workers from a thread of its own: a Redis that hangs holds up no request's thread.

    Pressing it again while it rings, or rests for `rest` seconds, makes it ring once more, not once for each.
    """

    ring: Callable[[], object]
    rest: float = REST
    _pressed: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None

    def press(self) -> None:
        """Ask for a hint, and return at once."""
        with self._lock:
            self._thread = background.begin(self._thread, self._run, "bell")
        self._pressed.set()

    def _run(self) -> None:
        while self._pressed.wait():
            self._pressed.clear()
            try:
                self.ring()
            except Exception as failed:  # noqa: BLE001  # A hint may fail in any way; the next one must still ring.
                log.warning("hint failed", error=type(failed).__name__)
            time.sleep(self.rest)


def reachable(client: redis.Redis) -> Mapping[str, object]:
    """For the doctor: does it answer, and how many hints wait."""
    try:
        return {"ok": bool(client.ping()), "waiting": queue(client).count}
    except redis.RedisError as away:
        return {"ok": False, "error": type(away).__name__}


def version(client: redis.Redis) -> tuple[str, int] | None:
    """Which server it is, and the first number of its version; None: it does not tell."""
    try:
        told: dict[str, object] = client.info("server")
    except redis.RedisError:
        return None
    # Valkey says of itself which Redis it is like, too.
    name = "Valkey" if "valkey_version" in told else "Redis"
    number = str(told.get(f"{name.lower()}_version", "")).partition(".")[0]
    return (name, int(number)) if number.isdecimal() else None


def eviction(client: redis.Redis) -> str | None:
    """What Redis does when its memory ends; None: it does not tell (managed ones forbid CONFIG)."""
    try:
        told = client.config_get("maxmemory-policy")
    except redis.RedisError:
        return None
    value: object = told.get("maxmemory-policy")
    return value.decode() if isinstance(value, bytes) else str(value) if value else None
