"""A result for people: a table for each profile, points by faults, as text or as a page."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from workers.prove.faults import FAULTS
from workers.prove.points import POINTS
from workers.prove.result import Cell, Result
from workers.prove.scenarios import SCENARIOS

WIDTH = 80  # columns

Table = Mapping[tuple[str, str], Cell]

LEGEND = (
    "A cell is the number of runs in which the fault came at the point; all of them held what is promised, unless it"
    " ends in L (lost) or D (doubled). With “?” some of their leads wait, visibly, for a person or a look."
)


def summary(result: Result) -> str:
    """One sentence."""
    return (
        f"{counted(result.runs, 'run')}, {counted(result.accepted, 'accepted event')}: {result.confirmed} confirmed,"
        f" {result.uncertain} open and visible, {result.lost} lost, {result.doubled} doubled"
        f" (seed {result.seed}, {result.seconds:.0f} s)"
    )


def counted(number: int, noun: str) -> str:
    """So many of a thing, in the plural where it takes one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def text(result: Result) -> Iterator[str]:
    """All tables, line by line."""
    for profile, table in sorted(result.cells.items()):
        yield ""
        yield f"sandbox profile {profile}"
        for grid in _grids(table):
            yield ""
            yield from _aligned(grid)
    yield ""
    yield from textwrap.wrap(LEGEND, WIDTH)
    for fault in FAULTS.values():
        yield f"  {fault.code:>3}  {fault.name}: {fault.words}"
    yield ""
    yield from textwrap.wrap(summary(result), WIDTH)
    yield from failures(result)


def failures(result: Result) -> Iterator[str]:
    """What went wrong, and how to see it again."""
    for each in result.failures:
        yield ""
        yield f"FAILED {each.run.path}"
        yield from (f"  lost: {words}" for words in each.verdict.lost)
        yield from (f"  doubled: {words}" for words in each.verdict.doubled)
        yield f"  again: intake prove --seed {result.seed} --only {each.run.path}"
        simplest = result.shrunk.get(each.run.path, each.run.path)
        if simplest != each.run.path:
            yield f"  simpler: intake prove --seed {result.seed} --only {simplest}"


def _grids(table: Table) -> Iterator[list[list[str]]]:
    """What befell the worker, at every point; and what befell a request, where one followed."""
    for mine in (True, False):
        part = {place: cell for place, cell in table.items() if (FAULTS[place[1]].of == "worker") is mine}
        if part:
            yield _grid(part)


def _grid(table: Table) -> list[list[str]]:
    """A row of heads, and one for each point."""
    faults = [fault for fault in FAULTS.values() if any(name == fault.name for _, name in table)]
    points = [point for point in POINTS if any(name == point for name, _ in table)]
    rows = [[point, *(_cell(table.get((point, fault.name))) for fault in faults)] for point in points]
    return [["point", *(fault.code for fault in faults)], *rows]


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "·"
    marks = "".join(mark for mark, count in (("?", cell.uncertain), ("L", cell.lost), ("D", cell.doubled)) if count)
    return f"{cell.runs}{marks}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for head, *cells in rows:
        yield " ".join([head.ljust(widths[0]), *(each.rjust(w) for each, w in zip(cells, widths[1:], strict=True))])


# --- a page -----------------------------------------------------------------------------------------------------------

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1b1b1b; }
table { border-collapse: collapse; font-size: .875rem; margin: 1rem 0 2rem; display: block; overflow-x: auto; }
th, td { padding: .2rem .5rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child { text-align: left; font-weight: normal; font-family: ui-monospace, monospace; }
.held { background: #e6f4ea; } .open { background: #fff4d6; } .broken { background: #b3261e; color: #fff; }
"""


def page(result: Result) -> str:
    """A whole HTML page that needs nothing beside it."""
    word = "held" if result.held else "broken"
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width, initial-scale=1'>",
        f"<title>intake prove: {word}</title><style>{STYLE}</style>",
        f"<h1>What is promised was {word}</h1><p>{html.escape(summary(result))}</p>",
        f"<pre>{html.escape(chr(10).join(failures(result)))}</pre>" if result.failures else "",
        f"<p>{html.escape(LEGEND)}</p>",
        *(_section(profile, table) for profile, table in sorted(result.cells.items())),
        "<h2>Faults</h2><dl>",
        *(f"<dt><b>{each.code}</b> {each.name}<dd>{html.escape(each.words)}" for each in FAULTS.values()),
        "</dl><h2>Points</h2><dl>",
        *(f"<dt>{each.name}<dd>{html.escape(each.words)}" for each in POINTS.values()),
        "</dl><h2>Scenarios</h2><dl>",
        *(f"<dt>{each.name}<dd>{html.escape(each.words)}" for each in SCENARIOS.values()),
        "</dl></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _section(profile: str, table: Table) -> str:
    return f"<h2>Sandbox profile {html.escape(profile)}</h2>" + "".join(map(_html_table, _grids(table)))


def _html_table(grid: Sequence[Sequence[str]]) -> str:
    head, *rows = grid
    heads = "".join(f"<th scope=col>{html.escape(each)}" for each in head)
    body = "".join(f"<tr><th scope=row>{html.escape(row[0])}{''.join(map(_td, row[1:]))}" for row in rows)
    return f"<table><tr>{heads}{body}</table>"


def _td(cell: str) -> str:
    if cell == "·":
        return "<td>"
    kind = "broken" if cell[-1] in "LD" else "open" if cell.endswith("?") else "held"
    return f"<td class={kind}>{html.escape(cell)}"
