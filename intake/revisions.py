"""The contents of an event: what came is revision 1, what a person made of it the later ones; the newest counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row

from intake import at_rest, installation, lead_schema
from intake.at_rest import Payload
from intake.db import Conn
from intake.lead import Lead

NEWEST = """
    SELECT revision AS number, content FROM bodies
     WHERE event_id = %(event_id)s AND what = 'lead' ORDER BY revision DESC LIMIT 1
"""
FIRST = """
    SELECT revision AS number, content FROM bodies
     WHERE event_id = %(event_id)s AND what = 'lead' ORDER BY revision LIMIT 1
"""
KEEP = "INSERT INTO bodies (what, event_id, revision, content) VALUES ('lead', %(event_id)s, %(revision)s, %(lead)s)"


@dataclass(frozen=True, slots=True)
class Revision:
    """One content of an event.  `content` None: purged."""

    number: int
    content: bytes | None = field(repr=False)

    @property
    def lead(self) -> Lead | None:
        """None: purged."""
        return None if self.content is None else lead_schema.load(self.content)


def newest(conn: Conn, event_id: UUID) -> Revision | None:
    """What is delivered, or would be; None: the event has no content at all."""
    with conn.cursor(row_factory=class_row(Revision)) as cursor:
        return cursor.execute(NEWEST, {"event_id": event_id}).fetchone()


def legible(conn: Conn, event_id: UUID, which: Literal["newest", "first"] = "newest") -> Lead | None:
    """To be shown; None: the event has none, or it cannot be read."""
    found = _spared(conn, event_id, which)
    return None if found is None or found.content is None else lead_schema.legible(found.content)


def _spared(conn: Conn, event_id: UUID, which: Literal["newest", "first"] = "newest") -> Revision | None:
    with conn.cursor(row_factory=class_row(Revision)) as cursor:
        at_rest.sparing(cursor)
        return cursor.execute(NEWEST if which == "newest" else FIRST, {"event_id": event_id}).fetchone()


def keep(conn: Conn, event_id: UUID, number: int, lead: Lead) -> None:
    """Add a revision."""
    conn.execute(KEEP, {"event_id": event_id, "revision": number, "lead": Payload(lead_schema.dump(lead))})


@dataclass(frozen=True, slots=True)
class Named:
    """A content as people name it: its revision, and a fingerprint that tells nothing of it.

    `fingerprint` None: it cannot be read.
    """

    revision: int
    fingerprint: str | None


SHOWN = 12  # digits; enough to tell the contents of one event apart


def named(conn: Conn, event_id: UUID) -> Named | None:
    """The newest content; None: it was purged."""
    found = _spared(conn, event_id)
    if found is None or found.content is None:
        return None
    if lead_schema.legible(found.content) is None:
        return Named(found.number, None)
    digest = installation.read(conn).key.mac("content", found.content.decode())
    return Named(found.number, digest.hex()[:SHOWN])
