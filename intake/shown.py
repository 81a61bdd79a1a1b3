"""What was on a screen: ids only, so that the time between seeing and deciding can be told (docs/alerts.md)."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from intake.db import Conn

KEPT_FOR = timedelta(days=60)

NOTE = """
    INSERT INTO shown (event_id, item_id, operator)
    VALUES (coalesce(%(event_id)s, (SELECT event_id FROM items WHERE item_id = %(item_id)s)), %(item_id)s, %(operator)s)
"""


def event(conn: Conn, event_id: UUID, *, operator: str | None) -> None:
    """An event is about to be shown to a person; `operator` None: nobody said to whom."""
    conn.execute(NOTE, {"event_id": event_id, "item_id": None, "operator": operator or None})


def item(conn: Conn, item_id: int, *, operator: str | None) -> None:
    """An open item is about to be shown to a person, and with it the event that it is about."""
    conn.execute(NOTE, {"event_id": None, "item_id": item_id, "operator": operator or None})


FORGET = "DELETE FROM shown WHERE shown_at < statement_timestamp() - %(kept_for)s"


def forget_old(conn: Conn) -> None:
    """What was seen long ago."""
    conn.execute(FORGET, {"kept_for": KEPT_FOR})
