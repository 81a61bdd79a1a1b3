"""The four lists by which a day at the desk goes, and one of everything.

decide: what waits for a person · moving: on its way · today: confirmed today · refused: at the door · all
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row

from intake.db import Conn
from intake.deliveries import FINAL, OPEN
from intake.ops import BadCursor
from intake.picking import DELIVERY, ITEM, Picking, query
from intake.worklist import ItemKind

List = Literal["decide", "moving", "today", "all"]
LISTS: Final[tuple[List, ...]] = get_args(List)
STATES: Final = (*OPEN, *FINAL)
# With so many rows a page stays below 100 KiB, its style and type included.
PAGE: Final = 40

# Of a record: nothing there · a write is on its way · there · perhaps there · there once.
Mark = Literal["empty", "sent", "confirmed", "uncertain", "gone"]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list: an event, an open item, or both.  `at`: what the list is sorted by.

    `item_kind` None: nothing waits for a person.  `third` is the mark of the task, or of the note where `is_note`.
    """

    at: datetime
    key: str
    event_id: UUID | None
    mode: str
    source: str | None
    kind: str | None
    state: str | None
    reason: str | None
    contact: Mark
    opportunity: Mark
    third: Mark
    is_note: bool
    item_id: int | None
    item_kind: ItemKind | None
    assignee: str | None
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which lines, None: any.  `assignee` "-": nobody's.  `cursor`: where the page before ended.

    `item_kind`, `reason`: of what waits for a person.  `since`, `until`: of the time that the list is sorted by.
    `destination`: where the newest delivery goes.
    """

    source: str | None = None
    kind: str | None = None
    state: str | None = None
    item_kind: str | None = None
    assignee: str | None = None
    mode: str | None = None
    events: Sequence[UUID] | None = None
    cursor: str | None = None
    limit: int = PAGE
    reason: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    destination: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """`next_cursor` None: these are the last."""

    rows: tuple[Row, ...]
    next_cursor: str | None


def _mark(alias: str) -> str:
    return (
        f"CASE WHEN {alias}.record_id IS NULL OR {alias}.state = 'none' THEN 'empty' "
        f"WHEN {alias}.state = 'known' THEN 'confirmed' WHEN {alias}.state = 'gone' THEN 'gone' "
        f"WHEN {alias}.state = 'asked' AND {alias}.asked_until > clock_timestamp() THEN 'sent' ELSE 'uncertain' END"
    )


# A follow-up has no task: its words stand in a note, or in the opportunity that they were joined to.
# The page is cut before its records are looked up: among millions of events, fifty are what is asked for.
MARKED: Final = f"""
    SELECT p.at, p.key, p.event_id, p.mode, p.source, p.kind, p.state, p.reason,
           {_mark("c")} AS contact, {_mark("o")} AS opportunity,
           CASE WHEN p.part = 'follow_up' THEN {_mark("m")} ELSE {_mark("t")} END AS third,
           coalesce(p.part = 'follow_up', false) AS is_note, p.item_id, p.item_kind, p.assignee, p.due_at
      FROM page p
      LEFT JOIN records o ON o.record_id = newest_record(p.opportunity_record)
      LEFT JOIN records c ON c.record_id = newest_record(coalesce(p.contact_record, o.parent_record_id))
      LEFT JOIN records t ON t.record_id = newest_record(p.task_record)
      LEFT JOIN records m ON m.record_id = newest_record(p.note_record)
"""  # noqa: S608  # our own words
LINKED: Final = "d.part, d.contact_record, d.opportunity_record, d.task_record, d.note_record"
WANTED: Final = """
       AND (%(kind)s::text IS NULL OR e.kind = %(kind)s)
       AND (%(state)s::text IS NULL OR d.state = %(state)s)
       AND (%(events)s::uuid[] IS NULL OR e.event_id = ANY(%(events)s))
       AND (%(destination)s::text IS NULL OR d.destination = %(destination)s)
       AND (%(assignee)s::text IS NULL OR i.assignee = %(assignee)s OR (%(assignee)s = '-' AND i.assignee IS NULL))
"""
# One row for each row beside it: the LIMIT keeps the planner from reading all events to join a few.
EVENT_OF: Final = "LATERAL (SELECT * FROM events WHERE event_id = {0}.event_id LIMIT 1) e"

WITHIN: Final = """
       AND (%(since)s::timestamptz IS NULL OR {0} >= %(since)s) AND (%(until)s::timestamptz IS NULL OR {0} < %(until)s)
