"""From what holds now, and what held before, to what is said: that something began, grew, or ended.

Nothing is said twice within a quarter of an hour of one condition: what comes and goes by the second is told as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from psycopg.rows import class_row

from intake.alerts import conditions, outbox
from intake.alerts.conditions import Condition
from intake.alerts.content import Change, Content, What, plain
from intake.config import Settings
from intake.db import Conn

AGAIN = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Held:
    """A condition as it stands in the table.  `recently`: something was said of it within `AGAIN`."""

    name: str
    subject: str
    since: datetime
    count: int
    newest_at: datetime
    told_newest: datetime | None
    told_at: datetime | None
    told: bool
    ended_at: datetime | None
    recently: bool


# Held until the transaction ends: two that watch at once would say everything twice.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('conditions', 0))"
HELD = """
    SELECT name, subject, since, count, newest_at, told_newest, told_at, told, ended_at,
           coalesce(told_at > statement_timestamp() - %(again)s, false) AS recently
      FROM conditions ORDER BY name, subject
"""
HOLDS = """
    INSERT INTO conditions (name, subject, since, count, newest_at)
    VALUES (%(name)s, %(subject)s, %(since)s, %(count)s, %(newest_at)s)
    ON CONFLICT (name, subject) DO UPDATE
       SET count = EXCLUDED.count, newest_at = EXCLUDED.newest_at,
           since = CASE WHEN conditions.ended_at IS NULL THEN conditions.since ELSE EXCLUDED.since END,
           told = conditions.told AND conditions.ended_at IS NULL,
           ended_at = NULL
"""
TOLD = """
    UPDATE conditions SET told = true, told_at = clock_timestamp(), told_newest = newest_at
     WHERE name = %(name)s AND subject = %(subject)s
"""
ENDED = "UPDATE conditions SET ended_at = clock_timestamp() WHERE name = %(name)s AND subject = %(subject)s"


def held(conn: Conn) -> list[Held]:
    """Every condition that ever held."""
    with conn.cursor(row_factory=class_row(Held)) as cursor:
        return cursor.execute(HELD, {"again": AGAIN}).fetchall()


def watch(conn: Conn, settings: Settings, *, slow: bool) -> tuple[Change, ...]:
    """Look, keep what holds, and put what changed into the outbox: all in the caller's transaction."""
    conn.execute(LOCK)
    queries = conditions.SLOW if slow else conditions.QUICK
    names = conditions.SLOW_NAMES if slow else conditions.QUICK_NAMES
    found = [*conditions.holding(conn, settings, queries), *([] if slow else conditions.spooled(settings))]
    now = [replace(each, subject=plain(each.subject)) for each in found]
    before = {(each.name, each.subject): each for each in held(conn)}
    changed = (*_began(conn, now, before), *_ended(conn, now, before, names))
    channels = outbox.channels(settings.alerts)
    if changed and channels:
        outbox.put(conn, channels, "change", Content(link_of(settings), changed))
    return changed


def link_of(settings: Settings) -> str:
    """Where people open the console."""
    return f"{settings.alerts.console_url or settings.public_base_url}/console"


def _began(conn: Conn, now: Sequence[Condition], before: dict[tuple[str, str], Held]) -> Iterator[Change]:
    for each in now:
        key = {"name": each.name, "subject": each.subject}
        held = before.get((each.name, each.subject))
        conn.execute(HOLDS, key | {"since": each.since, "count": each.count, "newest_at": each.newest_at})
        told = held is not None and held.told and held.ended_at is None
        news = held is None or held.told_newest is None or each.newest_at > held.told_newest
        if (told and not news) or (held is not None and held.recently):
            continue
        conn.execute(TOLD, key)
        references = tuple(plain(reference) for reference in each.references)
        what: What = "grew" if told else "began"
        yield Change(what, each.name, each.subject, each.count, each.since.isoformat(), references)


def _ended(
    conn: Conn, now: Sequence[Condition], before: dict[tuple[str, str], Held], names: Sequence[str]
) -> Iterator[Change]:
    holding = {(each.name, each.subject) for each in now}
    for key, held in before.items():
        if held.ended_at is not None or held.name not in names or key in holding:
            continue
        conn.execute(ENDED, {"name": held.name, "subject": held.subject})
        if held.told:
            yield Change("ended", held.name, held.subject, held.count, held.since.isoformat())
