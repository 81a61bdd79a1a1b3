"""Playing runs: one after another, those of one profile on one stage."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from workers.desk import Desk
from workers.prove.faults import FAULTS
from workers.prove.matrix import Run
from workers.prove.named_commits import Unnamed
from workers.prove.oracle import Verdict, judge
from workers.prove.scenarios import SCENARIOS, Refused, Sender
from workers.prove.scene import Endless, Planned, Scene
from workers.prove.stage import Stage, stage

Change = Callable[[Desk], Desk]


def unchanged(desk: Desk) -> Desk:
    """The workers as they are."""
    return desk


@dataclass(frozen=True, slots=True)
class Played:
    """`reached`: whether all of its faults came.  `accepted`: how many events.  `trail`: the points that were passed.

    `seconds`: how long it took.
    """

    run: Run
    verdict: Verdict
    reached: bool
    accepted: int
    trail: tuple[str, ...] = field(repr=False)
    seconds: float = field(compare=False)


@dataclass(frozen=True, slots=True)
class Theatre:
    """Where runs are played.  `change`: what is done to each worker's desk; a test may break it."""

    database_url: str
    seed: int
    change: Change = unchanged

    def play(self, runs: Iterable[Run]) -> Iterator[Played]:
        """All of them, by profile."""
        by_profile = sorted(runs, key=lambda run: run.profile)
        for profile, those in groupby(by_profile, key=lambda run: run.profile):
            with tempfile.TemporaryDirectory() as folder, stage(self.database_url, Path(folder), profile) as here:
                for run in those:
                    yield self._one(here, run)

    def trails(self, scenarios: Sequence[str], profiles: Sequence[str]) -> dict[tuple[str, str], list[str]]:
        """The points that each scenario passes where nothing befalls it."""
        found: dict[tuple[str, str], list[str]] = {}
        for profile in profiles:
            with tempfile.TemporaryDirectory() as folder, stage(self.database_url, Path(folder), profile) as here:
                for scenario in (each for each in scenarios if profile in SCENARIOS[each].profiles):
                    found[(scenario, profile)] = self._perform(here, Run(scenario, (), (), profile))[0].trail.passed
        return found

    def _one(self, here: Stage, run: Run) -> Played:
        begun = time.monotonic()
        try:
            scene, sender = self._perform(here, run)
        except (Endless, Refused, Unnamed) as told:
            verdict = Verdict(0, 0, (f"{type(told).__name__}: {told}",), ())
            return Played(run, verdict, reached=False, accepted=0, trail=(), seconds=time.monotonic() - begun)
        verdict = judge(here, sender, SCENARIOS[run.scenario].opportunities)
        reached = scene.fired == len(run.points)
        return Played(run, verdict, reached, len(sender.accepted), tuple(scene.trail.passed), time.monotonic() - begun)

    def _perform(self, here: Stage, run: Run) -> tuple[Scene, Sender]:
        here.clean()
        rng = random.Random(f"{self.seed}:{run.path}")  # noqa: S311  # a run can be repeated
        faults = [FAULTS[name] for name in run.faults]
        plan = [Planned(point, fault.does) for point, fault in zip(run.points, faults, strict=True)]
        scene, sender = Scene(here, plan, rng, self.change), Sender(here, rng)
        with scene.open():
            for act in SCENARIOS[run.scenario].acts:
                act(sender)
                scene.work()
            scene.settle()
            if any(fault.lies for fault in faults):
                scene.reconcile()
        return scene, sender