"""

# What waits longest first.
DECIDE: Final = f"""
    WITH page AS MATERIALIZED (
    SELECT i.opened_at AS at, i.item_id::text AS key, i.event_id, i.mode, coalesce(i.source, e.source) AS source,
           e.kind, d.state, i.reason, {LINKED}, i.item_id, i.kind AS item_kind, i.assignee, i.due_at
      FROM items i
      LEFT JOIN {EVENT_OF.format("i")} ON true
      LEFT JOIN LATERAL (SELECT * FROM deliveries WHERE event_id = i.event_id
                          ORDER BY generation DESC LIMIT 1) d ON true
     WHERE i.closed_at IS NULL
       AND (%(source)s::text IS NULL OR coalesce(i.source, e.source) = %(source)s)
       AND (%(mode)s::text IS NULL OR i.mode = %(mode)s) {WANTED} {WITHIN.format("i.opened_at")}
       AND (%(item_kind)s::text IS NULL OR i.kind = %(item_kind)s)
       AND (%(reason)s::text IS NULL OR i.reason = %(reason)s)
       AND (%(at)s::timestamptz IS NULL OR (i.opened_at, i.item_id) > (%(at)s, %(key)s::bigint))
     ORDER BY i.opened_at, i.item_id LIMIT %(limit)s)
"""  # noqa: S608
OF_EVENT: Final = f"""
           e.event_id::text AS key, e.event_id, e.mode, e.source, e.kind, d.state, d.reason, {LINKED},
           i.item_id, i.kind AS item_kind, i.assignee, i.due_at
"""
OF_WAY: Final = """
       AND (%(source)s::text IS NULL OR d.source = %(source)s) AND (%(mode)s::text IS NULL OR d.mode = %(mode)s)
"""
NEWEST: Final = "d.generation = (SELECT max(generation) FROM deliveries WHERE event_id = d.event_id)"
# What is on its way longest first.
MOVING: Final = f"""
    WITH page AS MATERIALIZED (
    SELECT d.received_at AS at, {OF_EVENT}
      FROM deliveries d CROSS JOIN {EVENT_OF.format("d")} {ITEM}
     WHERE d.state NOT IN ('confirmed', 'cancelled', 'superseded')
       AND d.state IN ('received', 'delivering', 'waiting') {OF_WAY} {WANTED} {WITHIN.format("d.received_at")}
       AND (%(at)s::timestamptz IS NULL OR (d.received_at, d.event_id) > (%(at)s, %(key)s::uuid))
     ORDER BY d.received_at, d.event_id LIMIT %(limit)s)
"""  # noqa: S608
# The newest first.
TODAY: Final = f"""
    WITH page AS MATERIALIZED (
    SELECT d.changed_at AS at, {OF_EVENT}
      FROM deliveries d CROSS JOIN {EVENT_OF.format("d")} {ITEM}
     WHERE d.state = 'confirmed' AND d.changed_at >= %(midnight)s AND {NEWEST}
       {OF_WAY} {WANTED} {WITHIN.format("d.changed_at")}
       AND (%(at)s::timestamptz IS NULL OR (d.changed_at, d.event_id) < (%(at)s, %(key)s::uuid))
     ORDER BY d.changed_at DESC, d.event_id DESC LIMIT %(limit)s)
"""  # noqa: S608
ALL: Final = f"""
    , page AS MATERIALIZED (
    SELECT x.received_at AS at, {OF_EVENT} FROM picked x CROSS JOIN {EVENT_OF.format("x")} {DELIVERY} {ITEM})
