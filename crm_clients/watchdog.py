"""The watchdog: one thread that shuts the sockets of the calls whose time is over.

`requests` has no total time-out: its time-outs count from the last byte, so a server that drips one byte a
second holds a caller for as long as it likes.  Only shutting the socket from outside ends such a call.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import os
import socket
import threading
import time
from collections.abc import Callable

Clock = Callable[[], float]

# The wait for the next deadline is cut into pieces of this many seconds.  `Condition.wait` counts by a clock
# that stands still while the machine sleeps; the deadlines do not, so the clock is read again at least this
# often.
LONGEST_WAIT = 1.0


def boot_clock() -> float:
    """Seconds by a clock that nobody sets and that never stands still.

    It must go on while the process is stopped (SIGSTOP) or the machine suspended: a process that wakes up has
    to see that its time to send is over.  CLOCK_BOOTTIME counts both; CLOCK_MONOTONIC, the second choice,
    only the first.
    """
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class TooLate(Exception):
    """The time to begin is over, and no byte of the request was handed over: safe to send again."""


class Call:
    """One request on its way: until when it may begin and must end, and whether any of it was handed over."""

    def __init__(self, clock: Clock, *, send_by: float, deadline: float) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._wire: socket.socket | None = None
        self._finished = False
        self.send_by = min(send_by, deadline)
        self.deadline = deadline
        self.handed_over = False
        self.expired = False

    def now(self) -> float:
        """A reading of the clock in which its times are told."""
        return self._clock()

    def seconds_to_begin(self) -> float:
        """What is left until the first byte must have gone.  Raises TooLate if nothing is."""
        left = self.send_by - self._clock()
        if left <= 0 or self.expired:
            raise TooLate
        return left

    def watch(self, sock: socket.socket) -> None:
        """Let the watchdog shut this connection.  Raises TooLate if it has ended the call already.

        It gets a descriptor of its own: the one that `requests` holds moves into the TLS socket, and may be
        closed by one thread and reused for something else while another is about to shut it.
        """
        with self._lock:
            self._let_go()
            if self.expired:
                raise TooLate
            self._wire = socket.socket(fileno=os.dup(sock.fileno()))

    @property
    def is_watched(self) -> bool:
        """True once the watchdog could shut the connection."""
        return self._wire is not None

    def hand_over(self) -> None:
        """Note that from here on bytes may reach the server.  Raises TooLate if it is too late to begin."""
        with self._lock:
            self.seconds_to_begin()
            self.handed_over = True

    def expire(self) -> None:
        """End the call if its time is over."""
        with self._lock:
            if self._finished or self._clock() < (self.deadline if self.handed_over else self.send_by):
                return
            self.expired = True
            if self._wire is not None:
                # A connection that has failed already cannot be shut, and need not be.
                with contextlib.suppress(OSError):
                    self._wire.shutdown(socket.SHUT_RDWR)

    def finish(self) -> None:
        """Take the call from the watchdog; `expired` tells from now on whether it had ended the call."""
        with self._lock:
            self._finished = True
            self._let_go()

    def _let_go(self) -> None:
        if self._wire is not None:
            self._wire.close()
            self._wire = None


class Watchdog:
    """One thread and a heap of deadlines, whatever the number of calls; started by the first call."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Call]] = []
        self._order = itertools.count()
        self._thread: threading.Thread | None = None
        self._closed = False

    def guard(self, call: Call) -> None:
        """End this call when its time is over."""
        with self._changed:
            for moment in {call.send_by, call.deadline}:
                heapq.heappush(self._due, (moment, next(self._order), call))
            # A fork leaves the thread behind, so that it is asked for each time.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="crm-watchdog", daemon=True)
                self._thread.start()
            elif self._due[0][2] is call:
                self._changed.notify()

    def close(self) -> None:
        """Stop the thread; the calls under way lose their guard."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._closed and not self._is_due():
                    self._changed.wait(self._pause())
                if self._closed:
                    return
                call = heapq.heappop(self._due)[2]
            call.expire()

    def _is_due(self) -> bool:
        return bool(self._due) and self._due[0][0] <= self._clock()

    def _pause(self) -> float | None:
        return min(self._due[0][0] - self._clock(), LONGEST_WAIT) if self._due else None
