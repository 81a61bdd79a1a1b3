"""What happens once a day, whatever the number of clocks; and the nightly reconciliation on its way from page to page.

A clock asks for the run; workers take its pages, one at a time, with pauses between them: a background job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from intake.db import Conn

# What the nightly run verifies in the CRM; `intake reconcile --verify` reads all of it.
VERIFIES = timedelta(days=30)
# A page whose worker died is taken by another after this.  The first reads all of the database's own rows.
HOLD = timedelta(minutes=30)
BETWEEN_PAGES = timedelta(seconds=1)


def due_day(now: datetime, at: time, zone: ZoneInfo) -> tuple[date, datetime]:
    """The last day whose hour has come, and that moment."""
    local = now.astimezone(zone)
    day = local.date() if local.time() >= at else local.date() - timedelta(days=1)
    return day, datetime.combine(day, at, zone)


# An installation that did not stand at that hour has missed nothing.
ONCE = """
    INSERT INTO daily (name, day) SELECT %(name)s, %(day)s FROM installation WHERE epoch_opened_at < %(moment)s
    ON CONFLICT DO NOTHING
"""


def first_of_day(conn: Conn, name: Literal["reconcile", "digest"], day: date, moment: datetime) -> bool:
    """Whether nobody did it yet on this day; from now on somebody did."""
    return conn.execute(ONCE, {"name": name, "day": day, "moment": moment}).rowcount == 1


ASK = """
    INSERT INTO reconciliation_runs (since) VALUES (clock_timestamp() - %(verifies)s)
"""


def ask_for_run(conn: Conn) -> None:
    """Let the workers reconcile."""
    conn.execute(ASK, {"verifies": VERIFIES})


@dataclass(frozen=True, slots=True)
class Run:
    """A page of a run in hand.  `at`: where it stands, {}: at its beginning."""

    run_id: int
    since: datetime | None
    at: Mapping[str, object]
    claim_token: UUID


CLAIM = """
    UPDATE reconciliation_runs SET due_at = clock_timestamp() + %(hold)s, claim_token = %(token)s
     WHERE run_id = (SELECT run_id FROM reconciliation_runs WHERE due_at <= statement_timestamp()
                      ORDER BY due_at FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING run_id, since, at, claim_token
"""
SAVE = """
    UPDATE reconciliation_runs SET at = %(at)s, due_at = clock_timestamp() + %(pause)s, claim_token = NULL
     WHERE run_id = %(run_id)s AND claim_token = %(token)s
"""
END = """
    UPDATE reconciliation_runs SET ended_at = clock_timestamp(), due_at = NULL, claim_token = NULL
     WHERE run_id = %(run_id)s AND claim_token = %(token)s
"""


def claim_run(conn: Conn) -> Run | None:
    """The next page that is due; None: none is."""
    with conn.cursor(row_factory=class_row(Run)) as cursor:
        return cursor.execute(CLAIM, {"hold": HOLD, "token": uuid4()}).fetchone()


def save_run(conn: Conn, run: Run, at: Mapping[str, object]) -> None:
    """Where it stands now.  Nothing to do for who took too long: another has gone on from where he began."""
    given = {"at": Jsonb(dict(at)), "pause": BETWEEN_PAGES, "run_id": run.run_id, "token": run.claim_token}
    conn.execute(SAVE, given)


def end_run(conn: Conn, run: Run) -> bool:
    """It is over.  False: another has ended it."""
    return conn.execute(END, {"run_id": run.run_id, "token": run.claim_token}).rowcount == 1
