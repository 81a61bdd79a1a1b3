"""The proof that nothing is missing, as far as the database knows: every accepted event has exactly one end in sight.

one confirmed opportunity, or note on one · an open item · a recorded cancellation · superseded · still on its way
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import LiteralString

from psycopg.rows import class_row, dict_row, scalar_row
from psycopg.types.json import Jsonb

from intake.db import Conn
from intake.incidents import Incident
from intake.records import RecordKind

# A delivery or look that is due, or a lease that is over, for longer than this is forgotten by every worker and clock.
FORGOTTEN_AFTER = timedelta(minutes=15)

# What follows reads every row: among millions one question takes longer than a worker otherwise gives the database.
# For the transaction that asks.
PATIENTLY = "SET LOCAL statement_timeout = '10min'"

COUNTS = """
    SELECT coalesce(d.state, 'missing') AS state, count(*) AS events
      FROM events e
      LEFT JOIN LATERAL (SELECT state FROM deliveries WHERE event_id = e.event_id ORDER BY generation DESC LIMIT 1) d
             ON true
     WHERE %(since)s::timestamptz IS NULL OR e.received_at >= %(since)s
     GROUP BY 1 ORDER BY 1
"""


def counts(conn: Conn, since: datetime | None) -> dict[str, int]:
    """Accepted events by the state of their newest delivery."""
    with conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(COUNTS, {"since": since}).fetchall()
    return {str(row["state"]): int(row["events"]) for row in rows}


# --- what the database's own rows say -------------------------------------------------------------------------------

# One query an accusation; each names what it accuses, as the table and its key.
ACCUSATIONS: Mapping[str, LiteralString] = {
    "event_without_delivery": """
        SELECT 'event:' || e.event_id AS subject, e.event_id, e.mode, e.source FROM events e
         WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.event_id = e.event_id)
           AND (%(since)s::timestamptz IS NULL OR e.received_at >= %(since)s)
    """,
    # The row that it would point at is gone, so that only the subject can name it.
    "delivery_without_event": """
        SELECT 'event:' || d.event_id AS subject, d.mode, d.source FROM deliveries d
         WHERE NOT EXISTS (SELECT FROM events e WHERE e.event_id = d.event_id)
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    "receipt_without_event": """
        SELECT 'receipt:' || r.receipt_id AS subject, r.receipt_id, r.mode, r.source FROM receipts r
         WHERE (r.counts ->> 'new')::int > (SELECT count(*) FROM events e WHERE e.receipt_id = r.receipt_id)
           AND (%(since)s::timestamptz IS NULL OR r.received_at >= %(since)s)
    """,
    "event_without_lead": """
        SELECT 'event:' || e.event_id AS subject, e.event_id, e.mode, e.source FROM events e
         WHERE NOT EXISTS (SELECT FROM bodies b WHERE b.event_id = e.event_id)
           AND (%(since)s::timestamptz IS NULL OR e.received_at >= %(since)s)
    """,
    "confirmed_without_contact": """
        SELECT 'event:' || d.event_id AS subject, d.event_id, d.mode, d.source
          FROM deliveries d JOIN events USING (event_id) LEFT JOIN records r ON r.record_id = d.contact_record
         WHERE d.state = 'confirmed' AND d.part <> 'follow_up' AND r.crm_id IS NULL
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    "confirmed_without_opportunity": """
        SELECT 'event:' || d.event_id AS subject, d.event_id, d.mode, d.source
          FROM deliveries d JOIN events USING (event_id) LEFT JOIN records r ON r.record_id = d.opportunity_record
         WHERE d.state = 'confirmed' AND r.crm_id IS NULL
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    "confirmed_without_task": """
        SELECT 'event:' || d.event_id AS subject, d.event_id, d.mode, d.source
          FROM deliveries d JOIN events USING (event_id) LEFT JOIN records r ON r.record_id = d.task_record
         WHERE d.state = 'confirmed' AND d.part <> 'follow_up' AND r.crm_id IS NULL
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    "confirmed_without_note": """
        SELECT 'event:' || d.event_id AS subject, d.event_id, d.mode, d.source
          FROM deliveries d JOIN events USING (event_id) LEFT JOIN records r ON r.record_id = d.note_record
         WHERE d.state = 'confirmed' AND d.part = 'follow_up' AND r.crm_id IS NULL
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    "open_without_item": """
        SELECT 'event:' || d.event_id AS subject, d.event_id, d.mode, d.source
          FROM deliveries d JOIN events USING (event_id)
         WHERE d.state IN ('awaiting_approval', 'uncertain', 'review')
           AND NOT EXISTS (SELECT FROM items i WHERE i.kind = 'delivery' AND i.closed_at IS NULL
                              AND i.event_id = d.event_id AND i.generation = d.generation)
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    # Not while its account or source is paused, nor behind an earlier one of its need: those wait for a reason.
    "forgotten": """
        SELECT 'event:' || d.event_id AS subject, d.event_id, d.mode, d.source
          FROM deliveries d JOIN events USING (event_id) LEFT JOIN accounts a ON a.destination = d.destination
         WHERE a.paused_at IS NULL AND NOT EXISTS (SELECT FROM paused_sources p WHERE p.source = d.source)
           AND (d.state IN ('received', 'waiting') AND d.due_at < statement_timestamp() - %(forgotten_after)s
                OR d.state = 'delivering' AND d.claimed_until < clock_timestamp() - %(forgotten_after)s)
           AND NOT EXISTS (SELECT FROM deliveries b WHERE b.need_id = d.need_id
                              AND b.state IN ('received', 'waiting', 'delivering')
                              AND (b.position, b.received_at, b.event_id) < (d.position, d.received_at, d.event_id))
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    "look_forgotten": """
        SELECT 'record:' || r.record_id AS subject, r.record_id, r.mode
          FROM records r LEFT JOIN accounts a ON a.destination = r.destination
         WHERE a.paused_at IS NULL AND r.look_at < statement_timestamp() - %(forgotten_after)s
           AND (%(since)s::timestamptz IS NULL OR r.created_at >= %(since)s)
    """,
    "record_without_event": """
        SELECT 'record:' || r.record_id AS subject, r.record_id, r.mode
          FROM records r
          LEFT JOIN deliveries c ON r.kind = 'contact' AND c.contact_record = r.record_id
          LEFT JOIN deliveries o ON r.kind = 'opportunity' AND o.opportunity_record = r.record_id
          LEFT JOIN deliveries t ON r.kind = 'task' AND t.task_record = r.record_id
          LEFT JOIN deliveries n ON r.kind = 'note' AND n.note_record = r.record_id
         WHERE r.crm_id IS NOT NULL AND r.purged_at IS NULL
           AND num_nonnulls(c.event_id, o.event_id, t.event_id, n.event_id) = 0
           AND (%(since)s::timestamptz IS NULL OR r.created_at >= %(since)s)
    """,
}


