"""From a run that failed to the simplest one that fails as well: one fault instead of two, a simpler scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from workers.prove.matrix import Run
from workers.prove.play import Played
from workers.prove.scenarios import SCENARIOS

Play = Callable[[Iterable[Run]], Iterator[Played]]


def shrunk(play: Play, failed: Played) -> Played:
    """`play` is the company's.  The run itself where no simpler one fails."""
    for simpler in _simpler(failed.run):
        (played,) = play([simpler])
        if not played.verdict.held:
            return shrunk(play, played)
    return failed


def _simpler(run: Run) -> Iterator[Run]:
    """One step simpler; scenarios stand in the order in which they grow."""
    if len(run.points) > 1:
        yield from (replace(run, points=(point,), faults=(fault,)) for point, fault in run.cells)
    for name, scenario in SCENARIOS.items():
        if name == run.scenario:
            return
        if run.profile in scenario.profiles:
            yield replace(run, scenario=name)
