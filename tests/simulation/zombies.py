"""A worker that stops at a boundary, as by SIGSTOP, and goes on when everybody has given it up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crm_clients.transport import Transport
from crm_clients.watchdog import boot_clock
from workers import drain

if TYPE_CHECKING:
    from tests.lab import Lab
    from workers.desk import Desk

# Seconds in which a thread of this host reaches any boundary, or something is broken.
PATIENCE = 20.0


@dataclass(slots=True)
class Zombie:
    """Stops the first time that it passes `boundary`.  `slept` in seconds: how far its clock jumps on waking."""

    boundary: str
    slept: float = 0.0
    reached: threading.Event = field(default_factory=threading.Event)
    awake: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    error: BaseException | None = None

    def clock(self) -> float:
        return boot_clock() + self.slept

    def at(self, boundary: str) -> None:
        if boundary == self.boundary and not self.reached.is_set():
            self.reached.set()
            assert self.awake.wait(PATIENCE * 3)

    def start(self, desk: Desk) -> None:
        self.thread = threading.Thread(target=self._work, args=(desk,), daemon=True)
        self.thread.start()
        assert self.reached.wait(PATIENCE), f"{self.boundary} was not reached"

    def _work(self, desk: Desk) -> None:
        try:
            drain.one(desk)
        except BaseException as error:  # noqa: BLE001  # shown to the test by `wake`
            self.error = error

    def wake(self, *, after: float = 0.0) -> None:
        """Go on, `after` seconds later by its own clock; returns when it has ended its piece of work."""
        self.slept = after
        self.awake.set()
        assert self.thread is not None
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        if self.error is not None:
            raise self.error


@contextmanager
def zombie(lab: Lab, boundary: str) -> Iterator[Zombie]:
    """A second worker of the lab, which has taken the next piece of work and stopped at this boundary."""
    made = Zombie(boundary)
    with Transport(clock=made.clock) as transport:
        made.start(lab.other_desk(at=made.at, clock=made.clock, transport=transport))
        yield made
        made.wake(after=made.slept)
