"""What becomes one opportunity.  Recognising a repeated delivery and merging commercial needs are different rules.

form: one event, one need · quote: the number is the need, any version may open it
WhatsApp: grouped at acceptance; the first message opens a need, later ones within the window belong to it: they are in
its text or in notes on it (see `intake/carried.py`)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

from psycopg import Cursor
from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.identity import IdentityKey, Mode, need_reference, short, talk_reference
from intake.sources.base import Conversation

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


# --- conversations --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as it is stored; `name` begins the references of its needs."""

    conversation_id: int
    name: str


# Sorted advisory locks: two batches with the same people in another order queue up instead of deadlocking.
LOCK = """
    SELECT pg_advisory_xact_lock(hashtextextended('talk ' || encode(key, 'hex'), 0))
      FROM (SELECT DISTINCT key FROM unnest(%(keys)s::bytea[]) AS key ORDER BY key) AS sorted
"""


def lock_talks(conn: Conn, place: Place, key: IdentityKey, conversations: Iterable[Conversation]) -> None:
    """Take the locks of all conversations of a batch at once; held until the transaction ends."""
    keys = [each for conversation in conversations for each in _keys(place, key, conversation)]
    conn.execute(LOCK, {"keys": keys})


def _keys(place: Place, key: IdentityKey, conversation: Conversation) -> list[bytes]:
    people = (conversation.person, *conversation.aliases)
    # The id of a number names the talk; the number itself leads to it, where another provider serves the same one.
    channels = dict.fromkeys((conversation.channel, conversation.number or conversation.channel))
    return [key.mac("talk", place.mode, place.scope, channel, person) for channel in channels for person in people]


# OFFSET 0 has each key looked up: a plan that was made while the table was small, and is kept with its connection,
# would read every key of the scope, joined as rows always, and as an array before PostgreSQL 17.
FIND_TALK = """
    SELECT talk.conversation_id, talk.name
      FROM unnest(%(keys)s::bytea[]) WITH ORDINALITY AS wanted (key, place)
           CROSS JOIN LATERAL (
           SELECT conversation_id, name FROM conversation_keys k JOIN conversations USING (conversation_id)
            WHERE k.mode = %(mode)s AND k.scope = %(scope)s AND k.key = wanted.key OFFSET 0) AS talk
     ORDER BY wanted.place LIMIT 1
"""
NAME_TALK = """
    INSERT INTO conversation_keys (mode, scope, key, conversation_id)
    SELECT %(mode)s, %(scope)s, key, %(conversation_id)s FROM unnest(%(keys)s::bytea[]) AS key
    ON CONFLICT DO NOTHING
"""


def follow(conn: Conn, place: Place, key: IdentityKey, conversation: Conversation) -> int | None:
    """All ids of this person lead to the talk that one of them has, if any.  Call `lock_talks` before.

    Returns the talk's conversation_id, None: nobody of this talk was ever heard.
    """
    keys = _keys(place, key, conversation)
    given = {"mode": place.mode, "scope": place.scope, "keys": keys}
    with conn.cursor(row_factory=class_row(Talk)) as cursor:
        talk = cursor.execute(FIND_TALK, given).fetchone()
    if talk is None:
        return None
    conn.execute(NAME_TALK, given | {"conversation_id": talk.conversation_id})
    return talk.conversation_id


# All in one: the talk that one of the keys leads to, or a new one; all keys lead to it from now on; then the need.
# The window touches a message on either side; of two needs the nearer one takes it.
PLACE_MESSAGE = f"""
    WITH found AS MATERIALIZED ({FIND_TALK}),
    opened AS (
        INSERT INTO conversations (mode, scope, name)
        SELECT %(mode)s, %(scope)s, %(name)s WHERE NOT EXISTS (SELECT FROM found)
        RETURNING conversation_id, name),
    talk AS (SELECT * FROM found UNION ALL SELECT * FROM opened),
    named AS (
        INSERT INTO conversation_keys (mode, scope, key, conversation_id)
        SELECT %(mode)s, %(scope)s, key, conversation_id FROM talk, unnest(%(keys)s::bytea[]) AS key
        ON CONFLICT DO NOTHING),
    joined AS (
        UPDATE needs SET first_at = least(first_at, %(at)s), last_at = greatest(last_at, %(at)s)
         WHERE need_id = (
               SELECT need_id FROM needs
                WHERE conversation_id = (SELECT conversation_id FROM found) AND NOT %(opens_need)s
                  AND %(at)s BETWEEN first_at - %(window)s AND last_at + %(window)s
                ORDER BY greatest(first_at - %(at)s, %(at)s - last_at), need_id DESC LIMIT 1)
        RETURNING need_id),
    fresh AS (
        INSERT INTO needs (mode, scope, key, destination, reference, conversation_id, first_at, last_at)
        SELECT %(mode)s, %(scope)s, %(key)s, %(destination)s, replace(%(reference)s, '*', name), conversation_id,
               %(at)s, %(at)s
          FROM talk WHERE NOT EXISTS (SELECT FROM joined)
        RETURNING need_id)
    SELECT need_id, 'follow_up' AS part FROM joined UNION ALL SELECT need_id, 'opener' FROM fresh
"""  # noqa: S608  # our own words


@dataclass(frozen=True, slots=True)
class Message:
    """A message that looks for its need; `at` by the message's own time."""

    event_id: UUID
    at: datetime
    conversation: Conversation


def of_message(conn: Conn, place: Place, key: IdentityKey, message: Message, window: timedelta) -> Asked:
    """The need of a message: the one whose window it touches, else a new one.  Call `lock_talks` before."""
    keys = _keys(place, key, message.conversation)
    given = {
        "mode": place.mode,
        "scope": place.scope,
        "keys": keys,
        "name": short(keys[0])[:16],
        "at": message.at,
        "window": window,
        "opens_need": message.conversation.opens_need,
        "key": f"talk:{message.event_id}",
        "destination": place.destination,
        # The asterisk is for the name of the talk, which the database may know better.
        "reference": talk_reference(place.mode, "*", message.event_id, message.at),
    }
    return Asked(conn.cursor(row_factory=class_row(Grouped)).execute(PLACE_MESSAGE, given))


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
