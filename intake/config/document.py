"""A configuration file whose tables have been read by their schemas, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from marshmallow import ValidationError

from intake.config.errors import Path, unknown
from intake.config.schema import AlertsSchema, DefaultsSchema, DestinationSchema, IntakeSchema, SourceSchema, Strict

Table = dict[str, Any]  # The values are those that the table's schema has read.
Complaint = tuple[Path, str]  # where, and the rule that is broken there

TABLES: Final = frozenset({"alerts", "intake", "destinations", "defaults", "sources"})


NO_SOURCES = "has no [[sources]], so nothing could ever arrive"


@dataclass(frozen=True, slots=True)
class Document:
    """The tables as the file has them; a value that broke a rule is left out."""

    intake: Table
    alerts: Table
    destinations: tuple[Table, ...]
    defaults: Table
    sources: tuple[Table, ...]

    def merged(self, index: int) -> Table:
        """One source, over the defaults."""
        return {**self.defaults, **self.sources[index]}

    def place(self, index: int, key: str) -> Path:
        """Where a value of that source stands: there, or in the defaults."""
        if key not in self.sources[index] and key in self.defaults:
            return ("defaults", key)
        return ("sources", index, key)


def read(raw: Mapping[str, object]) -> tuple[Document, list[Complaint]]:
    """Take every table through its schema."""
    complaints: list[Complaint] = [((key,), unknown("table", key, TABLES)) for key in raw if key not in TABLES]
    document = Document(
        intake=_one(raw, "intake", IntakeSchema(), complaints),
        alerts=_one(raw, "alerts", AlertsSchema(), complaints),
        destinations=_many(raw, "destinations", DestinationSchema(), complaints),
        defaults=_one(raw, "defaults", DefaultsSchema(), complaints),
        sources=_many(raw, "sources", SourceSchema(), complaints),
    )
    if raw.get("sources", []) == []:
        complaints.append(((), NO_SOURCES))
    return document, complaints


def _one(raw: Mapping[str, object], key: str, schema: Strict, complaints: list[Complaint]) -> Table:
    return _table(raw.get(key, {}), (key,), schema, complaints)


def _many(raw: Mapping[str, object], key: str, schema: Strict, complaints: list[Complaint]) -> tuple[Table, ...]:
    tables = raw.get(key, [])
    if not isinstance(tables, list):
        complaints.append(((key,), f"must be begun with [[{key}]], one for each"))
        return ()
    return tuple(_table(table, (key, index), schema, complaints) for index, table in enumerate(tables))


def _table(table: object, path: Path, schema: Strict, complaints: list[Complaint]) -> Table:
    if not isinstance(table, dict):
        complaints.append((path, "must be a table"))
        return {}
    try:
        return dict(schema.load(table))
    except ValidationError as error:
        complaints.extend(_flat(error.messages, path))
        return dict(error.valid_data) if isinstance(error.valid_data, dict) else {}


def _flat(messages: object, path: Path) -> Iterator[Complaint]:
    """marshmallow's nested messages as (where, rule)."""
    if isinstance(messages, dict):
        for key, below in messages.items():
            yield from _flat(below, path if key == "_schema" else (*path, key))
    elif isinstance(messages, list):
        for message in messages:
            yield from _flat(message, path)
    else:
        yield path, str(messages)
