"""What every decision has: an author and a reason, an event as it stands, and a row that says who and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from intake import ops, trail
from intake.db import Conn
from intake.explain_texts import Action
from intake.ops import EventRow
from intake.permitted import View, refusal


@dataclass(frozen=True, slots=True)
class Author:
    """Who decides, and why."""

    by: str
    reason: str


class Refused(Exception):
    """Nothing was changed.  `why` is a key of REFUSALS, `state` where the delivery stands."""

    def __init__(self, why: str, state: str = "") -> None:
        super().__init__(f"{why} {state}".strip())
        self.why = why
        self.state = state


# --- what a decision is about ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Circumstances:
    part: Literal["opener", "version", "follow_up"]
    destination: str
    source_paused: bool
    account_paused: bool
    fields: Mapping[str, str]


# Of the newest delivery of an event.
CIRCUMSTANCES = """
    SELECT d.part, d.destination, EXISTS (SELECT FROM paused_sources p WHERE p.source = d.source) AS source_paused,
           EXISTS (SELECT FROM accounts a
                    WHERE a.destination = d.destination AND a.paused_at IS NOT NULL) AS account_paused, d.fields
      FROM deliveries d WHERE d.event_id = %(event_id)s ORDER BY d.generation DESC LIMIT 1
"""


def view(conn: Conn, event_id: UUID) -> View:
    """The event and its records as they stand.  Raises LookupError."""
    event = ops.event(conn, event_id)
    if event is None:
        raise LookupError(f"event {event_id}")
    return view_of(conn, event)


def view_of(conn: Conn, event: EventRow) -> View:
    """The same, of an event that was read already."""
    with conn.cursor(row_factory=class_row(_Circumstances)) as cursor:
        around = cursor.execute(CIRCUMSTANCES, {"event_id": event.event_id}).fetchone()
    listed = trail.records(conn, event.event_id)
    if around is None:
        return View(event, listed)
    held = (around.source_paused, around.account_paused)
    return View(event, listed, around.part, around.destination, *held, around.fields)


LOCK = """
    SELECT generation FROM deliveries WHERE event_id = %(event_id)s ORDER BY generation DESC LIMIT 1 FOR UPDATE
"""


def allowed(conn: Conn, event_id: UUID, action: Action, *, lock: bool = False) -> View:
    """The event, if this may be done with it now.  `lock`: nobody moves its delivery before the transaction ends.

    Raises Refused, LookupError.
    """
    if lock:
        conn.execute(LOCK, {"event_id": event_id})
    seen = view(conn, event_id)
    refused = refusal(action, seen)
    if refused is not None:
        raise Refused(refused, seen.event.state)
    return seen


NEWEST = "SELECT max(generation) FROM deliveries WHERE event_id = %(event_id)s"


def newest_generation(conn: Conn, event_id: UUID) -> int:
    """Which delivery of an event counts."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        newest: int | None = cursor.execute(NEWEST, {"event_id": event_id}).fetchone()
    return newest or 1


# --- the row --------------------------------------------------------------------------------------------------------

DECIDE = """
    INSERT INTO decisions (author, reason, action, event_id, generation, item_id, detail)
    VALUES (%(author)s, %(reason)s, %(action)s, %(event_id)s, %(generation)s, %(item_id)s, %(detail)s)
"""


@dataclass(frozen=True, slots=True)
class About:
    """What a decision is about."""

    event_id: UUID | None = None
    generation: int = 1
    item_id: int | None = None


def about(conn: Conn, seen: View) -> About:
    """The newest delivery of an event, and its open item."""
    return About(seen.event.event_id, newest_generation(conn, seen.event.event_id), seen.event.open_item)


def note(conn: Conn, author: Author, action: str, subject: About, **detail: object) -> None:
    """`detail`: ids and names of fields, no content."""
    given = {"author": author.by, "reason": author.reason, "action": action, "detail": Jsonb(detail)}
    generation = subject.generation if subject.event_id else None
    key = {"event_id": subject.event_id, "generation": generation, "item_id": subject.item_id}
    conn.execute(DECIDE, given | key)
