"""The trail of one event: the attempts at its records, the records, the arrows that it took, and who decided what.

Rows and ids only, as in `intake/ops.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row

from intake.db import Conn
from intake.records import RecordKind

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
