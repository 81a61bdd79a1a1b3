"""Who saw personal data, when, and whose: Peru's Ley 29733 asks the holder of data to know it.

Ids only.  What is masked is no entry; what is shown unmasked, or leaves as a file, is one, written before it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from intake.db import Conn

Via = Literal["console", "api", "cli"]
What = Literal["content", "export", "conflict", "access_log"]

NOTE = """
    INSERT INTO access_log (operator, via, what, event_id, detail)
    VALUES (%(operator)s, %(via)s, %(what)s, %(event_id)s, %(detail)s)
"""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks, and through what."""

    operator: str
    via: Via


def note(conn: Conn, viewer: Viewer, what: What, event_id: UUID | None = None, **detail: object) -> None:
    """`detail`: filters and counts, no data of anybody."""
    given = {"operator": viewer.operator, "via": viewer.via, "what": what, "event_id": event_id}
    conn.execute(NOTE, given | {"detail": Jsonb(detail)})


@dataclass(frozen=True, slots=True)
class Access:
    """Somebody saw something.  `event_id` None: many, as `detail` says."""

    access_id: int
    at: datetime
    operator: str
    via: Via
    what: str
    event_id: UUID | None
    detail: Mapping[str, object] = field(default_factory=dict)


LISTED = """
    SELECT access_id, at, operator, via, what, event_id, detail FROM access_log
     WHERE (%(operator)s::text IS NULL OR operator = %(operator)s)
       AND (%(event_id)s::uuid IS NULL OR event_id = %(event_id)s)
       AND (%(since)s::timestamptz IS NULL OR at >= %(since)s)
       AND (%(before)s::bigint IS NULL OR access_id < %(before)s)
     ORDER BY access_id DESC LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which entries.  `before`: those older than this access_id; None everywhere: all."""

    operator: str | None = None
    event_id: UUID | None = None
    since: datetime | None = None
    before: int | None = None
    limit: int = 100


def listed(conn: Conn, asked: Asked) -> list[Access]:
    """The newest first."""
    given = {"operator": asked.operator, "event_id": asked.event_id, "since": asked.since, "before": asked.before}
    with conn.cursor(row_factory=class_row(Access)) as cursor:
        return cursor.execute(LISTED, given | {"limit": asked.limit}).fetchall()
