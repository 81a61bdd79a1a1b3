"""Which event is it: the sender's id where there is one, else an id made of the answers within a sliding window."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import scalar_row

from intake.db import Conn
from intake.identity import IdentityKey, canonical, event_id
from intake.received import Received, scope_of
from intake.sources.base import Incoming

# A longer id is stored as its digest: identities stand in an index.
MOST_ID_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Identified:
    """An incoming event with its identity; `seen` True: a window says that it was here just now."""

    event_id: UUID
    request_id: str
    minted: bool
    fingerprint: bytes = field(repr=False)
    incoming: Incoming
    seen: bool = False


@dataclass(frozen=True, slots=True)
class _Nameless:
    """An event whose sender gives no id, with the id that is ours if it is new."""

    incoming: Incoming
    request_id: str


def identify(conn: Conn, key: IdentityKey, received: Received, now: datetime) -> list[Identified]:
    """Give each incoming event its identity; where the sender gave none, it is made of the answers."""
    named = [(incoming, _request_id(received, incoming)) for incoming in received.reading.events]
    nameless = [incoming for incoming, request_id in named if request_id is None]
    _lock_windows(conn, key, received, nameless)
    minted = _minted_ids(received, nameless)
    return [
        _minted(conn, key, received, _Nameless(incoming, minted[canonical(incoming.content)]), now)
        if request_id is None
        else _named(key, received, incoming, request_id)
        for incoming, request_id in named
    ]


def _request_id(received: Received, incoming: Incoming) -> str | None:
    """A missing id is never a shared key: without one, the answers themselves are."""
    match received.source.named_by:
        case "id":
            return incoming.request_id
        case "body":
            return None
        case _ if len(received.reading.events) > 1:
            # It names the delivery, and would make one event of all that are in it.
            return incoming.request_id
        case _:
            return received.dedupe_value


def _named(key: IdentityKey, received: Received, incoming: Incoming, request_id: str) -> Identified:
    request_id = _plain(request_id)
    identity = event_id(received.mode, scope_of(received.source), request_id, incoming.version)
    return Identified(
        identity, request_id, minted=False, fingerprint=key.fingerprint(incoming.content), incoming=incoming
    )


def named(key: IdentityKey, received: Received, incoming: Incoming) -> Identified | None:
    """Its identity, if the sender gave one; None: it is made of the answers within a window."""
    request_id = _request_id(received, incoming)
    return None if request_id is None else _named(key, received, incoming, request_id)


def named_id(received: Received, request_id: str) -> UUID:
    """The id of the event of this source that its sender names so, and does not number by versions."""
    return event_id(received.mode, scope_of(received.source), _plain(request_id), None)


def _plain(request_id: str) -> str:
    clean = request_id.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return clean if len(clean) <= MOST_ID_CHARACTERS else "sha256:" + hashlib.sha256(clean.encode()).hexdigest()


def _minted_ids(received: Received, nameless: Iterable[Incoming]) -> dict[str, str]:
    """Ours, for a receipt's events without one, by their content: the same each time that the receipt is read.

    Two bytes of a digest are too few to tell the content; where two events share them, their order tells them apart.
    """
    ids: dict[str, str] = {}
    sharing: Counter[str] = Counter()
    for content in dict.fromkeys(canonical(incoming.content) for incoming in nameless):
        digits = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:4]
        place = f"-{sharing[digits]}" if sharing[digits] else ""
        ids[content] = f"h-{received.receipt_id.hex}-{digits}{place}"
        sharing[digits] += 1
    return ids


def foretold(received: Received) -> list[tuple[UUID, Incoming]]:
    """The ids that the events have or will get, without asking the database.

    An id of ours may turn out to be another's, when the same answers came just before.
    """
    scope = scope_of(received.source)
    named = [(incoming, _request_id(received, incoming)) for incoming in received.reading.events]
    minted = _minted_ids(received, (incoming for incoming, request_id in named if request_id is None))
    found = []
    for incoming, request_id in named:
        if request_id is None:
            own = minted[canonical(incoming.content)]
            found.append((event_id(received.mode, scope, own, None), incoming))
        else:
            found.append((event_id(received.mode, scope, _plain(request_id), incoming.version), incoming))
    return found


# Two of the same answers at once queue up, so that the second sees the first.  Sorted, so that two bodies with the same
# events in another order queue up too, instead of deadlocking.
LOCK_WINDOWS = """
    SELECT pg_advisory_xact_lock(hashtextextended('window ' || encode(content, 'hex'), 0))
      FROM (SELECT DISTINCT content FROM unnest(%(contents)s::bytea[]) AS content ORDER BY content) AS sorted
"""


def _lock_windows(conn: Conn, key: IdentityKey, received: Received, nameless: Iterable[Incoming]) -> None:
    contents = [_content(key, received, incoming) for incoming in nameless]
    if contents:
        conn.execute(LOCK_WINDOWS, {"contents": contents})


def _content(key: IdentityKey, received: Received, incoming: Incoming) -> bytes:
    return key.mac("answers", received.mode, scope_of(received.source), canonical(incoming.content))


# The window slides: it counts from the last time that the same answers came.  It has two sides, because what was kept
# elsewhere in the meantime may be accepted after what came later.
SLIDE_WINDOW = """
    UPDATE identity_windows SET last_seen_at = greatest(last_seen_at, %(now)s)
     WHERE mode = %(mode)s AND scope = %(scope)s AND content = %(content)s
       AND last_seen_at > %(now)s - %(window)s AND last_seen_at < %(now)s + %(window)s
    RETURNING event_id
"""
OPEN_WINDOW = """
    INSERT INTO identity_windows (mode, scope, content, event_id, last_seen_at)
    VALUES (%(mode)s, %(scope)s, %(content)s, %(event_id)s, %(now)s)
    ON CONFLICT (mode, scope, content)
    DO UPDATE SET event_id = EXCLUDED.event_id, last_seen_at = EXCLUDED.last_seen_at
     WHERE identity_windows.last_seen_at <= EXCLUDED.last_seen_at
"""


# The window knows the last time alone: of answers that were kept elsewhere until later ones had come, the events know.
EARLIER = """
    SELECT event_id FROM events
     WHERE mode = %(mode)s AND scope = %(scope)s AND minted AND fingerprint = %(fingerprint)s
       AND received_at > %(now)s - %(window)s AND received_at < %(now)s + %(window)s
     ORDER BY received_at, event_id LIMIT 1
"""


def _minted(conn: Conn, key: IdentityKey, received: Received, nameless: _Nameless, now: datetime) -> Identified:
    """Call `_lock_windows` before."""
    scope, incoming, request_id = scope_of(received.source), nameless.incoming, nameless.request_id
    content = _content(key, received, incoming)
    window = timedelta(minutes=received.source.dedupe_window_minutes)
    given = {"mode": received.mode, "scope": scope, "content": content, "now": now, "window": window}
    fingerprint = key.fingerprint(incoming.content)
    with conn.cursor(row_factory=scalar_row) as cursor:
        known: UUID | None = cursor.execute(SLIDE_WINDOW, given).fetchone()
        if known is None and received.received_at is not None:
            known = cursor.execute(EARLIER, given | {"fingerprint": fingerprint}).fetchone()
        if known is not None:
            return Identified(known, request_id, True, fingerprint, incoming, seen=True)
        identity = event_id(received.mode, scope, request_id, None)
        cursor.execute(OPEN_WINDOW, given | {"event_id": identity})
    return Identified(identity, request_id, True, fingerprint, incoming)
