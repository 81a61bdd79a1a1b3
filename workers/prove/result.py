"""What a proof found, as numbers: in all, and for each point, fault and profile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workers.prove.play import Played


@dataclass(slots=True)
class Cell:
    """The runs in which one fault came at one point, in one profile."""

    runs: int = 0
    uncertain: int = 0
    lost: int = 0
    doubled: int = 0

    def add(self, played: Played) -> None:
        """One run more."""
        self.runs += 1
        self.uncertain += bool(played.verdict.uncertain)
        self.lost += bool(played.verdict.lost)
        self.doubled += bool(played.verdict.doubled)


@dataclass(slots=True)
class Result:
    """`runs` are runs; the others are events.  `cells`: profile -> (point, fault) -> numbers.

    `unreached`: the second of two faults never came, or the first did not.  `shrunk`: by the path of a failure, that of
    the simplest run that fails as well.
    """

    seed: int
    runs: int = 0
    accepted: int = 0
    confirmed: int = 0
    uncertain: int = 0
    lost: int = 0
    doubled: int = 0
    unreached: int = 0
    seconds: float = 0.0
    failures: list[Played] = field(default_factory=list)
    shrunk: dict[str, str] = field(default_factory=dict)
    cells: dict[str, dict[tuple[str, str], Cell]] = field(default_factory=dict)

    @property
    def held(self) -> bool:
        """Whether nothing was lost and nothing doubled."""
        return not self.failures

    def add(self, played: Played) -> None:
        """One run more."""
        verdict = played.verdict
        self.runs += 1
        self.accepted += played.accepted
        self.confirmed += verdict.confirmed
        self.uncertain += verdict.uncertain
        self.lost += len(verdict.lost)
        self.doubled += len(verdict.doubled)
        self.unreached += not played.reached
        if not verdict.held:
            self.failures.append(played)
        table = self.cells.setdefault(played.run.profile, {})
        for cell in played.run.cells:
            table.setdefault(cell, Cell()).add(played)

    def document(self) -> Mapping[str, object]:
        """As JSON."""
        return {
            "runs": self.runs,
            "lost": self.lost,
            "doubled": self.doubled,
            "uncertain": self.uncertain,
            "confirmed": self.confirmed,
            "accepted": self.accepted,
            "unreached": self.unreached,
            "seconds": round(self.seconds, 1),
            "seed": self.seed,
            "failures": [
                {
                    "path": each.run.path,
                    "simplest": self.shrunk.get(each.run.path),
                    "lost": list(each.verdict.lost),
                    "doubled": list(each.verdict.doubled),
                }
                for each in self.failures
            ],
            "table": {profile: list(_rows(table)) for profile, table in sorted(self.cells.items())},
        }


def _rows(table: Mapping[tuple[str, str], Cell]) -> Iterable[Mapping[str, object]]:
    for (point, fault), cell in sorted(table.items()):
        numbers = {"runs": cell.runs, "uncertain": cell.uncertain, "lost": cell.lost, "doubled": cell.doubled}
        yield {"point": point, "fault": fault, **numbers}
