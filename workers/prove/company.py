"""Playing runs on as many databases as there are processes, and telling each result as it comes."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeVar

from intake import logs
from workers.prove.matrix import Run, Trails
from workers.prove.play import Change, Played, Theatre, unchanged
from workers.prove.scenarios import SCENARIOS

# Runs on one stage: setting it up takes as long as two or three of them.
CHUNK = 24

T = TypeVar("T")
Task = Callable[[Theatre], T]


@dataclass(frozen=True, slots=True)
class _Rehearse:
    profile: str

    def __call__(self, theatre: Theatre) -> dict[tuple[str, str], list[str]]:
        return theatre.trails(list(SCENARIOS), [self.profile])


@dataclass(frozen=True, slots=True)
class _Play:
    runs: tuple[Run, ...]

    def __call__(self, theatre: Theatre) -> list[Played]:
        return list(theatre.play(self.runs))


@dataclass(slots=True)
class Company:
    """`urls`: the databases; with one of them all happens in this process.  `change` works only there."""

    urls: Sequence[str]
    seed: int
    change: Change = unchanged
    _stack: ExitStack = field(default_factory=ExitStack)
    _pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Company:
        if len(self.urls) > 1:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(len(self.urls), mp_context=context, initializer=quiet)
            self._stack.callback(self._pool.shutdown, cancel_futures=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def trails(self, profiles: Sequence[str]) -> Trails:
        """What each scenario passes in each profile."""
        found: dict[tuple[str, str], list[str]] = {}
        for each in self._each([_Rehearse(profile) for profile in profiles]):
            found |= each
        return dict(sorted(found.items()))

    def play(self, runs: Iterable[Run]) -> Iterator[Played]:
        """All runs, in any order."""
        for played in self._each([_Play(chunk) for chunk in chunks(runs, CHUNK)]):
            yield from played

    def _each(self, tasks: Sequence[Task[T]]) -> Iterator[T]:
        if self._pool is None:
            theatre = Theatre(self.urls[0], self.seed, self.change)
            yield from (task(theatre) for task in tasks)
            return
        free, waiting, running = list(self.urls), list(reversed(tasks)), dict[Future[T], str]()
        while waiting or running:
            while waiting and free:
                url = free.pop()
                running[self._pool.submit(waiting.pop(), Theatre(url, self.seed))] = url
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                free.append(running.pop(done))
                yield done.result()


def chunks(runs: Iterable[Run], size: int) -> Iterator[tuple[Run, ...]]:
    """Runs of one profile, some at a time."""
    by_profile = sorted(runs, key=lambda run: run.profile)
    for _, those in groupby(by_profile, key=lambda run: run.profile):
        listed = tuple(those)
        yield from (listed[start : start + size] for start in range(0, len(listed), size))


def quiet() -> None:
    """What workers log while they are broken on purpose is of no interest."""
    logs.configure(logging.CRITICAL)
