"""The threads of one drain: as many as there is work for, and one beside them that waits for what comes.

Who finds nothing does not leave while another works, for that may take long, and what arrives meanwhile would have ever
fewer threads.  One who waits looks again after a pause, or at once where another found something, as there may be more.
When nobody works any more, all leave.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import structlog

from crm_clients.watchdog import Clock

log = structlog.get_logger()

# How long a due delivery waits at most for one who has nothing to do, in seconds; each look asks the database.
LOOKS_EVERY: Final = 0.05

# The same for what is rarer, which takes a question for each kind.
LOOKS_AT_ALL_EVERY: Final = 1.0


@dataclass(slots=True)
class Shift:
    """`look` does the next piece of due work, only a delivery if it is given False.  False: there is none.

    `stops`: nothing new is begun.  `clock` gives seconds.
    """

    pool: ThreadPoolExecutor
    threads: int
    look: Callable[[bool], bool]
    stops: Callable[[], bool]
    clock: Clock
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _came: list[Future[int]] = field(default_factory=list)
    _here: int = 0
    _working: int = 0
    _next_look: float = 0.0
    _next_at_all: float = 0.0
    _ended: bool = False

    def run(self) -> int:
        """Returns how many pieces all did together, when the last has left.  Raises what one of them raised."""
        with self._changed:
            self._next_look = self._next_at_all = self.clock()
            self._come()
            self._changed.wait_for(lambda: not self._here)
        return sum(each.result() for each in self._came)

    def more(self) -> None:
        """A delivery was found just now, and there may be another: who waits looks at once."""
        with self._changed:
            self._next_look = self.clock()
            self._changed.notify()

    # --- one thread ---

    def _come(self) -> None:
        """Raises RuntimeError where not even one thread can be started."""
        self._here += 1
        try:
            self._came.append(self.pool.submit(self._live))
        except RuntimeError:
            if not self._came:
                raise
            # Those who are here go on.  The pool has kept the call for the first who leaves, so that it counts as here,
            # and nobody else is asked to come.
            log.warning("no thread could be started", threads=len(self._came))

    def _live(self) -> int:
        done = 0
        try:
            while (at_all := self._turn()) is not None:
                try:
                    done += self._work(at_all)
                finally:
                    self._rest()
        finally:
            self._leave()
        return done

    def _turn(self) -> bool | None:
        """Wait for it.  True: look at all that may be due; None: the shift is over."""
        with self._changed:
            # More than one pause is a clock that was set.
            while not self._is_over() and 0 < (pause := self._next_look - self.clock()) <= LOOKS_EVERY:
                self._changed.wait(pause)
            if self._is_over():
                return None
            now = self.clock()
            at_all = not 0 < self._next_at_all - now <= LOOKS_AT_ALL_EVERY
            self._next_look = now + LOOKS_EVERY
            self._next_at_all = now + LOOKS_AT_ALL_EVERY if at_all else self._next_at_all
            self._working += 1
            if self._working == self._here < self.threads:
                self._come()
            return at_all

    def _is_over(self) -> bool:
        return self._ended or self.stops()

    def _work(self, at_all: bool) -> int:
        """One piece after another."""
        done = 0
        while self.look(at_all or done > 0):
            done += 1
            if self.stops():
                break
        return done

    def _rest(self) -> None:
        with self._changed:
            self._working -= 1
            if not self._working:
                self._ended = True
                self._changed.notify_all()

    def _leave(self) -> None:
        with self._changed:
            self._here -= 1
            self._changed.notify_all()
