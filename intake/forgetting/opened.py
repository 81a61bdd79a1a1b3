"""What of a person is still open: it is settled first, or cancelled on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from psycopg.rows import class_row

from intake import decisions, item_decisions
from intake.config import Settings
from intake.db import Conn
from intake.decided import Author, Refused
from intake.forgetting.finding import Found
from intake.person_arrows import NotAllowed


@dataclass(frozen=True, slots=True)
class Open:
    """One thing that waits: a delivery by its event, or an item by its number.  `reason` None: it is on its way."""

    kind: Literal["delivery", "conflict", "quarantine", "incident"]
    event_id: UUID | None
    item_id: int | None
    state: str
    reason: str | None


DELIVERIES: Final = """
    SELECT 'delivery' AS kind, event_id, NULL::bigint AS item_id, state, reason FROM deliveries
     WHERE event_id = ANY(%(events)s) AND state NOT IN ('confirmed', 'cancelled', 'superseded')
     ORDER BY received_at, event_id
"""
ITEMS: Final = """
    SELECT kind, event_id, item_id, 'open' AS state, reason FROM items
     WHERE closed_at IS NULL AND kind <> 'delivery'
       AND (event_id = ANY(%(events)s) OR receipt_id = ANY(%(receipts)s)
            OR record_id IN (SELECT unnest(ARRAY[contact_record, opportunity_record, task_record, note_record])
                               FROM deliveries WHERE event_id = ANY(%(events)s)))
     ORDER BY item_id
"""


def of(conn: Conn, found: Found) -> list[Open]:
    """Everything that a person has to settle before."""
    given = {"events": list(found.events), "receipts": list(found.receipts)}
    with conn.cursor(row_factory=class_row(Open)) as cursor:
        waiting = cursor.execute(DELIVERIES, given).fetchall()
        return [*waiting, *cursor.execute(ITEMS, given).fetchall()]


def cancel(conn: Conn, settings: Settings, author: Author, waiting: list[Open]) -> list[Open]:
    """End all of it; returns what could not be ended now, such as what a worker has in hand."""
    return [each for each in waiting if not _ended(conn, settings, author, each)]


def _ended(conn: Conn, settings: Settings, author: Author, each: Open) -> bool:
    try:
        match each.kind:
            case "delivery":
                assert each.event_id is not None  # noqa: S101  # the primary key of deliveries
                decisions.cancel(conn, author, each.event_id)
            case "conflict" | "quarantine":
                item_decisions.resolve(conn, author, each.item_id or 0, "keep", settings)
            case "incident":
                item_decisions.resolve(conn, author, each.item_id or 0, "accept", settings)
    except (Refused, NotAllowed, LookupError):
        return False
    return True
