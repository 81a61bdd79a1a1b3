"""What holds now that somebody should know: one query a condition, by source or by account.

Live only: a test troubles nobody, unless a live form seems to post to the address for tests.  What waits for a paused
account is told by the pause, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import LiteralString

from psycopg.rows import class_row

from intake.config import Settings
from intake.db import Conn
from intake.spool import stock_of


@dataclass(frozen=True, slots=True)
class Condition:
    """`subject` is a source or an account, "": the installation.  `newest_at`: of what it counts, the latest.

    `references` are the latest few: of needs, as they stand in the CRM, else numbers of items.
    """

    name: str
    subject: str
    count: int
    since: datetime
    newest_at: datetime
    references: list[str]


# What is looked at in every round, and what takes longer to read and changes slowly.
QUICK: Mapping[str, LiteralString] = {
    "items": """
        SELECT CASE i.kind WHEN 'delivery' THEN d.state ELSE i.kind END AS name, coalesce(i.source, '') AS subject,
               count(*) AS count, min(i.opened_at) AS since, max(i.opened_at) AS newest_at,
               (array_agg(coalesce(n.reference, 'item-' || i.item_id) ORDER BY i.opened_at DESC))[1:5] AS "references"
          FROM items i
          LEFT JOIN LATERAL (SELECT state, need_id FROM deliveries WHERE event_id = i.event_id
                              ORDER BY generation DESC LIMIT 1) d ON true
          LEFT JOIN needs n USING (need_id)
         WHERE i.closed_at IS NULL AND i.mode = 'live' AND (i.kind <> 'delivery' OR d.state IN ('uncertain', 'review'))
         GROUP BY 1, 2
    """,
    "account_paused": """
        SELECT 'account_paused' AS name, destination AS subject,
               (SELECT count(*) FROM deliveries d
                 WHERE d.destination = a.destination AND d.state IN ('received', 'waiting')) AS count,
               paused_at AS since, paused_at AS newest_at, '{}'::text[] AS "references"
          FROM accounts a WHERE paused_at IS NOT NULL
    """,
    "fetch_parked": """
        SELECT CASE what WHEN 'lead' THEN 'fetch_parked' ELSE 'media_parked' END AS name, source AS subject,
               (SELECT count(*) FROM fetches f WHERE f.source = l.source AND f.due_at IS NOT NULL) AS count,
               parked_at AS since, parked_at AS newest_at, '{}'::text[] AS "references"
          FROM fetch_lanes l
    """,
    "pull_failed": """
        SELECT 'pull_failed' AS name, source AS subject, 1::bigint AS count, read_until AS since,
               read_until AS newest_at, '{}'::text[] AS "references"
          FROM pulls
         WHERE failure IS NOT NULL AND due_at IS NOT NULL AND read_until < statement_timestamp() - %(pulled)s
    """,
    "source_paused": """
        SELECT 'source_paused' AS name, p.source AS subject,
               (SELECT count(*) FROM deliveries d
                 WHERE d.source = p.source AND d.state IN ('received', 'waiting')) AS count,
               p.paused_at AS since, p.paused_at AS newest_at, '{}'::text[] AS "references"
          FROM paused_sources p
    """,
    "backlog": """
        SELECT 'backlog' AS name, d.destination AS subject, count(*) AS count, min(d.due_at) AS since,
               min(d.due_at) AS newest_at, '{}'::text[] AS "references"
          FROM deliveries d
          LEFT JOIN accounts a ON a.destination = d.destination
          LEFT JOIN conditions c ON c.name = 'account_paused' AND c.subject = d.destination
          LEFT JOIN conditions s ON s.name = 'source_paused' AND s.subject = d.source
         WHERE d.state IN ('received', 'waiting') AND d.mode = 'live' AND a.paused_at IS NULL
           AND NOT EXISTS (SELECT FROM paused_sources p WHERE p.source = d.source)
           AND (c.name IS NULL OR c.ended_at IS NOT NULL) AND (s.name IS NULL OR s.ended_at IS NOT NULL)
           AND greatest(d.due_at, c.ended_at, s.ended_at) < statement_timestamp() - %(backlog)s
         GROUP BY d.destination
    """,
    "promise": """
        SELECT 'promise' AS name, d.source AS subject, count(*) AS count, min(d.received_at) AS since,
               max(d.received_at) AS newest_at,
               (array_agg(n.reference ORDER BY d.received_at DESC))[1:5] AS "references"
          FROM unnest(%(sources)s::text[], %(promises)s::interval[]) AS p (source, promise)
          JOIN deliveries d USING (source)
          JOIN needs n USING (need_id)
          LEFT JOIN accounts a ON a.destination = d.destination
          LEFT JOIN conditions c ON c.name = 'account_paused' AND c.subject = d.destination
          LEFT JOIN conditions s ON s.name = 'source_paused' AND s.subject = d.source
         WHERE d.state IN ('received', 'delivering', 'waiting', 'uncertain') AND d.mode = 'live'
           AND d.state NOT IN ('confirmed', 'cancelled', 'superseded')  -- in the words of the index of what is pending
           AND a.paused_at IS NULL AND NOT EXISTS (SELECT FROM paused_sources q WHERE q.source = d.source)
           AND (c.name IS NULL OR c.ended_at IS NOT NULL) AND (s.name IS NULL OR s.ended_at IS NOT NULL)
           AND d.reason IS DISTINCT FROM 'fetch_parked'
           AND greatest(d.received_at, c.ended_at, s.ended_at) < statement_timestamp() - p.promise
         GROUP BY d.source
    """,
    "no_worker": """
        SELECT 'no_worker' AS name, '' AS subject, count(*) AS count, min(due_at) AS since, min(due_at) AS newest_at,
               '{}'::text[] AS "references"
          FROM deliveries d LEFT JOIN accounts a USING (destination)
         WHERE d.state IN ('received', 'waiting') AND due_at < statement_timestamp() - %(worker)s
           AND a.paused_at IS NULL
           AND NOT EXISTS (SELECT FROM paused_sources p WHERE p.source = d.source)
           AND NOT EXISTS (SELECT FROM heartbeats WHERE process = 'worker' AND at > statement_timestamp() - %(worker)s)
        HAVING count(*) > 0
    """,
}
SLOW: Mapping[str, LiteralString] = {
    # Longer than half as long again as the longest pause of four weeks, nights and weekends among them.
    "silence": """
        SELECT 'silence' AS name, source AS subject, count(*) AS count, max(received_at) AS since,
               max(received_at) AS newest_at, '{}'::text[] AS "references"
          FROM (SELECT source, received_at, lead(received_at) OVER (PARTITION BY source ORDER BY received_at) AS next_at
                  FROM receipts
                 WHERE source = ANY(%(sources)s) AND mode = 'live' AND verdict = 'accepted'
                   AND NOT headers ? 'x-intake-pulled'
                   AND received_at > statement_timestamp() - interval '28 days') AS arrivals
         GROUP BY source
        HAVING count(*) >= %(busy)s AND min(received_at) < statement_timestamp() - interval '7 days'
           AND max(received_at) < statement_timestamp() - greatest(interval '2 hours', 1.5 * max(next_at - received_at))
    """,
    # A day of deliveries and not one lead, where a week had some every day, or where there never was one.
    "gives_nothing": """
        SELECT 'gives_nothing' AS name, source AS subject, count(*) FILTER (WHERE recent) AS count,
               min(received_at) FILTER (WHERE recent) AS since, min(received_at) FILTER (WHERE recent) AS newest_at,
               '{}'::text[] AS "references"
          FROM (SELECT source, received_at, verdict = 'accepted' AS gave,
                       received_at > statement_timestamp() - interval '1 day' AS recent
                  FROM receipts
                 WHERE source = ANY(%(sources)s) AND mode = 'live' AND verdict IN ('accepted', 'ignored', 'quarantined')
                   AND NOT headers ? 'x-intake-pulled'
                   AND received_at > statement_timestamp() - interval '8 days') AS arrivals
         GROUP BY source
        HAVING count(*) FILTER (WHERE recent) >= %(nothing)s AND count(*) FILTER (WHERE recent AND gave) = 0
           AND (count(*) FILTER (WHERE gave) >= 7 OR count(*) FILTER (WHERE gave) = 0)
    """,
    # A form that people fill in, and its address is the one for tests: hours of them, and hardly anything live.
    "test_address": """
        SELECT 'test_address' AS name, source AS subject, count(*) FILTER (WHERE mode = 'test') AS count,
               min(received_at) FILTER (WHERE mode = 'test') AS since,
               max(received_at) FILTER (WHERE mode = 'test') AS newest_at, '{}'::text[] AS "references"
          FROM receipts
         WHERE source = ANY(%(sources)s) AND mode IN ('live', 'test') AND verdict = 'accepted'
           AND received_at > statement_timestamp() - interval '1 day'
         GROUP BY source
        HAVING count(*) FILTER (WHERE mode = 'test') >= %(tests)s
           AND count(*) FILTER (WHERE mode = 'test') > count(*) FILTER (WHERE mode = 'live')
           AND max(received_at) FILTER (WHERE mode = 'test')
               > min(received_at) FILTER (WHERE mode = 'test') + interval '6 hours'
    """,
    # Many more refusals in this hour and the last one than a week has in two hours.
    "noise": """
        SELECT 'noise' AS name, source AS subject, sum(count) FILTER (WHERE recent)::bigint AS count,
               min(hour) FILTER (WHERE recent) AS since, min(hour) FILTER (WHERE recent) AS newest_at,
               '{}'::text[] AS "references"
          FROM (SELECT source, hour, count, hour >= date_trunc('hour', clock_timestamp()) - interval '1 hour' AS recent
                  FROM refusals WHERE hour > statement_timestamp() - interval '7 days') AS hours
         GROUP BY source
        HAVING sum(count) FILTER (WHERE recent) >= %(noise)s
           AND sum(count) FILTER (WHERE recent) > 5 * coalesce(sum(count) FILTER (WHERE NOT recent), 0) / 84.0
    """,
}
# The names that each set of queries tells of; what is not among its rows does not hold.
QUICK_NAMES = (
    "uncertain", "review", "conflict", "quarantine", "incident", "account_paused", "source_paused",
    "fetch_parked", "media_parked", "pull_failed", "backlog", "promise", "no_worker", "spool",
)  # fmt: skip
SLOW_NAMES = ("silence", "gives_nothing", "test_address", "noise")

BACKLOG = timedelta(minutes=10)
WORKER = timedelta(minutes=1)
PULLED = timedelta(hours=1)  # a sender that cannot be asked for so long, though it is asked again every few minutes
BUSY = 40  # deliveries in four weeks
NOTHING = 20  # deliveries in a day
TESTS = 10  # deliveries in a day to the address for tests; whoever tries a form out is done within hours
NOISE = 30  # refusals in an hour or two


# A spool that holds something for longer than this is no passing hiccup, in seconds.
SPOOLED = 30.0


def spooled(settings: Settings) -> list[Condition]:
    """Deliveries wait on this host's disk: PostgreSQL did not take them.  Only the clock's own host is seen."""
    folder = settings.spool_dir
    stock = None if folder is None else stock_of(folder, 0)
    if stock is None or stock.oldest is None or stock.oldest < SPOOLED:
        return []
    since = datetime.now(UTC) - timedelta(seconds=stock.oldest)
    return [Condition("spool", "", stock.segments, since, since, [])]


def holding(conn: Conn, settings: Settings, queries: Mapping[str, LiteralString]) -> list[Condition]:
    """What holds now."""
    served = [each for each in settings.sources.values() if each.enabled and each.available]
    promised = [each for each in served if each.promise_minutes]
    given = {
        "backlog": BACKLOG, "worker": WORKER, "pulled": PULLED, "busy": BUSY, "nothing": NOTHING, "tests": TESTS,
        "noise": NOISE,
        "promises": [timedelta(minutes=each.promise_minutes) for each in promised],
    }  # fmt: skip
    found: list[Condition] = []
    with conn.cursor(row_factory=class_row(Condition)) as cursor:
        for name, query in queries.items():
            sources = [each.name for each in (promised if name == "promise" else served)]
            found += cursor.execute(query, given | {"sources": sources}).fetchall()
    return found
