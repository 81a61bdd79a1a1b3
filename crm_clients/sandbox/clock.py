"""The sandbox's clock, which can be set forward over HTTP, and the requests that are held back until it says so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

LONGEST_NAP = 1.0  # seconds; a wall clock that is set while we wait is noticed after this


class Stopping(Exception):
    """The sandbox ends; what is not executed yet never is."""


class Clock:
    """The wall clock plus an offset."""

    def __init__(self, wall: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._wall = wall
        self._offset = timedelta(0)
        self._changed = threading.Condition()

    def now(self) -> datetime:
        return self._wall() + self._offset

    @property
    def offset(self) -> timedelta:
        return self._offset

    def set_offset(self, offset: timedelta) -> None:
        with self._changed:
            self._offset = offset
            self._changed.notify_all()

    def notify(self) -> None:
        """Let everybody who waits look again."""
        with self._changed:
            self._changed.notify_all()

    def wait(self, until: datetime, *, released: Callable[[], bool]) -> None:
        """Return once this clock shows `until`, or `released` is true at a notice."""
        with self._changed:
            while not released() and (left := (until - self.now()).total_seconds()) > 0:
                self._changed.wait(min(left, LONGEST_NAP))


class Held:
    """Requests that are executed late, whether or not their client still waits for the answer."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[tuple[threading.Event, threading.Event]] = []
        self._abandoned = False

    @contextmanager
    def until(self, due: datetime) -> Iterator[None]:
        """Wait for `due` or `release`; the block executes the request.  Raises Stopping."""
        released, done = threading.Event(), threading.Event()
        with self._lock:
            self._waiting.append((released, done))
        try:
            self._clock.wait(due, released=released.is_set)
            if self._abandoned:
                raise Stopping
            yield
        finally:
            done.set()
            with self._lock:
                self._waiting.remove((released, done))

    def count(self) -> int:
        """How many requests are held, or just being executed."""
        with self._lock:
            return len(self._waiting)

    def release(self, timeout: float = 10.0) -> int:
        """Execute all of them now; returns how many were, when they are (or after `timeout` seconds each)."""
        with self._lock:
            waiting = tuple(self._waiting)
        for released, _ in waiting:
            released.set()
        self._clock.notify()
        return sum(done.wait(timeout) for _, done in waiting)

    def abandon(self) -> None:
        """Never execute those that are held."""
        self._abandoned = True
        self.release(timeout=1.0)
