"""A talk: who writes to whom, by whatever id or number, and the needs that its messages open.

Grouped at acceptance, under a lock of the talk: the first message opens a need, later ones within the window belong to
it.  What becomes of the others is a rule of needs (`intake/needs.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import class_row

from intake.db import Conn
from intake.identity import IdentityKey, short, talk_reference
from intake.needs import Asked, Grouped, Place
from intake.sources.base import Conversation


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


def lock(conn: Conn, place: Place, key: IdentityKey, conversations: Iterable[Conversation]) -> None:
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
    """All ids of this person lead to the talk that one of them has, if any.  Call `lock` before.

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
    """The need of a message: the one whose window it touches, else a new one.  Call `lock` before."""
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
