"""A day in numbers: what came, is in the CRM, and waits; how long it took, how many tries, and how much of people."""

from __future__ import annotations

from datetime import timedelta

from psycopg.rows import class_row, dict_row, tuple_row

from intake.alerts.content import Channel, Digest
from intake.alerts.effort import effort
from intake.db import Conn

SPAN = timedelta(days=1)

COUNTS = """
    SELECT (SELECT count(*) FROM events
             WHERE mode = 'live' AND received_at > statement_timestamp() - %(span)s) AS received,
           (SELECT count(*) FROM deliveries
             WHERE mode = 'live' AND state = 'confirmed' AND changed_at > statement_timestamp() - %(span)s) AS in_crm,
           (SELECT count(*) FROM deliveries
             WHERE mode = 'live' AND state IN ('received', 'delivering', 'waiting')
               AND state NOT IN ('confirmed', 'cancelled', 'superseded')) AS on_their_way,
           (SELECT count(*) FROM decisions d
              LEFT JOIN events e ON e.event_id = d.event_id LEFT JOIN items i ON i.item_id = d.item_id
             WHERE coalesce(e.mode, i.mode, 'live') = 'live' AND d.at > statement_timestamp() - %(span)s) AS decisions
"""
WAITING = """
    SELECT CASE i.kind WHEN 'delivery' THEN coalesce(d.state, 'review') ELSE i.kind END, count(*)
      FROM items i LEFT JOIN deliveries d ON d.event_id = i.event_id AND d.generation = i.generation
     WHERE i.closed_at IS NULL AND i.mode = 'live' GROUP BY 1 ORDER BY 1
"""
# Confirmed is final: when it changed last is when it was confirmed.
CHANNELS = """
    SELECT e.kind, count(*) AS count,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM d.changed_at - d.received_at)) AS p50,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM d.changed_at - d.received_at)) AS p95
      FROM deliveries d JOIN events e USING (event_id)
     WHERE d.mode = 'live' AND d.state = 'confirmed' AND d.changed_at > statement_timestamp() - %(span)s
     GROUP BY e.kind ORDER BY e.kind
"""
ATTEMPTS = """
    SELECT coalesce(sum(tried)::float / nullif(count(*), 0), 0) AS attempts
      FROM (SELECT (SELECT count(*) FROM attempts a
                     WHERE a.event_id = d.event_id AND a.generation = d.generation AND a.kind = 'write') AS tried
              FROM deliveries d
             WHERE d.mode = 'live' AND d.state = 'confirmed'
               AND d.changed_at > statement_timestamp() - %(span)s) AS leads
"""


def digest(conn: Conn) -> Digest:
    """The last day, and what waits now."""
    given = {"span": SPAN}
    with conn.cursor(row_factory=dict_row) as cursor:
        counts = cursor.execute(COUNTS, given).fetchone() or {}
        tried = cursor.execute(ATTEMPTS, given).fetchone() or {}
    with conn.cursor(row_factory=tuple_row) as cursor:
        waiting: dict[str, int] = dict(cursor.execute(WAITING).fetchall())
    with conn.cursor(row_factory=class_row(Channel)) as cursor:
        channels = tuple(cursor.execute(CHANNELS, given).fetchall())
    people = effort(conn, SPAN)
    return Digest(
        waiting=waiting,
        channels=channels,
        attempts_per_lead=float(tried["attempts"]),
        human_seconds=people.seconds,
        measured=people.measured,
        single=people.decisions,
        waited=people.waited,
        **counts,
    )
