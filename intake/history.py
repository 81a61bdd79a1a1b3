"""`intake import`: a table of what came before, each row a submission of one source, through the same identity.

A row that names an id which the source has delivered already is that event.  One without an id is known by its
answers: the same file twice gives the same events, and equal rows are one.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import uuid5

import psycopg
import structlog

from intake import installation, kept
from intake.config import Settings, Source
from intake.db import Conn
from intake.identity import EVENTS, IdentityKey, Mode
from intake.reading import Arrival, Post, Reader
from intake.received import Acceptance, scope_of
from intake.sources.base import Incoming

log = structlog.get_logger()

Row = Mapping[str, str]
ENCODINGS = ("utf-8-sig", "cp1252")  # a spreadsheet writes either; the second reads nearly any bytes
DELIMITERS = ",;\t|"
JSON = "application/json"


class Untabular(ValueError):
    """The file is no table with one name above each column; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Table:
    """How to read a file.  `id_column` None: rows have no id; `time_column` None: nor a time.

    `columns`: lead field -> column, where its name is no well-known one.
    """

    id_column: str | None = None
    time_column: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    mode: Mode = "live"


@dataclass(frozen=True, slots=True)
class Imported:
    """Numbers of rows: new events, known ones, without an answer in them, and those that were not stored."""

    rows: int = 0
    events: int = 0
    known: int = 0
    empty: int = 0
    failed: int = 0


# --- the file -------------------------------------------------------------------------------------------------------


def rows_of(content: bytes) -> tuple[list[Row], list[str]]:
    """The rows of a CSV file and the names of its columns, whatever separates them.  Raises Untabular."""
    rows, names = numbered_rows_of(content)
    return [row for _, row in rows], names


def numbered_rows_of(content: bytes) -> tuple[list[tuple[int, Row]], list[str]]:
    """The same, each row with its number in a spreadsheet, where that of the names is 1.  Raises Untabular."""
    text = _text(content)
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(DELIMITERS, key=first.count))
    try:
        names = [name.strip() for name in next(reader, [])]
        if not all(names) or len(set(names)) != len(names) or not names:
            raise Untabular("the first line must name each column, and each by another name")
        return [(number, _row(number, cells, names)) for number, cells in enumerate(reader, 2) if cells], names
    except csv.Error as broken:
        raise Untabular(f"line {reader.line_num}: {broken}") from None


def _row(number: int, cells: list[str], names: list[str]) -> Row:
    if len(cells) > len(names):
        raise Untabular(f"row {number} has more columns than the first one names")
    return {name: value for name, value in zip(names, cells, strict=False) if value.strip()}


def _text(content: bytes) -> str:
    for encoding in ENCODINGS:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise Untabular("must be UTF-8 text, or what Excel writes")


# --- its rows -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Importer:
    """Takes the rows of one table into one source."""

    conn: Conn
    reader: Reader
    table: Table
    key: IdentityKey

    def take_all(self, rows: list[Row], progress: Callable[[int, int], object] = lambda _done, _of: None) -> Imported:
        """Each in a transaction of its own: one that fails stops no other."""
        done = Imported()
        for number, row in enumerate(rows, 1):
            try:
                done = _counted(done, self.take(row))
            except psycopg.Error as fault:
                if self.conn.closed:
                    raise
                log.error("row not stored", row=number, error=type(fault).__name__)  # noqa: TRY400  # it quotes values
                done = replace(done, rows=done.rows + 1, failed=done.failed + 1)
            progress(number, len(rows))
        return done

    def take(self, row: Row) -> Acceptance:
        """Accept one row.  Raises psycopg.Error."""
        source, mode = self.reader.source, self.table.mode
        post = Post(source.name, mode, JSON, {}, json.dumps(row, ensure_ascii=False).encode(), url="")
        # The same row has the same receipt each time, so that what is named after it is the same too.
        receipt_id = uuid5(EVENTS, json.dumps(["row", mode, scope_of(source), row], sort_keys=True))
        reading = self.reader.read(post)
        found = tuple(self._historical(each, row) for each in reading.events)
        received = self.reader.received(post, replace(reading, events=found), Arrival(receipt_id, self.reader.now))
        with self.conn.transaction():
            return kept.accept(self.conn, self.key, received)

    def _historical(self, incoming: Incoming, row: Row) -> Incoming:
        """Under a known id its other shape is no other content; its time is that of the row."""
        at = _time(row.get(self.table.time_column or "", ""), self.reader.settings)
        return replace(incoming, on_change="known", lead=replace(incoming.lead, occurred_at=at))


def importer(conn: Conn, settings: Settings, source: Source, table: Table, now: datetime) -> Importer:
    """For a source as its rows come: read by well-known names and the table's own, and named by a column."""
    named_by = "body" if table.id_column is None else _pointer(table.id_column)
    columns = {name: _pointer(column) for name, column in table.columns.items()}
    as_rows = replace(source, provider="generic", dedupe=named_by, idempotency_key=False, fields=columns)
    return Importer(conn, Reader(settings, as_rows, now), table, installation.read(conn).key)


def _pointer(column: str) -> str:
    """RFC 6901."""
    return "/" + column.replace("~", "~0").replace("/", "~1")


def _time(text: str, settings: Settings) -> datetime | None:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=settings.timezone)


def _counted(done: Imported, acceptance: Acceptance) -> Imported:
    new = sum(not each.duplicate for each in acceptance.events)
    return replace(
        done,
        rows=done.rows + 1,
        events=done.events + new,
        known=done.known + len(acceptance.events) - new + acceptance.updates,
        empty=done.empty + acceptance.ignored,
        failed=done.failed + acceptance.quarantined,
    )
