"""What was measured, by name: all rounds of a figure, their median, and ratios made of rounds that ran side by side."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.  `rounds` in the order in which they were measured."""

    name: str
    unit: str
    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    def document(self) -> Json:
        return {
            "name": self.name,
            "unit": self.unit,
            "median": _short(self.median),
            "rounds": [*map(_short, self.rounds)],
        }


@dataclass(slots=True)
class Figures:
    """All figures of a run, the ratios that they give, and what could not be measured and why."""

    _rounds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def note(self, name: str, unit: str, value: float) -> None:
        """One round's value."""
        self._rounds.setdefault((name, unit), []).append(value)

    def all(self) -> list[Figure]:
        return [Figure(name, unit, tuple(rounds)) for (name, unit), rounds in self._rounds.items()]

    def of(self, name: str, unit: str) -> Figure | None:
        rounds = self._rounds.get((name, unit))
        return Figure(name, unit, tuple(rounds)) if rounds else None

    def ratio(self, named: str, over: tuple[str, str], under: tuple[str, str], *, times: float = 1.0) -> None:
        """The median of the rounds' own ratios; where one of both was not measured there is none."""
        above, below = self.of(*over), self.of(*under)
        if above is None or below is None:
            return
        each = [times * a / b for a, b in zip(above.rounds, below.rounds, strict=False) if b]
        if each:
            self.ratios[named] = statistics.median(each)

    def worst(self, named: str, of: Iterable[str], *, least: bool = True) -> None:
        """One word for several ratios: the least of them, or the greatest."""
        found = [self.ratios[each] for each in of if each in self.ratios]
        if found:
            self.ratios[named] = min(found) if least else max(found)

    def document(self, about: Mapping[str, object]) -> Json:
        ratios = {name: _short(value) for name, value in self.ratios.items()}
        figures = [each.document() for each in self.all()]
        return {**about, "ratios": ratios, "figures": figures, "not_measured": dict(self.missing)}


def _short(value: float) -> float:
    return float(f"{value:.4g}")
