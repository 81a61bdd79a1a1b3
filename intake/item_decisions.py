"""What a person decides about an open item: whose it is, until when, and how a conflict or an incident ends."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from intake import conflicts, decided, worklist
from intake.config import Settings
from intake.db import Conn
from intake.decided import About, Author, Refused

Resolution = Literal["keep", "accept"]

CLOSE = """
    UPDATE items SET closed_at = clock_timestamp(), resolution = %(resolution)s
     WHERE item_id = %(item_id)s AND closed_at IS NULL
"""

# What each resolution may close.
RESOLVES: Mapping[Resolution, tuple[worklist.ItemKind, ...]] = {
    "keep": ("conflict", "quarantine"),
    "accept": ("conflict", "incident"),
}


def resolve(conn: Conn, author: Author, item_id: int, resolution: Resolution, settings: Settings) -> str:
    """Close a conflict (keep what stands, or take the other content), a quarantine (its bytes are kept), an incident.

    Returns what follows, in a word of ours: kept, accepted, or the state of the delivery that goes on.
    A quarantine is released by `intake.quarantine.again`.  Raises LookupError, Refused, NotAllowed.
    """
    with conn.transaction():
        found = worklist.item(conn, item_id)
        if found is None:
            raise LookupError(f"item {item_id}")
        if found.kind == "delivery":
            raise Refused("item_of_delivery")
        if found.kind not in RESOLVES[resolution]:
            raise Refused("not_of_this_kind")
        if conn.execute(CLOSE, {"item_id": item_id, "resolution": resolution}).rowcount != 1:
            raise Refused("item_closed")
        if found.kind == "conflict" and resolution == "accept":
            return conflicts.accept(conn, author, found, settings)
        decided.note(conn, author, f"resolve {resolution}", About(event_id=found.event_id, item_id=item_id))
        return "kept" if resolution == "keep" else "accepted"


ASSIGN = """
    UPDATE items SET assignee = %(assignee)s, due_at = coalesce(%(due_at)s, due_at)
     WHERE item_id = %(item_id)s AND closed_at IS NULL
"""


def assign(conn: Conn, author: Author, item_id: int, assignee: str, *, due_at: datetime | None = None) -> str | None:
    """Give an open item to a person, or take it over.  `due_at` None: as it was.

    Returns whose it was, None: nobody's.  Raises LookupError, Refused.
    """
    with conn.transaction():
        found = worklist.item(conn, item_id)
        if found is None:
            raise LookupError(f"item {item_id}")
        given = {"item_id": item_id, "assignee": assignee, "due_at": due_at}
        if conn.execute(ASSIGN, given).rowcount != 1:
            raise Refused("item_closed")
        said = {"assignee": assignee, "before": found.assignee, "due_at": due_at.isoformat() if due_at else None}
        decided.note(conn, author, "assign", About(event_id=found.event_id, item_id=item_id), **said)
        return found.assignee
