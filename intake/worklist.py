"""Open items: the list of what waits for a person, and how each source is doing."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row, tuple_row

from intake.db import Conn
from intake.ops import BadCursor

ItemKind = Literal["delivery", "conflict", "quarantine", "incident"]
KINDS: tuple[ItemKind, ...] = ("delivery", "conflict", "quarantine", "incident")


@dataclass(frozen=True, slots=True)
class ItemRow:
    """What waits for a person.  `state` is the delivery's, None where the item is about none."""

    item_id: int
    kind: ItemKind
    reason: str
    mode: str
    source: str | None
    event_id: UUID | None
    receipt_id: UUID | None
    record_id: int | None
    state: str | None
    fields: Mapping[str, str]
    evidence: Mapping[str, object]
    assignee: str | None
    opened_at: datetime
    due_at: datetime | None
    closed_at: datetime | None
    resolution: str | None


# What waits longest first.
ITEMS = """
    SELECT i.item_id, i.kind, i.reason, i.mode, i.source, i.event_id, i.receipt_id, i.record_id, d.state, i.fields,
           i.evidence, i.assignee, i.opened_at, i.due_at, i.closed_at, i.resolution
      FROM items i
      LEFT JOIN LATERAL (SELECT state FROM deliveries WHERE event_id = i.event_id
                          ORDER BY generation DESC LIMIT 1) d ON true
     WHERE (i.item_id = %(item_id)s OR %(item_id)s::bigint IS NULL AND i.closed_at IS NULL)
       AND (%(event_id)s::uuid IS NULL OR i.event_id = %(event_id)s)
       AND (%(kind)s::text IS NULL OR i.kind = %(kind)s)
       AND (%(assignee)s::text IS NULL OR i.assignee = %(assignee)s)
       AND (%(at)s::timestamptz IS NULL OR (i.opened_at, i.item_id) > (%(at)s, %(after)s::bigint))
     ORDER BY i.opened_at, i.item_id
     LIMIT %(limit)s
"""


ANY = dict.fromkeys(("item_id", "event_id", "kind", "assignee", "at", "after"))


def _rows(conn: Conn, limit: int, **wanted: object) -> list[ItemRow]:
    with conn.cursor(row_factory=class_row(ItemRow)) as cursor:
        return cursor.execute(ITEMS, ANY | wanted | {"limit": limit}).fetchall()


def items(conn: Conn, *, kind: ItemKind | None = None, assignee: str | None = None, limit: int = 200) -> list[ItemRow]:
    """What is open."""
    return _rows(conn, limit, kind=kind, assignee=assignee)


def item(conn: Conn, item_id: int) -> ItemRow | None:
    """One item, open or closed; None: there is none of this number."""
    return next(iter(_rows(conn, 1, item_id=item_id)), None)


def of_event(conn: Conn, event_id: UUID, limit: int = 200) -> list[ItemRow]:
    """What is open of one event."""
    return _rows(conn, limit, event_id=event_id)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which open items, None: any.  `cursor`: where the page before ended."""

    kind: ItemKind | None = None
    assignee: str | None = None
    limit: int = 50
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """`next_cursor` None: these are the last."""

    items: tuple[ItemRow, ...]
    next_cursor: str | None


def page(conn: Conn, wanted: Wanted) -> Page:
    """What waits longest first; what is opened or closed meanwhile shifts no page.  Raises BadCursor."""
    at, after = _opened(wanted.cursor)
    rows = _rows(conn, wanted.limit + 1, kind=wanted.kind, assignee=wanted.assignee, at=at, after=after)
    shown = tuple(rows[: wanted.limit])
    return Page(shown, _cursor(shown[-1]) if len(rows) > wanted.limit else None)


def _cursor(last: ItemRow) -> str:
    return base64.urlsafe_b64encode(f"{last.opened_at.isoformat()} {last.item_id}".encode()).decode()


MOST = 2**62  # of an item's number


def _opened(cursor: str | None) -> tuple[datetime | None, int | None]:
    if cursor is None:
        return None, None
    try:
        at, _, number = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        read, after = datetime.fromisoformat(at), int(number)
    except (ValueError, binascii.Error) as broken:
        raise BadCursor("this cursor is none that a page ended with") from broken
    if read.tzinfo is None or not 0 <= after <= MOST:
        raise BadCursor("this cursor is none that a page ended with")
    return read, after


# Of each source by an index, however many receipts it has.
LAST_DELIVERIES = """
    SELECT source,
           (SELECT received_at FROM receipts r WHERE r.source = asked.source AND mode = 'live' AND verdict <> 'refused'
             ORDER BY received_at DESC LIMIT 1),
           (SELECT received_at FROM receipts r WHERE r.source = asked.source AND mode = 'test' AND verdict <> 'refused'
             ORDER BY received_at DESC LIMIT 1)
      FROM unnest(%(sources)s::text[]) AS asked (source)
"""


@dataclass(frozen=True, slots=True)
class LastDelivery:
    """When a source delivered last; None: never."""

    live: datetime | None = None
    test: datetime | None = None


def last_deliveries(conn: Conn, sources: Collection[str]) -> dict[str, LastDelivery]:
    """By the name of the source."""
    with conn.cursor(row_factory=tuple_row) as cursor:
        rows = cursor.execute(LAST_DELIVERIES, {"sources": list(sources)})
        return {source: LastDelivery(live, test) for source, live, test in rows}


IS_SOURCE = """
    SELECT EXISTS (SELECT FROM receipts WHERE source = %(source)s)
        OR EXISTS (SELECT FROM paused_sources WHERE source = %(source)s)
"""


def is_source(conn: Conn, name: str) -> bool:
    """Whether something came once under this name, though it may be configured no more."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return bool(cursor.execute(IS_SOURCE, {"source": name}).fetchone())
