"""What people may read: events on their way, and where each stands.

Rows and ids only; names, texts, phones and addresses stand in `bodies`, which nothing here reads.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.deliveries import FINAL, OPEN
from intake.picking import Picking, query

# One page, when nobody says how many.
PAGE = 50
MOST = 1000


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event and its newest delivery.  The field names are the contract's."""

    event_id: UUID
    mode: Literal["live", "test"]
    source: str
    kind: Literal["form", "whatsapp", "quote"]
    request_id: str
    version: int | None
    need: str
    state: str
    reason: str | None
    received_at: datetime
    due_at: datetime | None
    attempts: int
    contact_id: str | None
    opportunity_id: str | None
    task_id: str | None
    note_id: str | None
    contact_ref: str | None
    opportunity_ref: str | None
    task_ref: str | None
    note_ref: str | None
    open_item: int | None


# A record that was made anew counts in place of the one that is gone.
EVENTS = """
    SELECT e.event_id, e.mode, e.source, e.kind, e.request_id, e.version, n.reference AS need, d.state, d.reason,
           e.received_at, d.due_at,
           (SELECT count(*) FROM attempts a
             WHERE a.record_id IN (d.contact_record, d.opportunity_record, d.task_record, d.note_record,
                                   c.record_id, o.record_id, t.record_id, m.record_id)) AS attempts,
           c.crm_id AS contact_id, o.crm_id AS opportunity_id, t.crm_id AS task_id, m.crm_id AS note_id,
           c.reference AS contact_ref, o.reference AS opportunity_ref, t.reference AS task_ref,
           m.reference AS note_ref,
           (SELECT i.item_id FROM items i
             WHERE i.event_id = e.event_id AND i.closed_at IS NULL
             ORDER BY i.kind = 'delivery' DESC, i.item_id LIMIT 1) AS open_item
      FROM picked x
      CROSS JOIN LATERAL (SELECT * FROM events WHERE event_id = x.event_id LIMIT 1) e
      CROSS JOIN LATERAL (SELECT * FROM deliveries WHERE event_id = e.event_id ORDER BY generation DESC LIMIT 1) d
      JOIN needs n USING (need_id)
      LEFT JOIN records c ON c.record_id = newest_record(d.contact_record)
      LEFT JOIN records o ON o.record_id = newest_record(d.opportunity_record)
      LEFT JOIN records t ON t.record_id = newest_record(d.task_record)
      LEFT JOIN records m ON m.record_id = newest_record(d.note_record) AND m.kind = 'note'
     ORDER BY e.received_at DESC, e.event_id DESC
"""

STATES = ("pending", *OPEN, *FINAL)


class BadCursor(ValueError):
    """This cursor is none that a page ended with."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events.  `state` "pending": all that are not final; `cursor`: where the page before ended.

    `destination`: where the newest delivery goes.  `assignee`: whose open item, "-": nobody's.  `events`: of these.
    """

    state: str | None = None
    source: str | None = None
    since: datetime | None = None
    limit: int = PAGE
    cursor: str | None = None
    kind: str | None = None
    mode: str | None = None
    until: datetime | None = None
    destination: str | None = None
    assignee: str | None = None
    events: Sequence[UUID] | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """`next_cursor` None: these are the last."""

    events: tuple[EventRow, ...]
    next_cursor: str | None


def events(conn: Conn, wanted: Wanted) -> Page:
    """One page, the newest first.  Raises BadCursor."""
    limit = max(1, min(wanted.limit, MOST))
    at, key = _opened(wanted.cursor)
    picking = Picking(
        _states(wanted.state), wanted.source, wanted.kind, wanted.mode, wanted.assignee, wanted.since, wanted.until,
        wanted.events, at, key, limit + 1, wanted.destination,
    )  # fmt: skip
    rows = _rows(conn, picking)
    page = tuple(rows[:limit])
    return Page(page, _cursor(page[-1]) if len(rows) > limit else None)


def _rows(conn: Conn, picking: Picking) -> list[EventRow]:
    with conn.cursor(row_factory=class_row(EventRow)) as cursor:
        return cursor.execute(query(picking, EVENTS), picking.given).fetchall()


def _states(state: str | None) -> list[str] | None:
    if state is None:
        return None
    return list(OPEN) if state == "pending" else [state]


def _cursor(last: EventRow) -> str:
    return base64.urlsafe_b64encode(f"{last.received_at.isoformat()} {last.event_id}".encode()).decode()


def _opened(cursor: str | None) -> tuple[datetime | None, UUID | None]:
    if cursor is None:
        return None, None
    try:
        at, _, event_id = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        return datetime.fromisoformat(at), UUID(event_id)
    except (ValueError, binascii.Error) as broken:
        raise BadCursor("this cursor is none that a page ended with") from broken


def event(conn: Conn, event_id: UUID) -> EventRow | None:
    """One event; None: there is none of this id."""
    return next(iter(_rows(conn, Picking(events=[event_id], limit=1))), None)


# An id that was acknowledged before it was known to be another event's is an alias of it.
BEGIN_WITH = """
    SELECT event_id FROM events WHERE event_id BETWEEN %(least)s::uuid AND %(most)s::uuid
     UNION
    SELECT event_id FROM event_aliases WHERE alias BETWEEN %(least)s::uuid AND %(most)s::uuid
     ORDER BY event_id LIMIT 2
"""
DIGITS = 32  # of a UUID


def begin_with(conn: Conn, start: str) -> list[UUID]:
    """The first two events whose id, or an alias of it, begins so.  Raises ValueError where no id begins so."""
    digits = start.replace("-", "")
    given = {"least": UUID(digits.ljust(DIGITS, "0")), "most": UUID(digits.ljust(DIGITS, "f"))}
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(BEGIN_WITH, given).fetchall()
