"""What a claimed delivery is about: its event, its lead as it stands now, and its need."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row

from intake import lead_schema
from intake.db import Conn
from intake.deliveries import Claim
from intake.lead import Lead


@dataclass(frozen=True, slots=True)
class Work:
    """`reference` is the stem of the need's references; `number` the sender's own (a quote's), None: it has none."""

    event_id: UUID
    mode: Literal["live", "test"]
    source: str
    scope: str
    kind: Literal["form", "whatsapp", "quote"]
    version: int | None
    need_id: int
    reference: str
    number: str | None
    received_at: datetime
    lead: Lead = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Row:
    source: str
    scope: str
    kind: Literal["form", "whatsapp", "quote"]
    version: int | None
    key: str
    reference: str
    received_at: datetime
    lead: bytes | None


# The lead of the newest revision: what a person corrected counts, the original stays.
LOAD = """
    SELECT e.source, e.scope, e.kind, e.version, n.key, n.reference, e.received_at, b.content AS lead
      FROM events e JOIN needs n ON n.need_id = %(need_id)s
      LEFT JOIN bodies b ON b.event_id = e.event_id AND b.what = 'lead'
     WHERE e.event_id = %(event_id)s
     ORDER BY b.revision DESC LIMIT 1
"""


class Forgotten(Exception):
    """The payload of this event was purged: there is nothing left to deliver."""


def load(conn: Conn, held: Claim) -> Work:
    """Raises Forgotten."""
    with conn.cursor(row_factory=class_row(_Row)) as cursor:
        row = cursor.execute(LOAD, {"event_id": held.event_id, "need_id": held.need_id}).fetchone()
    if row is None or row.lead is None:
        raise Forgotten(f"event {held.event_id}")
    kind, _, number = row.key.partition(":")
    return Work(
        event_id=held.event_id,
        mode="test" if held.mode == "test" else "live",
        source=row.source,
        scope=row.scope,
        kind=row.kind,
        version=row.version,
        need_id=held.need_id,
        reference=row.reference,
        number=number if kind == "number" else None,
        received_at=row.received_at,
        lead=lead_schema.load(row.lead),
    )