def accuse(conn: Conn, since: datetime | None) -> Iterator[Incident]:
    """What the database's own rows say is wrong; `since` None: all of them."""
    given = {"since": since, "forgotten_after": FORGOTTEN_AFTER}
    with conn.cursor(row_factory=dict_row) as cursor:
        for reason, query in ACCUSATIONS.items():
            for row in cursor.execute(query, given).fetchall():
                yield Incident(reason, **row)


# --- what is to be verified in the CRM ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """A record that must stand in the CRM, because a confirmed delivery rests on it."""

    record_id: int
    destination: str
    kind: RecordKind
    crm_id: str
    how: str
    parent_crm_id: str | None
    references: list[str]


# Keyset pages: a nightly run over years of records holds neither a transaction nor a list of them.  Tests are nobody's
# loss; a record whose delivery was cancelled is whoever's cancelled it.
STANDING = """
    SELECT r.record_id, r.destination, r.kind, r.crm_id, r.how, p.crm_id AS parent_crm_id,
           ARRAY(SELECT r.reference UNION SELECT k.reference FROM contact_keys k WHERE k.record_id = r.record_id
                  ORDER BY 1) AS references
      FROM records r LEFT JOIN records p ON p.record_id = r.parent_record_id
     WHERE r.state IN ('known', 'gone') AND r.mode = 'live' AND r.record_id > %(after)s AND r.replaced_by IS NULL
       AND (%(since)s::timestamptz IS NULL OR r.created_at >= %(since)s)
       AND CASE r.kind
           WHEN 'contact' THEN EXISTS (SELECT FROM deliveries d
                                        WHERE d.contact_record = r.record_id AND d.state = 'confirmed')
           WHEN 'opportunity' THEN EXISTS (SELECT FROM deliveries d
                                            WHERE d.opportunity_record = r.record_id AND d.state = 'confirmed')
           WHEN 'task' THEN EXISTS (SELECT FROM deliveries d
                                     WHERE d.task_record = r.record_id AND d.state = 'confirmed')
           ELSE EXISTS (SELECT FROM deliveries d WHERE d.note_record = r.record_id AND d.state = 'confirmed') END
     ORDER BY r.record_id LIMIT %(page)s
"""
PAGE = 50


