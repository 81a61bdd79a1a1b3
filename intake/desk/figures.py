"""How it goes, in figures: what came and arrived day by day, how fast, how old what waits is, and what a lead costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from psycopg.rows import class_row, dict_row, scalar_row

from intake.alerts.content import Channel
from intake.alerts.digest import ATTEMPTS, CHANNELS
from intake.alerts.effort import Effort, effort
from intake.db import Conn
from intake.desk.overview import Reconciled
from intake.picking import WAYS

DAYS: Final = 14
# For speed and cost: so long, or since so many leads came to stand in the CRM, where that is shorter.
LATELY: Final = timedelta(days=7)
MOST: Final = 100_000
# Where one age ends and the next begins, in seconds: an hour, four, a day, a week.
AGES: Final = (3600, 14_400, 86_400, 604_800)


@dataclass(frozen=True, slots=True)
class Day:
    """What came on one day by one source, and how much of that stands in the CRM by now."""

    day: date
    source: str
    accepted: int
    confirmed: int


# What came is counted in an index, way by way and day by day.  What of it does not stand in the CRM is less than what
# does, so this is looked for event by event, and taken away.
BY_DAY: Final = f"""
    WITH RECURSIVE {WAYS}, days AS (
    SELECT day, day::timestamp AT TIME ZONE %(zone)s AS begins, (day + 1)::timestamp AT TIME ZONE %(zone)s AS ends
      FROM (SELECT (%(since)s AT TIME ZONE %(zone)s)::date + number AS day
              FROM generate_series(0, %(days)s - 1) AS number) AS numbered
    ), came AS (
    SELECT day, source, sum(number)::bigint AS accepted
      FROM ways w CROSS JOIN days
      CROSS JOIN LATERAL (
           SELECT count(*) AS number FROM events e
            WHERE e.source = w.source AND e.kind = w.kind AND e.mode = w.mode
              AND e.received_at >= begins AND e.received_at < ends) AS counted
     WHERE w.mode = 'live' GROUP BY 1, 2 HAVING sum(number) > 0
    ), open_or_ended AS (
    SELECT event_id, generation FROM deliveries
     WHERE state NOT IN ('confirmed', 'cancelled', 'superseded') AND mode = 'live'
    UNION ALL
    SELECT event_id, generation FROM deliveries
     WHERE state IN ('cancelled', 'superseded') AND mode = 'live' AND received_at >= %(since)s - interval '1 hour'
    ), elsewhere AS (
    SELECT (e.received_at AT TIME ZONE %(zone)s)::date AS day, e.source, count(*) AS number
      FROM open_or_ended o JOIN events e USING (event_id)
     WHERE e.received_at >= %(since)s
       AND NOT EXISTS (SELECT FROM deliveries d WHERE d.event_id = o.event_id AND d.generation > o.generation)
     GROUP BY 1, 2
    )
    SELECT day, source, accepted, accepted - coalesce(number, 0) AS confirmed
      FROM came LEFT JOIN elsewhere USING (day, source) ORDER BY day, source
"""  # noqa: S608  # our own words
# None: no more than so many came within that time.
SHORTER: Final = """
    SELECT statement_timestamp() - changed_at AS span FROM deliveries
     WHERE state = 'confirmed' AND changed_at > statement_timestamp() - %(span)s
     ORDER BY changed_at DESC OFFSET %(most)s LIMIT 1
"""
BY_AGE: Final = """
    SELECT what, width_bucket(extract(epoch FROM clock_timestamp() - at)::float, %(ages)s::float[]) AS age,
           count(*) AS number
      FROM (SELECT 'items' AS what, opened_at AS at FROM items WHERE closed_at IS NULL
            UNION ALL
            SELECT 'moving', received_at FROM deliveries
             WHERE state NOT IN ('confirmed', 'cancelled', 'superseded')
               AND state IN ('received', 'delivering', 'waiting')) AS waiting
     GROUP BY 1, 2
"""
RECONCILED: Final = """
    SELECT finished_at, verified, jsonb_array_length(CASE jsonb_typeof(incidents) WHEN 'array' THEN incidents
                                                     ELSE jsonb_build_array() END) AS incidents
      FROM reconciliations ORDER BY reconciliation_id DESC LIMIT 10
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """`items`, `moving`: how many of each age wait for a person, or are on their way; one more than there are AGES.

    `attempts`: writes for each lead that stands in the CRM.  `arrived`: how many those are.
    `shorter`: the time of which speed and cost tell, in the place of LATELY, because so many came; None: LATELY.
    """

    days: Sequence[Day]
    channels: Sequence[Channel]
    items: Sequence[int]
    moving: Sequence[int]
    attempts: float
    effort: Effort
    reconciled: Sequence[Reconciled]
    shorter: timedelta | None = None

    @property
    def arrived(self) -> int:
        """Leads that came to stand in the CRM lately."""
        return sum(each.count for each in self.channels)

    @property
    def minutes_per_lead(self) -> float:
        """Of people."""
        return self.effort.seconds / 60 / max(self.arrived, 1)


def figures(conn: Conn, *, midnight: datetime, zone: str, most: int = MOST) -> Figures:
    """Of the last days.  `midnight`: when today began there.  `most`: of so many leads at most speed and cost tell."""
    ages = _ages(conn)
    given = {"zone": zone, "since": midnight - timedelta(days=DAYS - 1), "days": DAYS}
    with conn.cursor(row_factory=class_row(Day)) as days:
        by_day = days.execute(BY_DAY, given).fetchall()
    with conn.cursor(row_factory=class_row(Reconciled)) as runs:
        reconciled = runs.execute(RECONCILED).fetchall()
    shorter = _shorter(conn, most)
    span = {"span": shorter or LATELY}
    with conn.cursor(row_factory=class_row(Channel)) as channels:
        by_channel = channels.execute(CHANNELS, span).fetchall()
    with conn.cursor(row_factory=scalar_row) as number:
        attempts = number.execute(ATTEMPTS, span).fetchone()
    effort_of_people = effort(conn, span["span"])
    return Figures(
        by_day, by_channel, ages["items"], ages["moving"], float(attempts or 0), effort_of_people, reconciled, shorter
    )


def _shorter(conn: Conn, most: int) -> timedelta | None:
    with conn.cursor(row_factory=scalar_row) as cursor:
        span: timedelta | None = cursor.execute(SHORTER, {"span": LATELY, "most": most}).fetchone()
    return span


def _ages(conn: Conn) -> dict[str, list[int]]:
    counted = {what: [0] * (len(AGES) + 1) for what in ("items", "moving")}
    with conn.cursor(row_factory=dict_row) as cursor:
        for row in cursor.execute(BY_AGE, {"ages": list(AGES)}):
            counted[row["what"]][row["age"]] = row["number"]
    return counted
