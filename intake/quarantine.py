"""What was authentic and could not be read: read again with today's reader, or as a person corrected it.

open item ─ reads as a whole ─> accepted, closed      one item stands for all receipts with the same bytes, each of
          └ still does not ──> what reads is accepted, the item says what is left          them with its own ids
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID, uuid5

import structlog
from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from intake import installation, kept
from intake.config import Settings, Source
from intake.db import Conn
from intake.identity import IdentityKey, Mode
from intake.reading import Arrival, Post, Reader, source_of
from intake.received import Acceptance, Received
from intake.replays import REPLAY
from intake.sources.base import Quarantined

log = structlog.get_logger()


class NotReleased(Exception):
    """Nothing was closed.  `why` is a word (gone, closed, no_quarantine, no_source, purged) or the reader's reason."""

    def __init__(self, why: str, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.fields = dict(fields or {})


@dataclass(frozen=True, slots=True)
class Corrected:
    """A body as a person corrected it.  `content_type` None: that of the original."""

    body: bytes = field(repr=False)
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """What became of one item.  `left` None: all of it reads, and it is closed."""

    event_ids: tuple[UUID, ...] = ()
    events: int = 0
    duplicates: int = 0
    left: Quarantined | None = None


# --- one item -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Item:
    item_id: int
    kind: str
    source: str | None
    receipt_id: UUID | None
    closed_at: datetime | None


LOCK = """
    SELECT item_id, kind, source, receipt_id, closed_at FROM items WHERE item_id = %(item_id)s FOR UPDATE
"""
CLOSE = "UPDATE items SET closed_at = clock_timestamp(), resolution = %(resolution)s WHERE item_id = %(item_id)s"
LEFT = "UPDATE items SET reason = %(reason)s, fields = %(fields)s WHERE item_id = %(item_id)s"


def again(
    conn: Conn, settings: Settings, item_id: int, *, resolution: str, corrected: Corrected | None = None
) -> Again:
    """Read an item's bytes again, in one transaction, and close it if all of it reads.  Raises NotReleased.

    A correction counts only if all of it reads; the original is kept.
    """
    with conn.transaction():
        item = _open_item(conn, item_id)
        source = source_of(settings, item.source or "")
        if source is None:
            raise NotReleased("no_source")
        done = _read_all(conn, settings, source, item, _Wanted(corrected, released=resolution == "release"))
        if done.left is None:
            conn.execute(CLOSE, {"item_id": item_id, "resolution": resolution})
        else:
            left = {"reason": done.left.reason, "fields": Jsonb(dict(done.left.fields))}
            conn.execute(LEFT, left | {"item_id": item_id})
        return done


def _open_item(conn: Conn, item_id: int) -> _Item:
    with conn.cursor(row_factory=class_row(_Item)) as cursor:
        item = cursor.execute(LOCK, {"item_id": item_id}).fetchone()
    if item is None:
        raise NotReleased("gone")
    if item.kind != "quarantine":
        raise NotReleased("no_quarantine")
    if item.closed_at is not None:
        raise NotReleased("closed")
    return item


@dataclass(frozen=True, slots=True)
class _Receipt:
    receipt_id: UUID
    received_at: datetime
    mode: Mode
    content_type: str
    headers: dict[str, str]
    content: bytes


# The same bytes make one item, and may be several deliveries: their ids may stand in their headers.
ALIKE = """
    SELECT r.receipt_id, r.received_at, r.mode, r.content_type, r.headers, b.content
      FROM receipts first
      JOIN bodies of_first ON of_first.receipt_id = first.receipt_id
      JOIN receipts r ON r.source = first.source AND r.mode = first.mode AND (r.counts ->> 'quarantined') <> '0'
      JOIN bodies b ON b.receipt_id = r.receipt_id AND b.what = 'raw' AND b.content = of_first.content
     WHERE first.receipt_id = %(receipt_id)s
     ORDER BY r.received_at, r.receipt_id
       FOR UPDATE OF r
"""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """How to read it.  `released`: a person says that it counts, also where it is a replay."""

    corrected: Corrected | None
    released: bool


def _read_all(conn: Conn, settings: Settings, source: Source, item: _Item, wanted: _Wanted) -> Again:
    with conn.cursor(row_factory=class_row(_Receipt)) as cursor:
        receipts = cursor.execute(ALIKE, {"receipt_id": item.receipt_id}).fetchall()
    if not receipts:
        raise NotReleased("purged")
    key, done = installation.read(conn).key, Again()
    for receipt in receipts:
        received = replace(_received(settings, source, receipt, wanted.corrected), released=wanted.released)
        if wanted.corrected is not None and received.reading.quarantined:
            broken = received.reading.quarantined[0]
            raise NotReleased(broken.reason, broken.fields)
        done = _accept(conn, key, receipt, received, done)
    return done


def _received(settings: Settings, source: Source, receipt: _Receipt, corrected: Corrected | None) -> Received:
    post = Post(source.name, receipt.mode, receipt.content_type, receipt.headers, receipt.content, url="")
    receipt_id = receipt.receipt_id
    if corrected is not None:
        post = replace(post, body=corrected.body, content_type=corrected.content_type or post.content_type)
        # A receipt of its own, the same if the same correction comes again.
        receipt_id = uuid5(receipt_id, hashlib.sha256(corrected.body).hexdigest())
    reader = Reader(settings, source, receipt.received_at)
    return reader.received(post, reader.read(post), Arrival(receipt_id, receipt.received_at))


MARK = """
    UPDATE receipts SET verdict = %(verdict)s, counts = counts || %(counts)s WHERE receipt_id = %(receipt_id)s
"""


def _accept(conn: Conn, key: IdentityKey, receipt: _Receipt, received: Received, done: Again) -> Again:
    acceptance = kept.accept(conn, key, received)
    left = _left(received, acceptance)
    counts = {
        "events": len(received.reading.events),
        "updates": acceptance.updates,
        "quarantined": acceptance.quarantined,
        "ignored": acceptance.ignored,
    }
    verdict = "quarantined" if left else "accepted" if acceptance.events or acceptance.updates else "ignored"
    conn.execute(MARK, {"receipt_id": receipt.receipt_id, "verdict": verdict, "counts": Jsonb(counts)})
    known = sum(each.duplicate for each in acceptance.events)
    return Again(
        event_ids=(*done.event_ids, *(each.event_id for each in acceptance.events)),
        events=done.events + len(acceptance.events) - known,
        duplicates=done.duplicates + known,
        left=left or done.left,
    )


def _left(received: Received, acceptance: Acceptance) -> Quarantined | None:
    if received.reading.quarantined:
        return received.reading.quarantined[0]
    if acceptance.replays:
        return REPLAY
    return Quarantined("not_storable") if acceptance.quarantined else None


# --- as a person decides --------------------------------------------------------------------------------------------

DECIDE = """
    INSERT INTO decisions (author, reason, action, item_id, detail)
    VALUES (%(by)s, %(reason)s, 'resolve release', %(item_id)s, %(detail)s)
"""


@dataclass(frozen=True, slots=True)
class Releaser:
    """Who releases it, and why."""

    by: str
    reason: str


def release(
    conn: Conn, settings: Settings, item_id: int, author: Releaser, *, corrected: Corrected | None = None
) -> Again:
    """Read it again because a person says so; who and why is kept.  Raises NotReleased."""
    with conn.transaction():
        done = again(conn, settings, item_id, resolution="release", corrected=corrected)
        detail = Jsonb({"corrected": corrected is not None, "events": [str(each) for each in done.event_ids]})
        conn.execute(DECIDE, {"by": author.by, "reason": author.reason, "item_id": item_id, "detail": detail})
        return done


RAW = "SELECT content FROM bodies WHERE receipt_id = %(receipt_id)s AND what = 'raw'"


def raw(conn: Conn, receipt_id: UUID) -> bytes | None:
    """The bytes that came; None: purged."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        content: bytes | None = cursor.execute(RAW, {"receipt_id": receipt_id}).fetchone()
    return content


# --- many -----------------------------------------------------------------------------------------------------------

OPEN = """
    SELECT item_id FROM items
     WHERE kind = 'quarantine' AND closed_at IS NULL AND (%(source)s::text IS NULL OR source = %(source)s)
       AND (%(since)s::timestamptz IS NULL OR opened_at >= %(since)s)
     ORDER BY opened_at, item_id
"""


@dataclass(frozen=True, slots=True)
class Reread:
    """Numbers of items, of which `released` are closed; `events` and `duplicates` of events in them.

    `unreadable` are left as they were, or in part; `failed` met a fault, or have no source any more.
    """

    items: int = 0
    released: int = 0
    unreadable: int = 0
    failed: int = 0
    events: int = 0
    duplicates: int = 0


def reread(
    conn: Conn,
    settings: Settings,
    *,
    source: str | None = None,
    since: datetime | None = None,
    progress: Callable[[int, int], object] = lambda _done, _of: None,
) -> Reread:
    """All open items, each in a transaction of its own: one that fails stops no other.  None: of every source, ever.

    `progress` is told how many of how many are done.
    """
    with conn.cursor(row_factory=scalar_row) as cursor:
        found = cursor.execute(OPEN, {"source": source, "since": since}).fetchall()
    done = Reread()
    for number, item_id in enumerate(found, 1):
        done = _counted(done, _again(conn, settings, item_id))
        progress(number, len(found))
    return done


def _again(conn: Conn, settings: Settings, item_id: int) -> Again | NotReleased:
    try:
        return again(conn, settings, item_id, resolution="reread")
    except NotReleased as why:
        return why
    except Exception as fault:  # One that fails in whatever way stops no other.
        if conn.closed:
            raise
        log.error("item not read again", item_id=item_id, error=type(fault).__name__)  # noqa: TRY400  # it quotes values
        return NotReleased("failed")


def _counted(done: Reread, one: Again | NotReleased) -> Reread:
    match one:
        case NotReleased(why="closed" | "gone"):
            return done  # Another was quicker.
        case NotReleased():
            return replace(done, items=done.items + 1, failed=done.failed + 1)
        case Again(left=left):
            return replace(
                done,
                items=done.items + 1,
                released=done.released + (left is None),
                unreadable=done.unreadable + (left is not None),
                events=done.events + one.events,
                duplicates=done.duplicates + one.duplicates,
            )
