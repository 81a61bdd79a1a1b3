"""Deliveries that were kept outside the tables, as bytes to be sealed: refused ones, and those in the spool.

They are read and accepted as the door would have done when they came.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import psycopg
import structlog

from intake import events
from intake.config import Settings, Source
from intake.db import Conn
from intake.identity import IdentityKey, Mode
from intake.reading import Arrival, Post, Reader, not_storable
from intake.received import Acceptance, Received

log = structlog.get_logger()

MODES: Mapping[object, Mode] = {"live": "live", "test": "test"}


@dataclass(frozen=True, slots=True)
class Kept:
    """One delivery.  `at`: when it came.  `promised`: the event ids that its sender was told.

    `destination`: the account that it was accepted for, None: it was not accepted.
    """

    receipt_id: UUID
    at: datetime
    post: Post
    promised: tuple[UUID, ...] = ()
    destination: str | None = None


class Broken(ValueError):
    """These bytes are no kept delivery."""


def pack(kept: Kept) -> bytes:
    """One line of JSON, and the body below it."""
    post = kept.post
    head = {
        "receipt_id": str(kept.receipt_id),
        "at": kept.at.isoformat(),
        "source": post.source,
        "mode": post.mode,
        "content_type": post.content_type,
        "headers": dict(post.headers),
        "url": post.url,
        "promised": [str(each) for each in kept.promised],
        "destination": kept.destination,
    }
    return json.dumps(head).encode() + b"\n" + post.body


def unpack(packed: bytes) -> Kept:
    """Raises Broken."""
    line, _, body = packed.partition(b"\n")
    try:
        head = json.loads(line)
        headers = {str(name): str(value) for name, value in head["headers"].items()}
        post = Post(head["source"], MODES[head["mode"]], head["content_type"], headers, body, head["url"])
        at, pinned = datetime.fromisoformat(head["at"]), head.get("destination")
        promised = tuple(UUID(each) for each in head["promised"])
        return Kept(UUID(head["receipt_id"]), at, post, promised, str(pinned) if pinned else None)
    except (ValueError, TypeError, LookupError, AttributeError):
        raise Broken("no kept delivery") from None


def read(settings: Settings, source: Source, kept: Kept) -> Received:
    """What today's reader finds in it, for the account that it was accepted for, if that is still configured."""
    reader = Reader(settings, source, kept.at)
    received = reader.received(kept.post, reader.read(kept.post), Arrival(kept.receipt_id, kept.at))
    pinned = kept.destination
    return replace(received, destination=pinned) if pinned and pinned in settings.destinations else received


def accept(conn: Conn, key: IdentityKey, received: Received) -> Acceptance:
    """Accept it within the caller's transaction; what the database cannot store is quarantined.

    Raises psycopg.OperationalError.
    """
    try:
        return events.accept(conn, key, received)
    except (psycopg.DataError, psycopg.IntegrityError) as odd:
        log.error("reading not storable", source=received.source.name, error=type(odd).__name__)  # noqa: TRY400  # it quotes values
        return events.accept(conn, key, not_storable(received))
