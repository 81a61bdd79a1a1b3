"""One decision about many events, as the console and the API make it: counted first, and begun only for that number.

What is not decided at once goes on with any worker; the commands of `intake bulk` see the same runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from psycopg.rows import class_row

from intake import bulk, decided
from intake.bulk import BULK_ACTIONS, BulkAction, Counted, Filter, Seen
from intake.bulk_texts import does
from intake.config import Settings
from intake.db import Conn
from intake.decided import Author
from intake.explain import refusal_text
from intake.permitted import View, refusal
from intake.reason_texts import Language

# What a person mostly wants with events that share a cause.
FIRST: Final[dict[str, BulkAction]] = {"review": "revive", "uncertain": "look", "awaiting_approval": "approve"}


@dataclass(frozen=True, slots=True)
class Cause:
    """What several open events share.  `oldest`: when the first of them came."""

    state: str
    reason: str
    events: int
    oldest: datetime

    @property
    def action(self) -> BulkAction:
        """What is mostly done about it."""
        return FIRST[self.state]


CAUSES: Final = """
    SELECT state, reason, count(*) AS events, min(received_at) AS oldest FROM deliveries
     WHERE state NOT IN ('confirmed', 'cancelled', 'superseded')
       AND state IN ('awaiting_approval', 'uncertain', 'review')
     GROUP BY state, reason HAVING count(*) > 1 ORDER BY count(*) DESC, state, reason LIMIT 8
"""


def causes(conn: Conn) -> list[Cause]:
    """Those that more than one event waits for a person with, the most frequent first."""
    with conn.cursor(row_factory=class_row(Cause)) as cursor:
        return cursor.execute(CAUSES).fetchall()


@dataclass(frozen=True, slots=True)
class Held:
    """An account that nothing is delivered to, and how many events wait for it."""

    destination: str
    paused_at: datetime
    paused_reason: str
    events: int


HELD: Final = """
    SELECT a.destination, a.paused_at, coalesce(a.paused_reason, '') AS paused_reason, count(d.event_id) AS events
      FROM accounts a
      LEFT JOIN deliveries d ON d.destination = a.destination AND d.state IN ('received', 'waiting')
                            AND d.state NOT IN ('confirmed', 'cancelled', 'superseded')
     WHERE a.paused_at IS NOT NULL GROUP BY a.destination, a.paused_at, a.paused_reason ORDER BY a.destination
"""


def held(conn: Conn) -> list[Held]:
    """The accounts that are paused."""
    with conn.cursor(row_factory=class_row(Held)) as cursor:
        return cursor.execute(HELD).fetchall()


# --- what it would mean -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fit:
    """An action, and how many of the events allow it now.  `why`: what it does, or why none allows it."""

    action: BulkAction
    events: int
    why: str

    @property
    def allowed(self) -> bool:
        """At least one does."""
        return self.events > 0


@dataclass(frozen=True, slots=True)
class Meant:
    """What matches, by state and reason, and what may be done with it; `fingerprint` of what they say."""

    groups: Sequence[Counted]
    fits: Sequence[Fit]
    fingerprint: str

    @property
    def events(self) -> int:
        """How many match."""
        return sum(each.events for each in self.groups)

    def fit(self, action: BulkAction) -> Fit:
        """Of one action."""
        return next(each for each in self.fits if each.action == action)


# Of so many groups an event is judged, for all of its group; those after them are rare.
JUDGED: Final = 30


def meant(conn: Conn, wanted: Filter, language: Language) -> Meant:
    """Count, and judge one event of each group for the others: they share state and reason."""
    groups = bulk.count(conn, wanted)
    judged = [(each.events, decided.view(conn, each.example)) for each in groups[:JUDGED]]
    fits = [_fit(action, judged, language) for action in BULK_ACTIONS]
    return Meant(groups, fits, bulk.fingerprint(conn, wanted))


def _fit(action: BulkAction, judged: Sequence[tuple[int, View]], language: Language) -> Fit:
    refused = [(_refusal(action, view), events, view.event.state) for events, view in judged]
    allowed = sum(events for why, events, _ in refused if why is None)
    if allowed or not refused:
        return Fit(action, allowed, does(action, language))
    why, _, state = refused[0]
    return Fit(action, 0, refusal_text(why or "", state, language))


def _refusal(action: BulkAction, view: View) -> str | None:
    if action == "replay":
        return None if view.in_doubt else refusal("revive", view)
    return refusal(action, view)


# --- doing it ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be done with which events, and what those were when somebody looked."""

    action: BulkAction
    wanted: Filter
    seen: Seen


@dataclass(frozen=True, slots=True)
class Desk:
    """`hint` wakes a worker; `patience`: how many seconds of a request go into the first decisions."""

    conn: Conn
    settings: Settings
    hint: Callable[[], object]
    patience: float = 1.0

    def begin(self, author: Author, wish: Wish) -> int:
        """Fix the events, and decide about the first; returns the run's bulk_id.  Raises OtherNumber, OtherContent."""
        bulk_id = bulk.begin(self.conn, author, wish.action, wish.wanted, seen=wish.seen)
        self._work(bulk_id)
        return bulk_id

    def go_on(self, bulk_id: int) -> None:
        """Let one that was stopped go on.  Raises LookupError."""
        if not bulk.go_on(self.conn, bulk_id):
            raise LookupError(f"run {bulk_id}")
        self._work(bulk_id)

    def _work(self, bulk_id: int) -> None:
        until = time.monotonic() + self.patience
        while time.monotonic() < until and bulk.step(self.conn, self.settings, bulk_id=bulk_id):
            pass
        self.hint()


def found(conn: Conn, bulk_id: int) -> bulk.Run:
    """Raises LookupError."""
    run = bulk.run(conn, bulk_id)
    if run is None:
        raise LookupError(f"run {bulk_id}")
    return run


@dataclass(frozen=True, slots=True)
class Results:
    """One page of what became of each; `next` None: these are the last."""

    results: dict[UUID, str | None]
    next: UUID | None


def results(conn: Conn, bulk_id: int, after: UUID | None, limit: int) -> Results:
    """By the events' ids."""
    rows = bulk.results_after(conn, bulk_id, after, limit + 1)
    page = dict(list(rows.items())[:limit])
    return Results(page, list(page)[-1] if len(rows) > limit else None)
