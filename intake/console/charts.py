"""Charts as SVG: only where each shape goes; templates draw them, style sheets colour them.

Two series are told apart by an outline and a filling, and each bar bears its number: nothing depends on colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 392.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle with its number; `label` stands beside the pair.  In units of the drawing."""

    x: float
    y: float
    width: float
    height: float
    number: str


@dataclass(frozen=True, slots=True)
class Pair:
    """What belongs together: outlined, and filled.  `at`: where the label goes."""

    label: str
    at: float
    outlined: Bar
    filled: Bar


@dataclass(frozen=True, slots=True)
class Chart:
    """`height` in units of the drawing, WIDTH wide."""

    height: float
    pairs: Sequence[Pair]


TALL: Final = 130.0
TOP: Final = 14.0  # for the number above the tallest


def columns(labels: Sequence[str], outlined: Sequence[int], filled: Sequence[int]) -> Chart:
    """Side by side, in time's order: the filled stands in the outlined, of which it is a part."""
    step = WIDTH / max(len(labels), 1)
    scale = TALL / max([*outlined, *filled, 1])
    pairs = []
    for at, (label, whole, part) in enumerate(zip(labels, outlined, filled, strict=True)):
        left, tall = at * step, whole * scale
        outer = Bar(left + step * 0.14, TOP + TALL - tall, step * 0.72, tall, str(whole) if whole else "")
        inner = Bar(left + step * 0.26, TOP + TALL - part * scale, step * 0.48, part * scale, str(part))
        pairs.append(Pair(label, left + step / 2, outer, inner))
    return Chart(TOP + TALL + 18, pairs)


LEFT: Final = 96.0  # for the labels
RIGHT: Final = 56.0  # for the numbers
ROW: Final = 38.0


def rows(
    labels: Sequence[str], outlined: Sequence[float], filled: Sequence[float], numbers: Sequence[tuple[str, str]]
) -> Chart:
    """One below the other: two bars each.  `numbers`: what stands at the end of either."""
    scale = (WIDTH - LEFT - RIGHT) / max([*outlined, *filled, 1e-9])
    pairs = []
    for at, (label, first, second, said) in enumerate(zip(labels, outlined, filled, numbers, strict=True)):
        top = at * ROW
        outer = Bar(LEFT, top + 4, max(first * scale, 0.5), 12, said[0])
        inner = Bar(LEFT, top + 19, max(second * scale, 0.5), 12, said[1])
        pairs.append(Pair(label, top + 21, outer, inner))
    return Chart(len(labels) * ROW, pairs)
