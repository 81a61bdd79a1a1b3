"""Whose turn it is, where more is due than there are threads.

Of the ways in, that of which this process has the least in hand: a thousand old quotes do not keep a lead of today
waiting, and an account that takes a minute for a call does not take every thread.  Of the kinds of work, deliveries;
but at every eighth turn another kind, or doubts and what leads are fetched by would wait for the end of a flood.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

T = TypeVar("T")

# One question for each kind, where none of them is due: less than a hundredth of what eight deliveries take.
OTHERS_FIRST_EVERY: Final = 8


@dataclass(slots=True)
class InHand:
    """Which sources' deliveries this process has in hand."""

    _sources: list[str] = field(default_factory=list)
    _newest: tuple[str, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def sources(self) -> list[str]:
        """Each as often as one of it is in hand; the newest counts also when it is done, or one thread knew of none."""
        with self._lock:
            return [*self._sources, *self._newest]

    @contextmanager
    def holding(self, source: str) -> Iterator[None]:
        """Have one more in hand until the block ends."""
        with self._lock:
            self._sources.append(source)
            self._newest = (source,)
        try:
            yield
        finally:
            with self._lock:
                self._sources.remove(source)


def in_turn(first: T, others: Sequence[T], turn: int) -> tuple[T, ...]:
    """The kinds of work in the order in which they are looked at, at this turn; turns count from one.

    Each of the others comes to the front at times: a flood of one of them is no better than one of deliveries.
    """
    round_, rest = divmod(turn, OTHERS_FIRST_EVERY)
    if rest:
        return (first, *others)
    front = round_ % len(others)
    return (*others[front:], *others[:front], first)
