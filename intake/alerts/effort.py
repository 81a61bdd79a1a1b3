"""How long people had to do with leads, as far as it can be told from what is stored.

Nobody stops a watch.  What is known is when something was on a person's screen, or was taken over, and when it was
decided.  So a decision took from the first of these within the last `MOST` until it was made; longer is not counted,
because a page that stays open overnight is no work.  Spans of one person that overlap count once.  A decision before
which nothing was seen (by a program, or from a list) is not measured, and the digest says how many were.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from psycopg.rows import class_row

from intake.db import Conn

MOST = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Effort:
    """`seconds`: what people spent on the `measured` ones of so many decisions, each made on its own.

    `waited`: the median time for which what a person ended had been open, in seconds; None: nothing was ended.
    """

    seconds: float
    measured: int
    decisions: int
    waited: float | None


# Those of a run of many at once were one decision, made from a list.
EFFORT = """
    WITH decided AS (
        SELECT d.author, d.at, d.event_id, d.item_id
          FROM decisions d
          LEFT JOIN events e ON e.event_id = d.event_id
          LEFT JOIN items i ON i.item_id = d.item_id
         WHERE d.at > statement_timestamp() - %(span)s AND coalesce(e.mode, i.mode) = 'live' AND d.action <> 'assign'
           AND NOT EXISTS (SELECT FROM bulk_items b JOIN bulk_runs r USING (bulk_id)
                            WHERE b.event_id = d.event_id AND r.author = d.author
                              AND b.done_at BETWEEN d.at - interval '5 seconds' AND d.at + interval '5 seconds')
    ), seen AS (
        SELECT shown_at AS at, event_id, item_id, operator FROM shown
         WHERE shown_at > statement_timestamp() - %(span)s - %(most)s
        UNION ALL
        SELECT at, event_id, item_id, author FROM decisions
         WHERE action = 'assign' AND at > statement_timestamp() - %(span)s - %(most)s
        UNION ALL
        SELECT at, event_id, NULL, operator FROM access_log
         WHERE event_id IS NOT NULL AND at > statement_timestamp() - %(span)s - %(most)s
    ), measured AS (
        SELECT d.author, d.at,
               (SELECT min(s.at) FROM seen s
                 WHERE (s.event_id = d.event_id OR s.item_id = d.item_id) AND s.at BETWEEN d.at - %(most)s AND d.at
                   AND (s.operator IS NULL OR s.operator = d.author)) AS since
          FROM decided d
    ), spans AS (
        SELECT unnest(range_agg(tstzrange(since, at, '[]'))) AS span
          FROM measured WHERE since IS NOT NULL GROUP BY author
    ), ended AS (
        SELECT i.closed_at - i.opened_at AS waited FROM items i
         WHERE i.mode = 'live' AND i.closed_at > statement_timestamp() - %(span)s
           AND EXISTS (SELECT FROM decided d WHERE (d.event_id = i.event_id OR d.item_id = i.item_id)
                          AND d.at BETWEEN i.opened_at AND i.closed_at + interval '5 seconds')
    )
    SELECT (SELECT coalesce(sum(extract(epoch FROM upper(span) - lower(span))), 0)::float FROM spans) AS seconds,
           (SELECT count(since) FROM measured) AS measured,
           (SELECT count(*) FROM measured) AS decisions,
           (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM waited)) FROM ended)::float AS waited
"""


def effort(conn: Conn, span: timedelta) -> Effort:
    """Of the last `span`, tests left out."""
    with conn.cursor(row_factory=class_row(Effort)) as cursor:
        found = cursor.execute(EFFORT, {"span": span, "most": MOST}).fetchone()
    return found or Effort(0.0, 0, 0, None)
