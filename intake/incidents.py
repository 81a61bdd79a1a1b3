"""The incidents that a reconciliation finds: open items by what they are about.

found no more → reconciled · its record was made anew, and that one stands → recovered · a person accepted it → stays
closed: what was accepted once is accused no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from intake.db import Conn
from intake.records import RecordKind

# What a look at one record may find wrong with it; all of it is over once another record stands in its place.
WRONG = ("gone", "not_live", "other_reference", "without_owner", "without_contact")
KINDS: tuple[RecordKind, ...] = ("contact", "opportunity", "task", "note")


@dataclass(frozen=True, slots=True)
class Incident:
    """One thing that is not as it must be.  Ids and words of ours only.

    `subject` names it where no row does: `event:<id>`, `record:<id>`, `receipt:<id>`, `account:<destination>`, or
    `crm:<destination>:<kind>:<id>`.
    """

    reason: str
    subject: str
    event_id: UUID | None = None
    record_id: int | None = None
    receipt_id: UUID | None = None
    crm_id: str | None = None
    mode: str = "live"
    source: str | None = None


# A record's item names an event that rests on it, so that a person finds the way to it.
OPEN = """
    INSERT INTO items (kind, reason, mode, source, event_id, record_id, receipt_id, subject, assignee, evidence)
    SELECT 'incident', %(reason)s, %(mode)s, coalesce(%(source)s, d.source), coalesce(%(event_id)s, e.event_id),
           %(record_id)s, %(receipt_id)s, %(subject)s, %(assignees)s::jsonb ->> coalesce(%(source)s, d.source),
           %(evidence)s
      FROM (SELECT 1) AS once
      LEFT JOIN LATERAL (
           SELECT event_id, source FROM deliveries
            WHERE contact_record = %(record_id)s OR opportunity_record = %(record_id)s
               OR task_record = %(record_id)s OR note_record = %(record_id)s
            ORDER BY received_at DESC LIMIT 1) d ON true
      LEFT JOIN events e ON e.event_id = d.event_id
     WHERE NOT EXISTS (SELECT FROM items i WHERE i.subject = %(subject)s AND i.reason = %(reason)s
                          AND i.closed_at IS NOT NULL AND i.resolution NOT IN ('reconciled', 'recovered'))
    ON CONFLICT (subject, reason) WHERE kind = 'incident' AND closed_at IS NULL AND subject IS NOT NULL
    DO UPDATE SET evidence = EXCLUDED.evidence
    RETURNING item_id
"""


def accuse(conn: Conn, each: Incident, *, run: str, assignees: Mapping[str, str]) -> int | None:
    """Open its item, or say of the open one that this run found it too; returns the item_id.

    None: a person has accepted it.  `assignees`: source -> who gets its items.
    """
    given = {
        "reason": each.reason,
        "subject": each.subject,
        "mode": each.mode,
        "source": each.source,
        "event_id": each.event_id,
        "record_id": each.record_id,
        "receipt_id": each.receipt_id,
        "assignees": Jsonb(dict(assignees)),
        "evidence": Jsonb({"run": run} | ({"crm_id": each.crm_id} if each.crm_id else {})),
    }
    with conn.cursor(row_factory=scalar_row) as cursor:
        found: int | None = cursor.execute(OPEN, given).fetchone()
    return found


ACQUIT = """
    UPDATE items SET closed_at = clock_timestamp(), resolution = 'reconciled'
     WHERE kind = 'incident' AND closed_at IS NULL AND reason = ANY(%(reasons)s) AND subject IS NOT NULL
       AND (%(subjects)s::text[] IS NULL OR subject = ANY(%(subjects)s))
       AND evidence ->> 'run' <> %(run)s
"""


def acquit(conn: Conn, reasons: Sequence[str], *, run: str, subjects: Sequence[str] | None = None) -> int:
    """Close what this run did not find any more, of these reasons and subjects (None: all); returns how many."""
    given = {"reasons": list(reasons), "run": run, "subjects": None if subjects is None else list(subjects)}
    return conn.execute(ACQUIT, given).rowcount


RECOVER = """
    UPDATE items i SET closed_at = clock_timestamp(), resolution = 'recovered'
      FROM records old JOIN records new ON new.record_id = newest_record(old.record_id)
     WHERE i.kind = 'incident' AND i.closed_at IS NULL AND i.subject IS NOT NULL AND i.reason = ANY(%(reasons)s)
       AND i.record_id = old.record_id AND old.replaced_by IS NOT NULL AND new.state = 'known'
"""


def recover(conn: Conn) -> int:
    """Close what is about a record in whose place another one stands by now; returns how many."""
    return conn.execute(RECOVER, {"reasons": [f"{kind}_{each}" for kind in KINDS for each in WRONG]}).rowcount
