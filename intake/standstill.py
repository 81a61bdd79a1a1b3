"""What stands still though nothing is wrong with it: its destination is configured no more, or its source is paused."""

from __future__ import annotations

from collections.abc import Iterator

from psycopg.rows import tuple_row

from intake import missing_secrets
from intake.config import Settings
from intake.db import Conn
from intake.doctor import Line
from intake.missing_secrets import Told

# Also what looks are due for: a record in doubt of an account that nobody speaks to any more stays so.
WITHOUT_DESTINATION = """
    SELECT destination, count(*) FROM deliveries
     WHERE state NOT IN ('confirmed', 'cancelled', 'superseded') AND destination <> ALL(%(open)s)
     GROUP BY destination ORDER BY destination
"""
OF_PAUSED = """
    SELECT p.source, count(d.event_id) FROM paused_sources p
      LEFT JOIN deliveries d ON d.source = p.source AND d.state IN ('received', 'waiting')
     GROUP BY p.source ORDER BY p.source
"""
STOPPED_RUNS = """
    SELECT r.bulk_id, count(*) FROM bulk_runs r JOIN bulk_items i USING (bulk_id)
     WHERE r.stopped_at IS NOT NULL AND i.result IS NULL GROUP BY r.bulk_id ORDER BY r.bulk_id
"""


def of_deliveries(conn: Conn, settings: Settings, told: Told) -> Iterator[Line]:
    """Deliveries that no worker of this configuration will ever take, as the workers have `told`."""
    closed = missing_secrets.closed(settings, told)
    can = [name for name in settings.destinations if f"destination {name}" not in closed]
    with conn.cursor(row_factory=tuple_row) as cursor:
        left = cursor.execute(WITHOUT_DESTINATION, {"open": can}).fetchall()
        paused = cursor.execute(OF_PAUSED).fetchall()
        stopped = cursor.execute(STOPPED_RUNS).fetchall()
    for destination, count in left:
        yield Line("fail", f"destination {destination}", f"not configured, or closed; {count} deliveries wait for it",
                   "configure it again (they are pinned to it), or cancel and reissue them")  # fmt: skip
    for source, count in paused:
        yield Line("warn", f"source {source}", f"paused by a person; {count} deliveries wait",
                   f"`intake resume {source}` when they may go")  # fmt: skip
    for bulk_id, count in stopped:
        yield Line("warn", f"bulk run {bulk_id}", f"stopped with {count} events left",
                   f"`intake bulk go {bulk_id}`, or leave it")  # fmt: skip
    if not left:
        yield Line("ok", "destinations", "every delivery on its way has one")
