"""Opening what waits for a person looks in the CRM at once: who decides shall see what is so now, not hours ago."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from intake import trail
from intake.db import Conn
from intake.worklist import ItemRow

# A look of the last seconds tells as much: who opens a page again and again asks the CRM nothing more.
FRESH = timedelta(seconds=20)

# It comes on top of those that are planned, and takes none of their number.  Not before the write can no longer leave.
LOOK = """
    UPDATE records r SET look_at = clock_timestamp(), looks = greatest(looks - 1, 0)
     WHERE r.record_id = ANY(%(record_ids)s)
       AND (r.state = 'in_doubt' OR r.state = 'asked' AND r.asked_until <= clock_timestamp())
       AND (r.look_at IS NULL OR r.look_at > statement_timestamp())
       AND NOT EXISTS (SELECT FROM attempts a
                        WHERE a.record_id = r.record_id AND a.kind = 'look'
                          AND a.prepared_at > statement_timestamp() - %(fresh)s)
"""


def event(conn: Conn, event_id: UUID) -> int:
    """Make looks due at all of an event that is in doubt; returns how many.  Whoever calls wakes a worker."""
    return _look(conn, [each.record_id for each in trail.records(conn, event_id) if each.in_doubt])


def item(conn: Conn, found: ItemRow) -> int:
    """The same for what an open item is about: an event, or a record."""
    if found.closed_at is not None:
        return 0
    if found.event_id is not None:
        return event(conn, found.event_id)
    return _look(conn, [] if found.record_id is None else [found.record_id])


def _look(conn: Conn, record_ids: Sequence[int]) -> int:
    return conn.execute(LOOK, {"record_ids": list(record_ids), "fresh": FRESH}).rowcount if record_ids else 0
