"""`intake import`: history from a CSV file."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import BinaryIO

import click

from intake import history
from intake.cli import place
from intake.cli.deciding import hint
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json
from intake.cli.recovering import open_source, progress, report
from intake.config.known import LEAD_FIELDS
from intake.history import Row, Table, Untabular


@click.command("import")
@click.argument("file", type=click.File("rb"))
@click.argument("source")
@click.option("--id", "id_column", help="The column with the sender's id: what was delivered already is known by it.")
@click.option("--time", "time_column", help="The column with the time, in ISO 8601.")
@click.option("--column", "columns", multiple=True, metavar="FIELD=COLUMN", help="Where a field of the lead stands.")
@click.option("--test", "test_mode", is_flag=True, help="As tests: they never reach a live CRM.")
@as_json
def import_(  # noqa: PLR0913  # one parameter an option
    *,
    file: BinaryIO,
    source: str,
    id_column: str | None,
    time_column: str | None,
    columns: tuple[str, ...],
    test_mode: bool,
    json_wanted: bool,
) -> None:
    """Take each row of FILE (CSV, one name above each column) as a submission of SOURCE, and deliver it.

    The same file again changes nothing.  Try it with --test first.
    """
    configured = open_source(source)
    if configured.kind != "form":
        raise Misconfigured(f"{source} is of the kind {configured.kind}: rows can be forms only")
    table = Table(id_column, time_column, _columns(columns), "test" if test_mode else "live")
    rows = _rows(file.read(), table)
    with place.connection() as conn, progress(f"import {source}", hidden=json_wanted) as told:
        made = history.importer(conn, place.settings(), configured, table, datetime.now(UTC))
        done = made.take_all(rows, told)
    hint()
    report(asdict(done), json_wanted=json_wanted)
    if done.failed:
        raise Finding(f"{done.failed} rows were not stored")


def _columns(pairs: tuple[str, ...]) -> dict[str, str]:
    found = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    if len(found) != len(pairs) or not found.keys() <= LEAD_FIELDS:
        raise click.UsageError(
            f"--column is FIELD=COLUMN, each field once; the fields are {', '.join(sorted(LEAD_FIELDS))}"
        )
    return found


def _rows(content: bytes, table: Table) -> list[Row]:
    try:
        rows, names = history.rows_of(content)
    except Untabular as wrong:
        raise Finding(str(wrong)) from wrong
    wanted = {table.id_column, table.time_column, *table.columns.values()} - {None}
    if not wanted <= set(names):
        raise Finding(f"there is no column {', '.join(sorted(str(each) for each in wanted - set(names)))}")
    return rows