def standing(conn: Conn, *, after: int, since: datetime | None) -> list[Standing]:
    """The next page of records that must stand in the CRM; [] after the last."""
    with conn.cursor(row_factory=class_row(Standing)) as cursor:
        return cursor.execute(STANDING, {"after": after, "since": since, "page": PAGE}).fetchall()


HOW_MANY = """
    SELECT count(*) FROM records
     WHERE state IN ('known', 'gone') AND mode = 'live' AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
"""


def how_many(conn: Conn, since: datetime | None) -> int:
    """About how many records there are to verify, for whoever watches."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return int(cursor.execute(HOW_MANY, {"since": since}).fetchone() or 0)


# --- what the CRM has that nobody made ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claimed:
    """What stands in the CRM under a reference of ours, and what we know of that reference; None: nothing."""

    crm_id: str
    record_id: int | None
    known_as: str | None
    state: str | None


# By every account that may be the same CRM: an account for tests may be the live one under another name.
CLAIMED = """
    SELECT w.crm_id, r.record_id, r.crm_id AS known_as, r.state
      FROM unnest(%(references)s::text[], %(crm_ids)s::text[]) AS w (reference, crm_id)
      LEFT JOIN LATERAL (
           SELECT n.record_id, n.crm_id, n.state FROM records n
            WHERE n.kind = %(kind)s AND n.mode IN ('live', 'test') AND n.destination = ANY(%(destinations)s)
              AND n.reference = w.reference
           UNION ALL
           SELECT k.record_id, c.crm_id, c.state FROM contact_keys k JOIN records c USING (record_id)
            WHERE %(kind)s = 'contact' AND k.reference = w.reference AND k.destination = ANY(%(destinations)s)
           ) r ON true
"""


def claimed(
    conn: Conn, kind: RecordKind, borne: Sequence[tuple[str, str]], *, destinations: list[str]
) -> list[Claimed]:
    """What we know of each (reference, id in the CRM); more than one row where more than one record may be meant."""
    given = {
        "kind": kind,
        "references": [reference for reference, _ in borne],
        "crm_ids": [crm_id for _, crm_id in borne],
        "destinations": destinations,
    }
    with conn.cursor(row_factory=class_row(Claimed)) as cursor:
        return cursor.execute(CLAIMED, given).fetchall()


# --- results --------------------------------------------------------------------------------------------------------

KEEP = """
    INSERT INTO reconciliations (started_at, since, verified, counts, incidents)
    VALUES (%(started_at)s, %(since)s, %(verified)s, %(counts)s, %(incidents)s)
"""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """One run: how many events of each state, and how many incidents of each reason."""

    started_at: datetime
    since: datetime | None
    verified: bool
    counts: Mapping[str, int]
    incidents: Mapping[str, int]

    @property
    def ok(self) -> bool:
        """Nothing is missing, and nothing is there that should not be."""
        return not self.incidents


def keep(conn: Conn, run: Reconciliation) -> None:
    """Keep the result, for the trend."""
    counted = {"counts": Jsonb(dict(run.counts)), "incidents": Jsonb(dict(run.incidents))}
    conn.execute(KEEP, {"started_at": run.started_at, "since": run.since, "verified": run.verified} | counted)


HISTORY = """
    SELECT started_at, since, verified, counts, incidents FROM reconciliations
     ORDER BY reconciliation_id DESC LIMIT %(limit)s
"""


def history(conn: Conn, limit: int = 30) -> list[Reconciliation]:
    """The latest runs, the newest first."""
    with conn.cursor(row_factory=class_row(Reconciliation)) as cursor:
        return cursor.execute(HISTORY, {"limit": limit}).fetchall()
