"""The proof that a record is absent: what must be shown before a second write.

Two strong looks say absent, each with its positive control, both begun after the last write can no longer leave, at
least `limit + lag` apart, and with no silence of the account between them.  Why so much: a stalled server was seen to
execute a POST that its client had given up long before.
"""

from __future__ import annotations

from datetime import timedelta

from psycopg.rows import scalar_row

from intake.db import Conn
from intake.records import Record

# The looks that count: strong, controlled, absent; begun after the write's lease was over and after the last silence of
# the account (a span in which a call got no answer, and no other call of the account got one either).  A call that was
# never closed counts as unanswered for as long as its record could be asked; one that began after the newest look was
# answered says nothing of the time before it (on a busy account there always is one).
ABSENCE_SPAN = """
    WITH newest AS (
        SELECT max(answered_at) AS at FROM attempts WHERE record_id = %(record_id)s AND kind = 'look'
    ), silences AS (
        SELECT coalesce(u.closed_at, u.send_by, u.prepared_at) AS until
          FROM attempts u
         WHERE u.destination = %(destination)s AND u.answered_at IS NULL AND u.outcome IS DISTINCT FROM 'not_sent'
           AND u.prepared_at BETWEEN %(since)s AND (SELECT at FROM newest)
           AND NOT EXISTS (
               SELECT FROM attempts a
                WHERE a.destination = %(destination)s AND a.answered_at IS NOT NULL
                  AND a.answered_at BETWEEN u.prepared_at AND coalesce(u.closed_at, u.send_by, u.prepared_at))
    ), since AS (
        SELECT greatest(%(since)s, (SELECT max(until) FROM silences)) AS at
    )
    SELECT coalesce(max(l.prepared_at) - min(l.prepared_at), '-1 second'::interval)
      FROM attempts l, since
     WHERE l.record_id = %(record_id)s AND l.kind = 'look' AND l.outcome = 'absent'
       AND l.strength = 'strong' AND l.controlled AND l.prepared_at > since.at
"""


def absence_span(conn: Conn, record: Record) -> timedelta:
    """How far apart the looks are that count as proof that this record is absent; negative: there is none yet."""
    since = record.asked_until
    assert since is not None  # noqa: S101  # a CHECK holds it for records in doubt
    parameters = {"record_id": record.record_id, "destination": record.destination, "since": since}
    with conn.cursor(row_factory=scalar_row) as cursor:
        span: timedelta | None = cursor.execute(ABSENCE_SPAN, parameters).fetchone()
    assert span is not None  # noqa: S101  # an aggregate returns a row
    return span
