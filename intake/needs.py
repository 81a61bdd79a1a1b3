"""What becomes one opportunity.  Recognising a repeated delivery and merging commercial needs are different rules.

form: one event, one need · quote: the number is the need, any version may open it
WhatsApp: grouped at acceptance, by the talk that a message belongs to (`intake/talks.py`); later messages of a need are
in its text or in notes on it (`intake/carried.py`)
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from psycopg import Cursor
from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.identity import Mode, need_reference

Part = Literal["opener", "version", "follow_up"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where needs are kept: a mode, an identity scope, and the account that new ones are pinned to."""

    mode: Mode
    scope: str
    destination: str


@dataclass(frozen=True, slots=True)
class Grouped:
    """The need of one event, and which part of it the event is."""

    need_id: int
    part: Part


@dataclass(frozen=True, slots=True)
class Asked:
    """A need that the database was asked for; within a pipeline the answers of many come together."""

    cursor: Cursor[Grouped]

    def grouped(self) -> Grouped:
        """Wait for the answer."""
        found = self.cursor.fetchone()
        assert found is not None  # noqa: S101  # every question has one
        return found


# --- one event, one need; one quote number, one need -----------------------------------------------------------------

# A need keeps the account that it was pinned to first, whatever the configuration says later.
OPEN = """
    INSERT INTO needs (mode, scope, key, destination, reference, first_at, last_at)
    VALUES (%(mode)s, %(scope)s, %(key)s, %(destination)s, %(reference)s, %(at)s, %(at)s)
    ON CONFLICT (mode, scope, key) DO UPDATE SET last_at = greatest(needs.last_at, EXCLUDED.last_at)
    RETURNING need_id, %(part)s::text AS part
"""


def of_event(conn: Conn, place: Place, event_id: UUID, at: datetime) -> Asked:
    """A need of its own."""
    return _open(conn, place, key_of_event(event_id), at, "opener")


def of_number(conn: Conn, place: Place, number: str, at: datetime) -> Asked:
    """The need that the sender numbers; whichever version gets there first opens it."""
    return _open(conn, place, key_of_number(number), at, "version")


def key_of_event(event_id: UUID) -> str:
    """By which the need of one event is known."""
    return f"event:{event_id}"


def key_of_number(number: str) -> str:
    """By which a need is known that its sender numbers."""
    return f"number:{number}"


def _open(conn: Conn, place: Place, key: str, at: datetime, part: Part) -> Asked:
    given = {
        "mode": place.mode,
        "scope": place.scope,
        "key": key,
        "destination": place.destination,
        "reference": need_reference(place.mode, place.scope, key),
        "at": at,
        "part": part,
    }
    return Asked(conn.cursor(row_factory=class_row(Grouped)).execute(OPEN, given))


def of_reissue(conn: Conn, place: Place, event_id: UUID, number: str) -> int:
    """The need of an event that a person made of another.  `number`: the sender's own, "" where it has none."""
    return _open(conn, place, f"again:{event_id}:{number}", datetime.now(UTC), "opener").grouped().need_id


# --- a need that a restored database has forgotten ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TalkNeed:
    """A need of a conversation, as far as finding its opportunity in the CRM goes; times are its messages'."""

    conversation: str
    first_at: datetime
    last_at: datetime
    forgetful: bool  # The database is in a later epoch: it may have forgotten what it wrote.
    before_epoch: bool  # Its messages are older than the epoch, so that its opportunity may stand in the CRM.


TALK_OF = """
    SELECT c.name AS conversation, n.first_at, n.last_at, i.epoch > 1 AS forgetful,
           n.first_at < i.epoch_opened_at AS before_epoch
      FROM needs n JOIN conversations c USING (conversation_id), installation i
     WHERE n.need_id = %(need_id)s AND n.key LIKE 'talk:%%'
"""
RENAME = "UPDATE needs SET reference = %(reference)s WHERE need_id = %(need_id)s"


def talk_of(conn: Conn, need_id: int) -> TalkNeed | None:
    """None: the need is not of a conversation, or a person or rule opened it anew, so that nothing was forgotten."""
    with conn.cursor(row_factory=class_row(TalkNeed)) as cursor:
        return cursor.execute(TALK_OF, {"need_id": need_id}).fetchone()


def rename(conn: Conn, need_id: int, reference: str) -> None:
    """The need stands in the CRM under this stem already, made by another of its messages."""
    conn.execute(RENAME, {"need_id": need_id, "reference": reference})


# --- a conversation whose opportunity takes no more -------------------------------------------------------------------

LOCK_NEED = "SELECT FROM needs WHERE need_id = %(need_id)s FOR UPDATE"
LAST_OF_CHAIN = """
    WITH RECURSIVE chain AS (
        SELECT need_id, successor FROM needs WHERE need_id = %(need_id)s
        UNION ALL SELECT n.need_id, n.successor FROM needs n JOIN chain c ON n.need_id = c.successor)
    SELECT need_id FROM chain WHERE successor IS NULL
"""
OPEN_AGAIN = """
    INSERT INTO needs (mode, scope, key, destination, reference, conversation_id, first_at, last_at)
    SELECT n.mode, n.scope, %(key)s, n.destination, %(reference)s, n.conversation_id, e.at, e.at
      FROM needs n, (SELECT coalesce(occurred_at, received_at) AS at FROM events WHERE event_id = %(event_id)s) e
     WHERE n.need_id = %(need_id)s
    RETURNING need_id
"""
SUCCEED = "UPDATE needs SET successor = %(successor)s WHERE need_id = %(need_id)s"
SCOPE_OF = "SELECT mode, scope, destination FROM needs WHERE need_id = %(need_id)s"


def successor(conn: Conn, need_id: int) -> int | None:
    """The need that took this one's conversation over, and the last of those; None: none did."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        last: int | None = cursor.execute(LAST_OF_CHAIN, {"need_id": need_id}).fetchone()
    return None if last == need_id else last


def open_again(conn: Conn, need_id: int, event_id: UUID) -> Grouped:
    """Another need for this event, since the opportunity of its own takes no more: the first such event opens it.

    Two at once queue up at the old need's row.
    """
    conn.execute(LOCK_NEED, {"need_id": need_id})
    taken = successor(conn, need_id)
    if taken is not None:
        return Grouped(taken, "follow_up")
    with conn.cursor(row_factory=class_row(Place)) as cursor:
        place = cursor.execute(SCOPE_OF, {"need_id": need_id}).fetchone()
    if place is None:
        raise LookupError(f"need {need_id}")
    key = f"again:{event_id}:"
    reference = need_reference(place.mode, place.scope, key)
    with conn.cursor(row_factory=scalar_row) as cursor:
        given = {"key": key, "reference": reference, "event_id": event_id, "need_id": need_id}
        opened: int | None = cursor.execute(OPEN_AGAIN, given).fetchone()
    assert opened is not None  # noqa: S101  # RETURNING returns a row
    conn.execute(SUCCEED, {"need_id": need_id, "successor": opened})
    return Grouped(opened, "opener")


NEED_OF = "SELECT need_id FROM deliveries WHERE event_id = %(event_id)s AND generation = %(generation)s"


def of_delivery(conn: Conn, event_id: UUID, generation: int) -> int:
    """The need that a delivery is a part of.  Raises LookupError."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        found: int | None = cursor.execute(NEED_OF, {"event_id": event_id, "generation": generation}).fetchone()
    if found is None:
        raise LookupError(f"delivery {event_id}")
    return found
