"""What the CRM's own files and the database say when all is quiet.

Of the pipeline nothing is believed but which events it shows as open; what was made, and how often, the CRM tells.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from workers.prove.chaos.letters import Json

STATES = """
    SELECT DISTINCT ON (event_id) event_id, state, reason FROM deliveries ORDER BY event_id, generation DESC
"""
RECORDS = "SELECT id, kind, parent_id, data FROM records WHERE live AND coalesce(reference, '') NOT LIKE ? ORDER BY id"
MADE = "SELECT kind, reference FROM ledger WHERE what = 'created' AND coalesce(reference, '') NOT LIKE ?"
# The records by which absence is proven belong to nobody's event.
SENTINELS = "%intake-sentinel-%"
WORDS = re.compile(r"(?<!\w)\w+/\d+/\d+\.")


@dataclass(frozen=True, slots=True)
class Standing:
    """A record that lives in the CRM.  `words`: of the events that it tells of."""

    crm_id: str
    kind: str
    parent: str | None
    name: str | None = None
    amount: str | None = None
    words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Evidence:
    """`states`: of each event that the database knows.  `made`: how often each reference was created.

    `reasons`: why an event stands where it stands, where there is one.
    """

    states: Mapping[UUID, str]
    alive: Sequence[Standing]
    made: Counter[tuple[str, str]]
    reasons: Mapping[UUID, str] = field(default_factory=dict)

    def below(self) -> Mapping[str, Sequence[Standing]]:
        """The records under each other record, by its id."""
        found: dict[str, list[Standing]] = defaultdict(list)
        for each in self.alive:
            if each.parent is not None:
                found[each.parent].append(each)
        return found

    def telling(self) -> Mapping[str, Sequence[Standing]]:
        """The opportunities and notes in which each event's words stand."""
        found: dict[str, list[Standing]] = defaultdict(list)
        for each in self.alive:
            for words in each.words if each.kind in {"opportunity", "note"} else ():
                found[words].append(each)
        return found


def collect(rows: Iterable[Json], ledger: Path) -> Evidence:
    """`rows`: what the database answers to STATES.  `ledger`: the sandbox CRM's file.  Raises sqlite3.Error."""
    listed = list(rows)
    states = {UUID(str(row["event_id"])): str(row["state"]) for row in listed}
    reasons = {UUID(str(row["event_id"])): str(row["reason"]) for row in listed if row.get("reason") is not None}
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as crm:
        made = Counter((str(kind), str(reference)) for kind, reference in crm.execute(MADE, (SENTINELS,)))
        return Evidence(states, _standing(crm.execute(RECORDS, (SENTINELS,))), made, reasons)


def _standing(rows: Iterable[tuple[str, str, str | None, str]]) -> list[Standing]:
    return [_record(crm_id, kind, parent, json.loads(data)) for crm_id, kind, parent, data in rows]


def _record(crm_id: str, kind: str, parent: str | None, data: Json) -> Standing:
    told = " ".join(str(value) for value in data.values())
    name, amount = (None if data.get(each) is None else str(data[each]) for each in ("name", "amount"))
    return Standing(crm_id, kind, parent, name, amount, frozenset(WORDS.findall(told)))
