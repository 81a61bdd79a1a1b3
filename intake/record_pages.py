"""Where people see a record in the CRM's own interface: the configuration says it, else what a worker noted does.

`[destinations.pages]` · else `record_pages`, written by a worker when it begins · else there is no link
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from psycopg.rows import tuple_row

from intake.config import Settings
from intake.db import Conn
from intake.trail import RecordRow

PLACE: Final = "{id}"
KNOWN: Final = "SELECT destination, pages FROM record_pages"


@dataclass(frozen=True, slots=True)
class Pages:
    """The addresses that are known: destination -> kind of record -> address with a place for its id."""

    known: Mapping[str, Mapping[str, str]]

    def of(self, destination: str, kind: str, crm_id: str | None) -> str | None:
        """The page of one record; None: nobody knows it, or there is no such record."""
        address = self.known.get(destination, {}).get(kind)
        return address.replace(PLACE, quote(crm_id, safe="")) if address and crm_id else None

    def of_records(self, records: Iterable[RecordRow]) -> dict[str, str]:
        """By kind, of those records that have one; of two of a kind the first."""
        found: dict[str, str] = {}
        for each in records:
            page = self.of(each.destination, each.kind, each.crm_id)
            if page:
                found.setdefault(each.kind, page)
        return found


def read(conn: Conn, settings: Settings) -> Pages:
    """All that are known now."""
    with conn.cursor(row_factory=tuple_row) as cursor:
        noted: dict[str, dict[str, str]] = dict(cursor.execute(KNOWN).fetchall())
    names = settings.destinations.keys()
    return Pages({name: {**noted.get(name, {}), **settings.destinations[name].pages} for name in names})
