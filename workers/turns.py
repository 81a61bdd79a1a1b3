"""Whose turn it is, where more is due than there are threads.

Of the lanes, that of which this process has the least in hand: a thousand old quotes do not keep a lead of today
waiting, and an account that takes a minute for a call does not take every thread.  Of the kinds of work, deliveries;
but at every eighth turn another kind, or doubts and what leads are fetched by would wait for the end of a flood.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from intake.deliveries import Claim, Had

T = TypeVar("T")

# One question for each kind, where none of them is due: less than a hundredth of what eight deliveries take.
OTHERS_FIRST_EVERY: Final = 8


@dataclass(slots=True)
class InHand:
    """Of which lanes this process has deliveries in hand, and when it had the last of each."""

    _had: dict[tuple[str, str], Had] = field(default_factory=dict)
    _turns: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def had(self) -> list[Had]:
        """Each lane of which there ever was one."""
        with self._lock:
            return list(self._had.values())

    @contextmanager
    def holding(self, held: Claim) -> Iterator[None]:
        """Have one more in hand until the block ends."""
        lane = held.destination, held.source
        with self._lock:
            count = self._had[lane].in_hand if lane in self._had else 0
            self._had[lane] = Had(*lane, in_hand=count + 1, last=next(self._turns))
        try:
            yield
        finally:
            with self._lock:
                self._had[lane] = replace(self._had[lane], in_hand=self._had[lane].in_hand - 1)


@dataclass(slots=True)
class Turns:
    """The turns of the threads of one drain."""

    _turns: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _taken: set[object] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def first(self, others: Sequence[T]) -> Generator[T]:
        """What goes before deliveries at this turn, in order: mostly nothing.  The caller closes it.

        Each of the others comes to the front at times: a flood of one of them is no better than one of deliveries.
        One thread at a time is at each: doubts of an account that takes a minute for a look would have them all in the
        end.
        """
        round_, rest = divmod(next(self._turns), OTHERS_FIRST_EVERY)
        if rest:
            return
        front = round_ % len(others)
        for kind in (*others[front:], *others[:front]):
            if self._take(kind):
                try:
                    yield kind
                finally:
                    self._give_back(kind)

    def _take(self, kind: object) -> bool:
        with self._lock:
            free = kind not in self._taken
            self._taken.add(kind)
            return free

    def _give_back(self, kind: object) -> None:
        with self._lock:
            self._taken.remove(kind)
