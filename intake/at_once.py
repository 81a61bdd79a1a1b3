"""A delivery of one event that its sender names, in one statement and one round trip: the usual form or quote.

    nothing stands under its identity ─> receipt, raw body, event, lead, need and delivery
    the same content stands there     ─> the receipt of a duplicate
    anything else                     ─> nothing is written, and `events.accept` goes its long way

The rules are those of the long way; what needs more than one look at the database is left to it.
"""

from __future__ import annotations

from psycopg import errors
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb

from intake import first_deliveries, identify, lead_schema, needs, spam
from intake.at_rest import Payload
from intake.db import Conn
from intake.identify import Identified
from intake.identity import IdentityKey, need_reference
from intake.lead import FETCH_PENDING
from intake.received import Acceptance, Accepted, Received, scope_of

# Each part follows from the row of the one before it.  A statement that meets another with the same identity at the
# same time breaks at the primary key, as a whole.
TAKE = """
    WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
    stands AS MATERIALIZED (
        SELECT fingerprint = %(fingerprint)s AS same FROM events WHERE event_id = %(event_id)s),
    receipt AS (
        INSERT INTO receipts (receipt_id, received_at, mode, source, content_type, headers, verdict, counts)
        SELECT %(receipt_id)s, now, %(mode)s, %(source)s, %(content_type)s, %(headers)s, 'accepted',
               jsonb_build_object('events', 1, 'new', CASE WHEN EXISTS (SELECT FROM stands) THEN 0 ELSE 1 END,
                                  'updates', 0, 'quarantined', 0, 'ignored', %(ignored)s::integer)
          FROM clock
         WHERE NOT EXISTS (SELECT FROM stands WHERE NOT (same AND %(again)s))
        RETURNING receipt_id),
    fresh AS (SELECT receipt_id, now FROM receipt, clock WHERE NOT EXISTS (SELECT FROM stands)),
    raw AS (
        INSERT INTO bodies (what, receipt_id, content) SELECT 'raw', receipt_id, %(body)s::bytea FROM fresh),
    event AS (
        INSERT INTO events (event_id, mode, source, scope, kind, request_id, version, minted, fingerprint, receipt_id,
                            received_at, occurred_at)
        SELECT %(event_id)s, %(mode)s, %(source)s, %(scope)s, %(kind)s, %(request_id)s, %(version)s::bigint, false,
               %(fingerprint)s, receipt_id, now, %(occurred_at)s::timestamptz
          FROM fresh
        RETURNING event_id, received_at AS now),
    lead AS (
        INSERT INTO bodies (what, event_id, revision, content) SELECT 'lead', event_id, 1, %(lead)s::bytea FROM event),
    need AS (
        INSERT INTO needs (mode, scope, key, destination, reference, first_at, last_at)
        SELECT %(mode)s, %(scope)s, %(need_key)s, %(destination)s, %(reference)s, said.at, said.at
          FROM event, LATERAL (SELECT least(now, %(occurred_at)s::timestamptz) AS at) AS said
        ON CONFLICT (mode, scope, key) DO UPDATE SET last_at = greatest(needs.last_at, EXCLUDED.last_at)
        RETURNING need_id, destination),
    hold AS (
        SELECT CASE WHEN EXISTS (SELECT FROM blocked_keys WHERE mode = %(mode)s AND key = ANY(%(keys)s::bytea[]))
                    THEN 'held_as_spam' ELSE %(hold)s::text END AS reason),
    delivery AS (
        INSERT INTO deliveries (event_id, need_id, part, position, mode, source, destination, received_at, assignee,
                                state, reason, due_at)
        SELECT %(event_id)s, need_id, %(part)s, %(position)s, %(mode)s, %(source)s, destination, now,
               %(assignee)s::text, CASE WHEN reason IS NULL THEN 'received' ELSE 'awaiting_approval' END,
               reason, CASE WHEN reason IS NULL THEN clock_timestamp() END
          FROM need, hold, clock
        RETURNING state)
    SELECT state, false AS duplicate FROM delivery
    UNION ALL
    SELECT (SELECT state FROM deliveries WHERE event_id = %(event_id)s ORDER BY generation DESC LIMIT 1), true
      FROM receipt WHERE EXISTS (SELECT FROM stands)
"""


def take(conn: Conn, key: IdentityKey, received: Received) -> Acceptance | None:
    """Store the delivery and commit it.  None: it is not of this kind, or something else stands; nothing happened."""
    if not _is_usual(received) or conn.info.transaction_status is not TransactionStatus.IDLE:
        return None
    each = identify.named(key, received, received.reading.events[0])
    if each is None:
        return None
    try:
        with conn.cursor(row_factory=tuple_row) as cursor:
            row = cursor.execute(TAKE, _given(key, received, each)).fetchone()
    except errors.UniqueViolation:
        return None
    if row is None:
        return None
    accepted = Accepted(each.event_id, each.incoming.kind, row[0] or "received", duplicate=row[1])
    return Acceptance((accepted,), updates=0, conflicts=0, quarantined=0, ignored=received.reading.ignored)


def _is_usual(received: Received) -> bool:
    """One event, no news, nothing to be waited for, compared with others, or fetched."""
    reading, source = received.reading, received.source
    if len(reading.events) != 1 or reading.updates or reading.if_known or reading.quarantined:
        return False
    (incoming,) = reading.events
    talks = incoming.conversation is not None
    fetched = FETCH_PENDING in incoming.lead.flags or bool(incoming.lead.enquiry.media)
    supersedes = source.approval == "required" and incoming.need_key is not None
    looks_back = bool(source.key_retention_days) or "repeated" in source.hold or received.received_at is not None
    return not (talks or fetched or supersedes or looks_back)


def _given(key: IdentityKey, received: Received, each: Identified) -> dict[str, object]:
    place, source, incoming = received.place, received.source, each.incoming
    need = needs.key_of_number(incoming.need_key) if incoming.need_key else needs.key_of_event(each.event_id)
    return {
        "receipt_id": received.receipt_id,
        "mode": received.mode,
        "source": source.name,
        "scope": scope_of(source),
        "destination": received.destination,
        "content_type": received.content_type[:200],
        "headers": Jsonb(received.headers),
        "ignored": received.reading.ignored,
        "body": Payload(received.body),
        "event_id": each.event_id,
        "fingerprint": each.fingerprint,
        "again": incoming.on_change != "update",
        "kind": incoming.kind,
        "request_id": each.request_id,
        "version": incoming.version,
        "occurred_at": incoming.lead.occurred_at,
        "lead": Payload(lead_schema.dump(incoming.lead)),
        "need_key": need,
        "reference": need_reference(place.mode, place.scope, need),
        "part": "version" if incoming.need_key else "opener",
        "position": incoming.version or 0,
        "assignee": source.assignee,
        "keys": spam.keys_of(incoming.lead, key),
        "hold": first_deliveries.hold_of(source, incoming, by_rule=spam.held_by_links(source, incoming.lead)),
    }
