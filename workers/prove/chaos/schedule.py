"""When which fault comes: by a seed, every fault once before any comes again."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

# Seconds between two faults: some meet a system that recovers from the last, some one that has recovered.
QUIET: Final = (0.3, 2.5)
# Seconds that a fault lasts, if it has a duration.
LASTS: Final = (0.5, 3.0)


@dataclass(frozen=True, slots=True)
class Strike:
    """A fault, how long it lasts, and how long nothing else happens after it, in seconds."""

    fault: str
    lasts: float
    quiet: float

    @property
    def seconds(self) -> float:
        """Of the schedule that it takes."""
        return self.lasts + self.quiet


def schedule(seed: int, seconds: float, faults: Sequence[str]) -> list[Strike]:
    """So many as fit into that time, on a machine in no hurry.  The same seed, the same schedule."""
    chosen = random.Random(seed)  # noqa: S311  # a run can be repeated
    strikes: list[Strike] = []
    planned = 0.0
    for strike in _endless(chosen, faults):
        planned += strike.seconds
        if planned > seconds:
            return strikes
        strikes.append(strike)
    return strikes


def _endless(chosen: random.Random, faults: Sequence[str]) -> Iterator[Strike]:
    for _ in itertools.count() if faults else ():
        for fault in chosen.sample(faults, len(faults)):
            yield Strike(fault, round(chosen.uniform(*LASTS), 1), round(chosen.uniform(*QUIET), 1))
