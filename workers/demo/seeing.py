"""What stands in the end: in our database, and in the sandbox CRM by its own ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import psycopg

from intake import ops, worklist
from intake.ops import EventRow
from intake.worklist import ItemRow
from workers.demo.stage import Stage

Json = Mapping[str, object]
# Kind and reference: what a record in the CRM is known by.
Name = tuple[str, str]

SENTINEL = "intake-sentinel-"


@dataclass(frozen=True, slots=True)
class Seen:
    """`records` are the CRM's living ones by name, `created` how often its ledger says that each was created.

    The sentinels are in none of them.  `doubles` is the CRM's own list of names that more than one record bears.
    """

    events: Mapping[UUID, EventRow]
    items: Sequence[ItemRow]
    records: Mapping[Name, Sequence[Json]]
    created: Counter[Name]
    doubles: Mapping[Name, Sequence[str]]
    dials: Sequence[Json]

    @property
    def entries(self) -> int:
        """How many records the CRM holds."""
        return sum(len(each) for each in self.records.values())


def see(stage: Stage) -> Seen:
    """Raises psycopg.Error and requests.RequestException."""
    with psycopg.connect(stage.database_url, autocommit=True) as conn:
        known, items = events(conn), worklist.items(conn)
    crm = stage.dials
    records: dict[Name, list[Json]] = {}
    for record in _ours(crm.records()):
        if record["live"]:
            records.setdefault(_name(record), []).append(record)
    return Seen(
        events=known,
        items=items,
        records=records,
        created=Counter(_name(entry) for entry in _ours(crm.ledger()) if entry["what"] == "created"),
        doubles={_name(double): _texts(double["ids"]) for double in _ours(crm.doubles())},
        dials=crm.faults(),
    )


def events(conn: psycopg.Connection) -> dict[UUID, EventRow]:
    """All events, by id."""
    return {row.event_id: row for row in ops.events(conn, ops.Wanted(limit=ops.MOST)).events}


def _ours(rows: Sequence[Json]) -> list[Json]:
    return [row for row in rows if not str(row["reference"]).startswith(SENTINEL)]


def _name(row: Json) -> Name:
    return str(row["kind"]), str(row["reference"])


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []
