"""Which points, faults, scenarios and profiles meet: every one by itself, or a cover of them, and pairs of points."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from crm_clients.sandbox.profiles import PROFILES
from workers.prove.commits import AFTER, BEFORE
from workers.prove.faults import FAULTS, Fault
from workers.prove.named_commits import PROVED
from workers.prove.points import HINTS, LOOK, WRITES
from workers.prove.scenarios import SCENARIOS

# A request follows these at once, and it is this write.
BEFORE_A_WRITE: Final = frozenset(f"{write}.committed" for write in WRITES)
BEFORE_A_LOOK: Final = f"{LOOK}.send.before_check"
# Where a write is committed, answered, and noted, and where a delivery is.
PAIRED: Final = (
    *(f"{write}.{point}" for write in WRITES for point in ("before_commit", "committed", "answered", "noted")),
    "delivery.before_arrow",
)
# Without a promise of its own (docs/guarantee.md): a process is not stopped between the check and the first byte for
# longer than the lease and the proof together.
OUTSIDE: Final = frozenset({("paused", f"{write}.send.before_first_byte") for write in WRITES})
CRASH: Final = "crash_before"
COMMITTING: Final = frozenset(f"{function}.{moment}" for function in PROVED for moment in (BEFORE, AFTER))
ENDS_ONLY: Final = COMMITTING | HINTS.keys()
PROFILES_OF_COMMITS: Final = ("stored", "enforced", "weak")
PROFILES_OF_PAIRS: Final = ("stored", "enforced")


@dataclass(frozen=True, slots=True)
class Run:
    """`points` and `faults`: one, or two of which the second comes after the first."""

    scenario: str
    points: tuple[str, ...]
    faults: tuple[str, ...]
    profile: str

    @property
    def path(self) -> str:
        """What `--only` takes."""
        return ":".join((self.scenario, "+".join(self.points), "+".join(self.faults), self.profile))

    @property
    def cells(self) -> list[tuple[str, str]]:
        """Its places in the table."""
        return list(zip(self.points, self.faults, strict=True))


class NoSuchRun(ValueError):
    """The path names nothing that there is."""


def of_path(path: str) -> Run:
    """The run that a path names.  Raises NoSuchRun."""
    parts = path.split(":")
    if len(parts) != len(("scenario", "point", "fault", "profile")):
        raise NoSuchRun("a path is scenario:point:fault:profile")
    run = Run(parts[0], tuple(parts[1].split("+")), tuple(parts[2].split("+")), parts[3])
    for what, names, known in (
        ("scenario", (run.scenario,), SCENARIOS.keys()),
        ("fault", run.faults, FAULTS.keys()),
        ("profile", (run.profile,), PROFILES.keys()),
    ):
        for name in names:
            if name not in known:
                raise NoSuchRun(f"no {what} “{name}”; there are: {', '.join(known)}")
    if len(run.points) != len(run.faults):
        raise NoSuchRun("each point has one fault")
    return run


# Of each (scenario, profile), the points that it passes without a fault, in order.
Trails = Mapping[tuple[str, str], Sequence[str]]


def full(trails: Trails) -> list[Run]:
    """Every point with every fault, for every scenario and profile, and the pairs."""
    return [*_singles(trails), *_looks(trails), *_pairs(trails)]


def quick(trails: Trails, seed: int) -> list[Run]:
    """So few that each point meets each fault, and each fault each scenario and each profile."""
    runs = [*_singles(trails), *_looks(trails)]
    random.Random(seed).shuffle(runs)  # noqa: S311  # a choice that can be repeated
    return list(_cover(runs))


def _singles(trails: Trails) -> Iterator[Run]:
    for (scenario, profile), trail in trails.items():
        for point in dict.fromkeys(trail):
            if point in ENDS_ONLY and profile not in PROFILES_OF_COMMITS:
                continue
            for fault in FAULTS.values():
                if _befalls(fault, point) and (fault.name, point) not in OUTSIDE:
                    yield Run(scenario, (point,), (fault.name,), profile)


def _befalls(fault: Fault, point: str) -> bool:
    match fault.of:
        case "worker" if point in ENDS_ONLY:
            # In a transaction nobody else can go on: PostgreSQL's locks see to that, and its time-outs to who stands.
            return fault.name == CRASH
        case "worker":
            return True
        case "write":
            return point in BEFORE_A_WRITE
        case "any request":
            return point in BEFORE_A_WRITE or point == BEFORE_A_LOOK


def _looks(trails: Trails) -> Iterator[Run]:
    """A doubt, and what befalls the worker that looks into it."""
    for (scenario, profile), trail in trails.items():
        for write in (point for point in dict.fromkeys(trail) if point in BEFORE_A_WRITE):
            looked = f"{write.partition('.')[0]}.looked"
            for fault in FAULTS.values():
                if fault.of == "worker":
                    yield Run(scenario, (write, looked), ("no_effect_no_answer", fault.name), profile)


def _pairs(trails: Trails) -> Iterator[Run]:
    """A second crash during the recovery from the first; and a second doubt after the first."""
    for (scenario, profile), trail in trails.items():
        if profile in PROFILES_OF_PAIRS:
            passed = [point for point in dict.fromkeys(trail) if point in PAIRED]
            for first in passed:
                for second in passed:
                    yield Run(scenario, (first, second), ("crash_before", "crash_before"), profile)
                    if first in BEFORE_A_WRITE and second in BEFORE_A_WRITE:
                        yield Run(scenario, (first, second), ("effect_without_answer", "error_without_effect"), profile)
                        yield Run(scenario, (first, second), ("error_without_effect", "effect_without_answer"), profile)


def _cover(runs: Iterable[Run]) -> Iterator[Run]:
    seen: set[tuple[str, str]] = set()
    for run in runs:
        fault = run.faults[-1]
        news = {("+".join(run.points), fault), (fault, run.profile), (fault, run.scenario)} - seen
        if news:
            seen |= news
            yield run