"""  # noqa: S608
OF_EVENTS: Final = "SELECT p.event_id FROM page p WHERE p.event_id IS NOT NULL"
QUERIES: Final[Mapping[List, str]] = {"decide": DECIDE, "moving": MOVING, "today": TODAY, "all": ALL}
IN_ORDER: Final[Mapping[List, str]] = {
    "decide": "p.at, p.item_id",
    "moving": "p.at, p.event_id",
    "today": "p.at DESC, p.event_id DESC",
    "all": "p.at DESC, p.event_id DESC",
}


def page(conn: Conn, which: List, wanted: Filter, *, midnight: datetime) -> Page:
    """One page of a list.  `midnight`: when today began.  Raises BadCursor."""
    found = _rows(conn, which, wanted, midnight)
    shown = tuple(found[: wanted.limit])
    return Page(shown, _cursor(shown[-1]) if len(found) > wanted.limit else None)


def events(conn: Conn, which: List, wanted: Filter, *, midnight: datetime) -> list[UUID]:
    """The events of the first so many lines of a list, each once; more than `limit` where the list goes on."""
    if wanted.state not in {None, *STATES}:
        return []
    text, given = _asked(which, wanted, midnight)
    text = f"{text} {OF_EVENTS} ORDER BY {IN_ORDER[which]}"
    with conn.cursor(row_factory=scalar_row) as cursor:
        return list(dict.fromkeys(cursor.execute(text, given).fetchall()))


def _rows(conn: Conn, which: List, wanted: Filter, midnight: datetime) -> list[Row]:
    if wanted.state not in {None, *STATES}:
        return []
    text, given = _asked(which, wanted, midnight)
    with conn.cursor(row_factory=class_row(Row)) as cursor:
        return cursor.execute(f"{text} {MARKED} ORDER BY {IN_ORDER[which]}", given).fetchall()


def _asked(which: List, wanted: Filter, midnight: datetime) -> tuple[str, Mapping[str, object]]:
    """What makes `page`, one line more than is wanted.  Raises BadCursor."""
    at, key = _opened(wanted.cursor, which)
    if which != "all":
        return QUERIES[which], _given(wanted) | {"midnight": midnight, "at": at, "key": key}
    picking = Picking(
        None if wanted.state is None else [wanted.state], wanted.source, wanted.kind, wanted.mode, wanted.assignee,
        wanted.since, wanted.until, events=wanted.events, at=at, key=UUID(key) if key else None,
        limit=wanted.limit + 1, destination=wanted.destination,
    )  # fmt: skip
    return query(picking, ALL), picking.given


def _given(wanted: Filter) -> dict[str, object]:
    return {
        "source": wanted.source,
        "kind": wanted.kind,
        "state": wanted.state,
        "item_kind": wanted.item_kind,
        "reason": wanted.reason,
        "since": wanted.since,
        "until": wanted.until,
        "destination": wanted.destination,
        "assignee": wanted.assignee,
        "mode": wanted.mode,
        "events": None if wanted.events is None else list(wanted.events),
        "limit": wanted.limit + 1,
    }


def _cursor(last: Row) -> str:
    return base64.urlsafe_b64encode(f"{last.at.isoformat()} {last.key}".encode()).decode()


def _opened(cursor: str | None, which: List) -> tuple[datetime | None, str | None]:
    if not cursor:
        return None, None
    try:
        at, _, key = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        read = datetime.fromisoformat(at)
        key = str(int(key)) if which == "decide" else str(UUID(key))
    except (ValueError, binascii.Error) as broken:
        raise BadCursor("this cursor is none that a page ended with") from broken
    if read.tzinfo is None or len(key) > len(str(UUID(int=0))):
        raise BadCursor("this cursor is none that a page ended with")
    return read, key


# --- how many, and since when ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Count:
    """`oldest` None: there is none."""

    number: int
    oldest: datetime | None


COUNTS: Final = """
    SELECT 'decide' AS list, count(*) AS number, min(opened_at) AS oldest FROM items WHERE closed_at IS NULL
    UNION ALL
    SELECT 'moving', count(*), min(received_at) FROM deliveries
     WHERE state NOT IN ('confirmed', 'cancelled', 'superseded') AND state IN ('received', 'delivering', 'waiting')
    UNION ALL
    SELECT 'today', count(*), min(changed_at) FROM deliveries WHERE state = 'confirmed' AND changed_at >= %(midnight)s
    UNION ALL
    SELECT 'refused', coalesce(sum(count), 0), min(hour) FROM refusals WHERE hour >= %(midnight)s
"""


def counts(conn: Conn, *, midnight: datetime) -> dict[str, Count]:
    """By list."""
    with conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(COUNTS, {"midnight": midnight}).fetchall()
    return {str(row["list"]): Count(int(row["number"]), row["oldest"]) for row in rows}
