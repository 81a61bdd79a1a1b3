"""How commands print: JSON for programs, tables for people that say everything in 80 columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, date, datetime
from uuid import UUID

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from intake.cli import place

LONGEST = 22  # characters of a word of ours, as the longest reasons, that is not broken
SHORT_ID = 8  # digits of an event's id in tables; commands take any beginning of one

as_json = click.option("--json", "json_wanted", is_flag=True, help="Print JSON.")


def print_json(document: object) -> None:
    """One document.  Dataclasses become objects, times ISO 8601, ids text."""
    click.echo(json.dumps(document, default=_plain, ensure_ascii=False, indent=2))


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def console() -> Console:
    """Standard output; without colour where it is no terminal."""
    return Console(highlight=False, soft_wrap=False)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, last: bool = False) -> None:
    """A table.  Nothing is cut: texts are broken into lines where they do not fit; times, ids and our words never.

    `last`: only the last column is broken.
    """
    cells = [[(value, cell(value)) for value in row] for row in rows]
    shown = Table(box=None, show_header=any(columns), pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for at, name in enumerate(columns):
        whole = all(_is_whole(*row[at]) for row in cells)
        shown.add_column(name, overflow="fold", no_wrap=whole or (last and at < len(columns) - 1))
    for row in cells:
        shown.add_row(*(text for _, text in row))
    console().print(shown)


def _is_whole(value: object, text: str) -> bool:
    """A time, an id, a number, or words of ours, one a line."""
    if isinstance(value, datetime | UUID | int | None):
        return True
    return all(len(line) <= LONGEST and line.replace("_", "").replace("-", "").isalnum() for line in text.split("\n"))


def cell(value: object) -> str:
    """One value as text; markup in it is no markup."""
    match value:
        case None | "":
            return "-"
        case datetime():
            return moment(value)
        case list() | tuple():
            return "\n".join(text for text in map(cell, value) if text != "-") or "-"
        case UUID():
            return str(value)[:SHORT_ID]
        case _:
            return escape(str(value))


def moment(value: datetime) -> str:
    """A time where the company is, with the year where it is another one."""
    local = value.astimezone(place.timezone())
    this_year = local.year == datetime.now(UTC).year
    return local.strftime("%m-%d %H:%M:%S" if this_year else "%Y-%m-%d %H:%M")


def minute(value: datetime | None) -> str | None:
    """The same in lists, where seconds would take the place of something else."""
    return None if value is None else moment(value)[: len("11-30 09:00")].rstrip()


def facts(pairs: Iterable[tuple[str, object]]) -> None:
    """Names and values, one a line; what is missing is left out."""
    shown = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    shown.add_column(no_wrap=True, style="bold")
    shown.add_column(overflow="fold")
    for name, value in pairs:
        if value not in (None, ""):
            shown.add_row(name, escape(str(value)) if isinstance(value, UUID) else cell(value))
    console().print(shown)


def heading(text: str) -> None:
    """A line above a part."""
    console().print(f"\n[bold]{escape(text)}[/bold]")


def paragraph(text: str) -> None:
    """A sentence or more, broken at words."""
    console().print(escape(text))
