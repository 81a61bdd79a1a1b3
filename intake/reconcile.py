"""The proof that nothing is missing, as far as the database knows: every accepted event has exactly one end in sight.

one confirmed opportunity, or note on one · an open item · a recorded cancellation · superseded · still on its way
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import LiteralString
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row
from psycopg.types.json import Jsonb

from intake.db import Conn
from intake.records import RecordKind

# A delivery that is due, or a lease that is over, for longer than this has been forgotten by every worker and clock.
FORGOTTEN_AFTER = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Incident:
    """One thing that is not as it must be.  Ids and words of ours only."""

    reason: str
    event_id: UUID | None = None
    record_id: int | None = None
    crm_id: str | None = None


COUNTS = """
    SELECT coalesce(d.state, 'missing') AS state, count(*) AS events
      FROM events e
      LEFT JOIN LATERAL (SELECT state FROM deliveries WHERE event_id = e.event_id ORDER BY generation DESC LIMIT 1) d
             ON true
     WHERE %(since)s::timestamptz IS NULL OR e.received_at >= %(since)s
     GROUP BY 1 ORDER BY 1
"""

# One query an accusation; each names what it accuses.
ACCUSATIONS: Mapping[str, LiteralString] = {
    "event_without_delivery": """
        SELECT e.event_id FROM events e
         WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.event_id = e.event_id)
           AND (%(since)s::timestamptz IS NULL OR e.received_at >= %(since)s)
    """,
    "receipt_without_event": """
        SELECT r.receipt_id AS event_id FROM receipts r
         WHERE r.verdict = 'accepted' AND (r.counts ->> 'events')::int > 0
           AND EXISTS (SELECT FROM bodies b WHERE b.receipt_id = r.receipt_id)
           AND NOT EXISTS (SELECT FROM events e WHERE e.receipt_id = r.receipt_id)
           AND NOT EXISTS (SELECT FROM items i WHERE i.receipt_id = r.receipt_id)
           AND (r.counts ->> 'updates')::int = 0 AND (r.counts ->> 'quarantined')::int = 0
           AND (%(since)s::timestamptz IS NULL OR r.received_at >= %(since)s)
    """,
    "confirmed_without_opportunity": """
        SELECT d.event_id FROM deliveries d
          LEFT JOIN records r ON r.record_id = d.opportunity_record
         WHERE d.state = 'confirmed' AND r.crm_id IS NULL
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    "confirmed_without_task": """
        SELECT d.event_id FROM deliveries d LEFT JOIN records r ON r.record_id = d.task_record
         WHERE d.state = 'confirmed' AND d.part <> 'follow_up' AND r.crm_id IS NULL
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    "confirmed_without_note": """
        SELECT d.event_id FROM deliveries d LEFT JOIN records r ON r.record_id = d.note_record
         WHERE d.state = 'confirmed' AND d.part = 'follow_up' AND r.crm_id IS NULL
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    "open_without_item": """
        SELECT d.event_id FROM deliveries d
         WHERE d.state IN ('awaiting_approval', 'uncertain', 'review')
           AND NOT EXISTS (SELECT FROM items i WHERE i.kind = 'delivery' AND i.closed_at IS NULL
                              AND i.event_id = d.event_id AND i.generation = d.generation)
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    "forgotten": """
        SELECT d.event_id FROM deliveries d
          LEFT JOIN accounts a ON a.destination = d.destination
         WHERE a.paused_at IS NULL
           AND (d.state IN ('received', 'waiting') AND d.due_at < clock_timestamp() - %(forgotten_after)s
                OR d.state = 'delivering' AND d.claimed_until < clock_timestamp() - %(forgotten_after)s)
           AND (%(since)s::timestamptz IS NULL OR d.received_at >= %(since)s)
    """,
    "record_without_event": """
        SELECT NULL::uuid AS event_id, r.record_id FROM records r
         WHERE r.crm_id IS NOT NULL AND r.kind <> 'contact'
           AND NOT EXISTS (SELECT FROM deliveries d
                            WHERE r.record_id IN (d.opportunity_record, d.task_record, d.note_record))
           AND (%(since)s::timestamptz IS NULL OR r.created_at >= %(since)s)
    """,
}


def counts(conn: Conn, since: datetime | None) -> dict[str, int]:
    """Accepted events by the state of their newest delivery."""
    with conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(COUNTS, {"since": since}).fetchall()
    return {str(row["state"]): int(row["events"]) for row in rows}


def accuse(conn: Conn, since: datetime | None) -> Iterator[Incident]:
    """What the database's own rows say is wrong; `since` None: all of them."""
    given = {"since": since, "forgotten_after": FORGOTTEN_AFTER}
    with conn.cursor(row_factory=dict_row) as cursor:
        for reason, query in ACCUSATIONS.items():
            for row in cursor.execute(query, given).fetchall():
                yield Incident(reason, row["event_id"], row.get("record_id"))


# --- what is verified in the CRM ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """A record that must stand in the CRM, with what must hang on it."""

    record_id: int
    destination: str
    kind: RecordKind
    crm_id: str
    parent_crm_id: str | None


# Keyset pages: a nightly run over years of records holds neither a transaction nor a list of them.
STANDING = """
    SELECT r.record_id, r.destination, r.kind, r.crm_id, p.crm_id AS parent_crm_id
      FROM records r LEFT JOIN records p ON p.record_id = r.parent_record_id
     WHERE r.state = 'known' AND r.record_id > %(after)s AND r.destination = ANY(%(destinations)s)
       AND (%(since)s::timestamptz IS NULL OR r.created_at >= %(since)s)
     ORDER BY r.record_id LIMIT %(page)s
"""
PAGE = 200


def standing(conn: Conn, *, after: int, destinations: list[str], since: datetime | None) -> list[Standing]:
    """The next page of records that are known to stand; [] after the last."""
    given = {"after": after, "destinations": destinations, "since": since, "page": PAGE}
    with conn.cursor(row_factory=class_row(Standing)) as cursor:
        return cursor.execute(STANDING, given).fetchall()


KEEP = """
    INSERT INTO reconciliations (started_at, since, verified, counts, incidents)
    VALUES (%(started_at)s, %(since)s, %(verified)s, %(counts)s, %(incidents)s)
    RETURNING reconciliation_id
"""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """One run: how many events of each state, and every incident."""

    started_at: datetime
    since: datetime | None
    verified: bool
    counts: Mapping[str, int]
    incidents: tuple[Incident, ...]


def keep(conn: Conn, run: Reconciliation) -> int:
    """Keep the result, for the trend; returns its id."""
    tally: dict[str, int] = {}
    for each in run.incidents:
        tally[each.reason] = tally.get(each.reason, 0) + 1
    with conn.cursor(row_factory=scalar_row) as cursor:
        kept: int | None = cursor.execute(
            KEEP,
            {
                "started_at": run.started_at,
                "since": run.since,
                "verified": run.verified,
                "counts": Jsonb(dict(run.counts)),
                "incidents": Jsonb(tally),
            },
        ).fetchone()
    assert kept is not None  # noqa: S101  # RETURNING returns a row
    return kept
