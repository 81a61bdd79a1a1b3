"""Whether what is old goes, for the doctor: `intake purge` notes when it has seen everything."""

from __future__ import annotations

from datetime import datetime, timedelta

from psycopg.rows import scalar_row

from intake.config import Settings, Source
from intake.db import Conn
from intake.doctor import Line

# It runs every day; a night may fail.
EVERY = timedelta(days=2)

NOTE = """
    INSERT INTO rounds (name, due_at) VALUES ('purge', clock_timestamp() + %(every)s)
    ON CONFLICT (name) DO UPDATE SET due_at = EXCLUDED.due_at
"""


def note_purge(conn: Conn) -> None:
    """All that is old of every source has just gone."""
    conn.execute(NOTE, {"every": EVERY})


NEXT = "SELECT due_at FROM rounds WHERE name = 'purge'"
IS_LATE = "SELECT clock_timestamp() > %(due_at)s"
# Each mode by itself, so that both are the first of an index.
HAS_OLDER = """
    SELECT least((SELECT min(received_at) FROM receipts WHERE source = %(source)s AND mode = 'live'),
                 (SELECT min(received_at) FROM receipts WHERE source = %(source)s AND mode = 'test'))
           < statement_timestamp() - %(age)s
"""

# From one name to the next by an index, however many receipts each has.
NAMED_NO_MORE = """
    WITH RECURSIVE had AS (
        SELECT min(source) AS source FROM receipts
        UNION ALL
        SELECT (SELECT min(source) FROM receipts WHERE source > had.source) FROM had WHERE had.source IS NOT NULL)
    SELECT source FROM had WHERE source <> ALL(%(named)s)
"""


def of_retention(conn: Conn, settings: Settings) -> Line:
    """A source that names an age wants `intake purge` to run; one that is too young for it has time.

    What came through a source that the configuration names no more has no age, and stays.
    """
    bounded = {each.name: days for each in settings.sources.values() if (days := _shortest(each))}
    if not bounded:
        return Line("ok", "retention", "no source names an age: everything is kept")
    with conn.cursor(row_factory=scalar_row) as cursor:
        due_at: datetime | None = cursor.execute(NEXT).fetchone()
        if due_at is not None:
            late = bool(cursor.execute(IS_LATE, {"due_at": due_at}).fetchone())
        else:
            ages = [{"source": name, "age": timedelta(days=days) + EVERY} for name, days in bounded.items()]
            late = any(cursor.execute(HAS_OLDER, each).fetchone() for each in ages)
        named = {name for each in settings.sources.values() for name in (each.name, each.renamed_from) if name}
        left = cursor.execute(NAMED_NO_MORE, {"named": sorted(named)}).fetchall()
    last = "is not known to have run"
    if due_at is not None:
        last = f"last ran on {(due_at - EVERY).astimezone(settings.timezone):%Y-%m-%d}"
    detail = f"{len(bounded)} of {len(settings.sources)} sources name an age; `intake purge` {last}"
    remedies = []
    if late:
        remedies.append("let it run every day, as the owner of the tables (docs/retention.md)")
    if left:
        detail += f"; what came through {', '.join(left)} stays for ever"
        remedies.append("a source that was renamed says renamed_from; one that is used no more stays in intake.toml,"
                        " with its ages and enabled = false")  # fmt: skip
    return Line("warn" if remedies else "ok", "retention", detail, "; ".join(remedies))


def _shortest(source: Source) -> int:
    """In days; 0: it keeps everything."""
    ages = (source.payload_retention_days, source.attempt_retention_days, source.decision_retention_days,
            source.key_retention_days)  # fmt: skip
    return min((days for days in ages if days), default=0)
