"""What people may read: events on their way, the attempts at their records, and what waits for a person.

Rows and ids only; names, texts, phones and addresses stand in `bodies`, which nothing here reads.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.deliveries import FINAL, OPEN
from intake.picking import Picking, query
from intake.records import RecordKind

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


# --- the attempts at its records ------------------------------------------------------------------------------------

Stage = Literal["prepared", "not_sent", "sent", "perhaps_sent", "answered", "confirmed"]


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One request to the CRM about a record of the event; `event_id` is whose delivery made it, None: the clock's look.

    `record` is the record's kind, `kind` write or look.  `stage` is what sales ops see of it: an attempt that was
    never closed (its worker died) is "prepared" while it may still be sent, then "perhaps_sent".
    """

    attempt_id: int
    event_id: UUID | None
    record: RecordKind
    reference: str
    kind: Literal["write", "look"]
    action: str
    stage: Stage
    prepared_at: datetime
    send_by: datetime | None
    sent_at: datetime | None
    answered_at: datetime | None
    confirmed_at: datetime | None
    outcome: str | None
    reason: str | None
    strength: str | None
    control: bool | None
    settled_how: str | None
    evidence: Mapping[str, object]


ATTEMPTS = """
    SELECT a.attempt_id, a.event_id, r.kind AS record, r.reference, a.kind, a.action, a.prepared_at, a.send_by,
           a.sent_at, a.answered_at, a.confirmed_at, a.outcome, a.reason, a.strength, a.controlled AS control,
           a.settled_how, a.evidence,
           CASE WHEN a.confirmed_at IS NOT NULL THEN 'confirmed'
                WHEN a.answered_at IS NOT NULL THEN 'answered'
                WHEN a.outcome = 'not_sent' THEN 'not_sent'
                WHEN a.sent_at IS NOT NULL THEN 'sent'
                WHEN a.closed_at IS NULL AND a.send_by > clock_timestamp() THEN 'prepared'
                ELSE 'perhaps_sent' END AS stage
      FROM deliveries d
      CROSS JOIN LATERAL (
           SELECT unnest(ARRAY[d.contact_record, d.opportunity_record, d.task_record, d.note_record]) AS record_id
            UNION
           SELECT newest_record(unnest(ARRAY[d.contact_record, d.opportunity_record, d.task_record, d.note_record]))
           ) AS linked
      JOIN records r USING (record_id)
      JOIN attempts a USING (record_id)
     WHERE d.event_id = %(event_id)s
       AND d.generation = (SELECT max(generation) FROM deliveries WHERE event_id = %(event_id)s)
     ORDER BY a.attempt_id
"""


def attempts(conn: Conn, event_id: UUID) -> list[AttemptRow]:
    """All attempts at the records of an event, also those that other events of the same contact or need made."""
    with conn.cursor(row_factory=class_row(AttemptRow)) as cursor:
        return cursor.execute(ATTEMPTS, {"event_id": event_id}).fetchall()


# --- its records ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record of the event, as far as a person must know it."""

    record_id: int
    kind: RecordKind
    destination: str
    reference: str
    state: Literal["none", "asked", "in_doubt", "known", "gone"]
    crm_id: str | None
    asked_until: datetime | None
    look_at: datetime | None
    ruled_absent: bool
    blocks: bool
    being_asked: bool
    says_it: bool = False  # A message of a conversation: its words stand here, or are to.
    remade: bool = False  # It takes the place of one that was gone.
    orphaned: bool = False  # It hangs on an opportunity that was lost, and made anew without it.

    @property
    def in_doubt(self) -> bool:
        """A write may have been executed, and nobody knows."""
        return self.state in {"asked", "in_doubt"}

    @property
    def is_missing(self) -> bool:
        """It surely is not where it belongs, whatever the CRM shows: nobody need ask."""
        return self.orphaned or (self.remade and self.state == "none")


# A record that was made anew counts in place of the one that is gone: it alone can be settled, or lost again.
# (The view `records_now` has a clock in it, so that a join reads it whole; the table is found by its key.)
RECORDS = """
    SELECT r.record_id, r.kind, r.destination, r.reference, r.state, r.crm_id, r.asked_until, r.look_at, r.ruled_absent,
           bool_or(r.state = 'asked' AND r.asked_until > clock_timestamp()) AS being_asked,
           bool_or(l.blocks) AS blocks, bool_or(l.says_it) AS says_it,
           bool_or(l.record_id <> r.record_id) AS remade,
           r.kind IN ('task', 'note')
               AND EXISTS (SELECT FROM records p WHERE p.record_id = r.parent_record_id AND p.replaced_by IS NOT NULL)
               AS orphaned
      FROM deliveries d
      CROSS JOIN LATERAL (
           VALUES (d.contact_record, false), (d.opportunity_record, false), (d.task_record, false),
                  (d.note_record, d.part = 'follow_up'), (d.blocked_on, false)) AS named (record_id, says_it)
      CROSS JOIN LATERAL (
           SELECT named.record_id, named.says_it, coalesce(d.blocked_on = named.record_id, false) AS blocks,
                  newest_record(named.record_id) AS newest) AS l
      JOIN records r ON r.record_id = l.newest
     WHERE d.event_id = %(event_id)s
       AND d.generation = (SELECT max(generation) FROM deliveries WHERE event_id = %(event_id)s)
     GROUP BY r.record_id, r.kind, r.destination, r.reference, r.state, r.crm_id, r.asked_until, r.look_at,
              r.ruled_absent, r.parent_record_id
     ORDER BY r.record_id
"""


def records(conn: Conn, event_id: UUID) -> list[RecordRow]:
    """The records that the newest delivery of an event is about, or waits for."""
    with conn.cursor(row_factory=class_row(RecordRow)) as cursor:
        return cursor.execute(RECORDS, {"event_id": event_id}).fetchall()


# --- what became of it ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Move:
    """One arrow that a delivery took."""

    at: datetime
    generation: int
    from_state: str | None
    to_state: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """What an operator settled: who, when, why."""

    decision_id: int
    at: datetime
    author: str
    action: str
    reason: str
    detail: Mapping[str, object] = field(default_factory=dict)


HISTORY = """
    SELECT at, generation, from_state, to_state, reason FROM delivery_history
     WHERE event_id = %(event_id)s ORDER BY history_id
"""
DECISIONS = """
    SELECT decision_id, at, author, action, reason, detail FROM decisions
     WHERE event_id = %(event_id)s ORDER BY decision_id
"""


def history(conn: Conn, event_id: UUID) -> list[Move]:
    """Every arrow, in order."""
    with conn.cursor(row_factory=class_row(Move)) as cursor:
        return cursor.execute(HISTORY, {"event_id": event_id}).fetchall()


def decisions(conn: Conn, event_id: UUID) -> list[DecisionRow]:
    """What people decided about an event, in order."""
    with conn.cursor(row_factory=class_row(DecisionRow)) as cursor:
        return cursor.execute(DECISIONS, {"event_id": event_id}).fetchall()
