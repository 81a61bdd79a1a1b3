"""What is kept of each authentic request: a receipt, and its raw bytes where something stands on them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from psycopg import Cursor
from psycopg.types.json import Jsonb

from intake.at_rest import Payload
from intake.db import Conn, Row
from intake.received import Received

STORE = """
    WITH raw AS (
        INSERT INTO bodies (what, receipt_id, content)
        SELECT 'raw', %(receipt_id)s, %(body)s::bytea WHERE %(body)s::bytea IS NOT NULL
        ON CONFLICT DO NOTHING)
    INSERT INTO receipts (receipt_id, received_at, mode, source, content_type, headers, verdict, counts)
    VALUES (%(receipt_id)s, coalesce(%(received_at)s, clock_timestamp()), %(mode)s, %(source)s, %(content_type)s,
            %(headers)s, %(verdict)s, %(counts)s)
    ON CONFLICT (receipt_id) DO NOTHING
"""


def verdict_of(
    received: Received, fresh: Collection[object], changed: Collection[object]
) -> Literal["accepted", "quarantined", "ignored"]:
    if fresh or changed or received.reading.events or received.reading.updates:
        return "accepted"
    return "quarantined" if received.reading.quarantined else "ignored"


def store(conn: Conn, received: Received, *, verdict: str, new: int, changed: bool) -> Cursor[Row]:
    """Raw bytes are kept where something stands on them; a repeated delivery adds none.

    The cursor counts a row, or none where the receipt stood already.
    """
    reading = received.reading
    counts = {
        "events": len(reading.events),
        "new": new,
        "updates": len(reading.updates),
        "quarantined": len(reading.quarantined),
        "ignored": reading.ignored,
    }
    stands_on_it = new or changed or reading.updates or reading.quarantined
    given = {
        "receipt_id": received.receipt_id,
        "received_at": received.received_at,
        "mode": received.mode,
        "source": received.source.name,
        "content_type": received.content_type[:200],
        "headers": Jsonb(received.headers),
        "verdict": verdict,
        "counts": Jsonb(counts),
        "body": Payload(received.body) if stands_on_it else None,
    }
    return conn.execute(STORE, given)
