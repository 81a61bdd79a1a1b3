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

DAYS: Final = 14
# For speed and cost.
LATELY: Final = timedelta(days=7)
# Where one age ends and the next begins, in seconds: an hour, four, a day, a week.
AGES: Final = (3600, 14_400, 86_400, 604_800)


@dataclass(frozen=True, slots=True)
class Day:
    """What came on one day by one source, and how much of that stands in the CRM by now."""

    day: date
    source: str
    accepted: int
    confirmed: int


BY_DAY: Final = """
    SELECT (e.received_at AT TIME ZONE %(zone)s)::date AS day, e.source, count(*) AS accepted,
           count(*) FILTER (WHERE d.state = 'confirmed') AS confirmed
      FROM events e
      CROSS JOIN LATERAL (SELECT state FROM deliveries WHERE event_id = e.event_id ORDER BY generation DESC LIMIT 1) d
     WHERE e.mode = 'live' AND e.received_at >= %(since)s
     GROUP BY 1, 2 ORDER BY 1, 2
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
    """

    days: Sequence[Day]
    channels: Sequence[Channel]
    items: Sequence[int]
    moving: Sequence[int]
    attempts: float
    effort: Effort
    reconciled: Sequence[Reconciled]

    @property
    def arrived(self) -> int:
        """Leads that came to stand in the CRM lately."""
        return sum(each.count for each in self.channels)

    @property
    def minutes_per_lead(self) -> float:
        """Of people."""
        return self.effort.seconds / 60 / max(self.arrived, 1)


def figures(conn: Conn, *, midnight: datetime, zone: str) -> Figures:
    """Of the last days.  `midnight`: when today began there."""
    ages = _ages(conn)
    with conn.cursor(row_factory=class_row(Day)) as days:
        by_day = days.execute(BY_DAY, {"zone": zone, "since": midnight - timedelta(days=DAYS - 1)}).fetchall()
    with conn.cursor(row_factory=class_row(Channel)) as channels:
        by_channel = channels.execute(CHANNELS, {"span": LATELY}).fetchall()
    with conn.cursor(row_factory=scalar_row) as number:
        attempts = number.execute(ATTEMPTS, {"span": LATELY}).fetchone()
    with conn.cursor(row_factory=class_row(Reconciled)) as runs:
        reconciled = runs.execute(RECONCILED).fetchall()
    return Figures(
        by_day, by_channel, ages["items"], ages["moving"], float(attempts or 0), effort(conn, LATELY), reconciled
    )


def _ages(conn: Conn) -> dict[str, list[int]]:
    counted = {what: [0] * (len(AGES) + 1) for what in ("items", "moving")}
    with conn.cursor(row_factory=dict_row) as cursor:
        for row in cursor.execute(BY_AGE, {"ages": list(AGES)}):
            counted[row["what"]][row["age"]] = row["number"]
    return counted
