"""Taking away what is old: contents, attempts, decisions, and at last identities, by the age that each source names.

Small batches, each a transaction of its own; whoever was stopped begins again, and finds what is left.  Nothing goes
on which something open may still need: an event goes only with its whole need at rest, no record of it in doubt, no
item open, nothing to be fetched.  Only the owner of the tables may do it (`is_purge` in the schema).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Final, Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake import aging
from intake import purge_sql as sql
from intake.config import Settings, Source
from intake.db import Conn

BATCH: Final = 200  # rows of a transaction
AHEAD: Final = 2_000  # rows that one statement looks at

What = Literal["payloads", "attempts", "decisions", "identities"]
Told = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Step:
    """`select` gives the ids of a batch; `acts` are done to them in this order, each counted under its name.

    `ahead`: until when it looks at one time.
    """

    what: What
    days: Callable[[Source], int]
    ahead: str
    select: str
    acts: Mapping[str, str]


STEPS: Final = (
    Step("payloads", lambda source: source.payload_retention_days,
         sql.RECEIPTS_AHEAD, sql.OLD_RECEIPTS, sql.EMPTY_RAW),
    Step("payloads", lambda source: source.payload_retention_days,
         sql.EVENTS_AHEAD, sql.WITH_CONTENTS, sql.EMPTY_LEADS),
    Step("attempts", lambda source: source.attempt_retention_days,
         sql.EVENTS_AHEAD, sql.WITH_ATTEMPTS, sql.DROP_ATTEMPTS),
    Step("decisions", lambda source: source.decision_retention_days,
         sql.EVENTS_AHEAD, sql.WITH_DECISIONS, sql.DROP_DECISIONS),
    Step("identities", lambda source: source.key_retention_days,
         sql.EVENTS_AHEAD, sql.OLD_NEEDS, sql.DROP_IDENTITIES),
)  # fmt: skip


class NotOwner(Exception):
    """Who is connected does not own the tables, and may take nothing away."""


@dataclass(frozen=True, slots=True)
class Wish:
    """`source` None: all.  `dry`: only count.  `now` None: the database's own.  Tests name other `now` and `steps`."""

    source: str | None = None
    dry: bool = False
    batch: int = BATCH
    ahead: int = AHEAD
    now: datetime | None = None
    steps: Sequence[Step] = STEPS


def purge(conn: Conn, settings: Settings, wish: Wish, *, told: Told = lambda _done, _total: None) -> Counter[str]:
    """Returns how many rows of what went, or would go.  `told` hears how many steps of how many are done.

    Raises NotOwner.
    """
    if not is_owner(conn):
        raise NotOwner
    counted: Counter[str] = Counter()
    work = list(_work(settings, wish))
    for done, (step, source, days) in enumerate(work):
        told(done, len(work))
        counted += _all_batches(conn, step, source, timedelta(days=days), wish)
    if wish.source is None and not wish.dry:
        aging.note_purge(conn)
    return counted


OWNS = "SELECT owns('events'::regclass)"


def is_owner(conn: Conn) -> bool:
    """Whether who is connected owns the tables."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return bool(cursor.execute(OWNS).fetchone())


def _work(settings: Settings, wish: Wish) -> Iterator[tuple[Step, Source, int]]:
    for source in settings.sources.values():
        if wish.source in {None, source.name}:
            yield from ((step, source, days) for step in wish.steps if (days := step.days(source)))


@dataclass(frozen=True, slots=True)
class _Row:
    at: datetime
    id: UUID


BEGIN: Final = {"at": datetime(1970, 1, 1, tzinfo=UTC), "id": UUID(int=0)}
LAST: Final = UUID(int=2**128 - 1)


def _all_batches(conn: Conn, step: Step, source: Source, age: timedelta, wish: Wish) -> Counter[str]:
    counted: Counter[str] = Counter()
    names = [source.name, *([source.renamed_from] if source.renamed_from else [])]
    given: dict[str, object] = {
        "names": names,
        "age": age,
        "now": wish.now,
        "batch": wish.batch,
        "ahead": wish.ahead,
        **BEGIN,
    }
    earlier = list(_earlier(step, source, wish)) if wish.dry else None
    while end := _ahead(conn, step, given):
        given |= {"end": end}
        while rows := _batch(conn, step, given, counted, earlier):
            given |= {"at": rows[-1].at, "id": rows[-1].id}
        given |= {"at": end, "id": LAST}
    return counted


def _earlier(step: Step, source: Source, wish: Wish) -> Iterator[str]:
    """What an earlier step would have taken of the same events stands only since nothing is taken: it counts once."""
    for each in takewhile(lambda one: one is not step, wish.steps):
        if each.days(source):
            yield from each.acts.values()


def _ahead(conn: Conn, step: Step, given: Mapping[str, object]) -> datetime | None:
    """Until when to look next; None: nothing further is old."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(step.ahead.encode(), given).fetchone()


# A batch is small, whatever the tables are: each of its rows is looked up by an index.  Left to itself, the planner
# reads whole tables where many rows are old, and all batches together take a time that grows with the square.
STEP_BY_STEP: Final = """
    SET LOCAL enable_hashjoin = off;
    SET LOCAL enable_mergejoin = off;
    SET LOCAL enable_seqscan = off
"""


def _batch(
    conn: Conn, step: Step, given: Mapping[str, object], counted: Counter[str], earlier: Sequence[str] | None
) -> Sequence[_Row]:
    """`earlier`: acts that are done to the same rows before, and not counted; None: nothing is rolled back."""
    with conn.transaction(force_rollback=earlier is not None), conn.cursor(row_factory=class_row(_Row)) as cursor:
        conn.execute("SET LOCAL intake.purge = 'on'")
        conn.execute(STEP_BY_STEP)
        rows = cursor.execute(step.select.encode(), given).fetchall()
        # Chosen by what stood when that began, and locked by and by; from now on nobody can open one of them again.
        still = set(cursor.execute(step.select.encode(), given)) if rows else set()
        ids = [row.id for row in rows if row in still]
        for act in earlier or () if ids else ():
            conn.execute(act.encode(), {**given, "ids": ids})
        for name, act in step.acts.items() if ids else ():
            count = conn.execute(act.encode(), {**given, "ids": ids}).rowcount
            counted.update({name: count} if not name.startswith("_") else {})
    return rows
