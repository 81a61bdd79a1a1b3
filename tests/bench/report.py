"""The figures as a table for people, as JSON, and as a picture of the ratios."""

from __future__ import annotations

from xml.sax.saxutils import escape

from rich.console import Console
from rich.table import Table

from tests.bench.figures import Figures

BAR, LINE, LEFT = 420, 22, 330


def show(figures: Figures, console: Console) -> None:
    """Print the medians, the ratios, and what is missing."""
    table = Table("what", "median", "unit", "least to most", title="Medians of all rounds")
    for each in figures.all():
        table.add_row(
            each.name, f"{each.median:,.4g}", each.unit, f"{min(each.rounds):,.4g} to {max(each.rounds):,.4g}"
        )
    console.print(table)
    ratios = Table("ratio", "median of the rounds' own", title="Ratios")
    for name, value in figures.ratios.items():
        ratios.add_row(name, f"{value:.3g}")
    console.print(ratios)
    for name, why in figures.missing.items():
        console.print(f"not measured: {name}: {why}", markup=False)


def svg(figures: Figures) -> str:
    """Events a second as bars."""
    shown = [each for each in figures.all() if each.unit == "events/s"]
    most = max((each.median for each in shown), default=1.0)
    rows = "\n".join(_bar(place, each.name, each.median, most) for place, each in enumerate(shown))
    size = f'width="{LEFT + BAR + 100}" height="{LINE * len(shown) + 12}"'
    style = "<style>text{font:12px sans-serif;fill:#222}rect{fill:#3b6ea5}</style>"
    back = '<rect width="100%" height="100%" style="fill:#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{style}{back}\n{rows}\n</svg>\n'


def _bar(place: int, name: str, value: float, most: float) -> str:
    top = place * LINE + 6
    width = max(1.0, BAR * value / most)
    return (
        f'<text x="{LEFT - 8}" y="{top + 13}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{LEFT}" y="{top}" width="{width:.1f}" height="{LINE - 6}"/>'
        f'<text x="{LEFT + width + 6:.1f}" y="{top + 13}">{value:,.0f}/s</text>'
    )
