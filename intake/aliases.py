"""Other ids of events: those that senders were told while the database was away, or that a sender gave later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from intake.db import Conn
from intake.received import Acceptance

KEEP = """
    INSERT INTO event_aliases (alias, event_id)
    SELECT %(alias)s, %(event_id)s WHERE NOT EXISTS (SELECT FROM events WHERE event_id = %(alias)s)
    ON CONFLICT DO NOTHING
"""


def add(conn: Conn, alias: UUID, event_id: UUID) -> None:
    """Whoever asks for this id, under which no event stands, finds that event."""
    conn.execute(KEEP, {"alias": alias, "event_id": event_id})


def keep(conn: Conn, promised: Sequence[UUID], acceptance: Acceptance) -> None:
    """Whoever asks for a promised id that is no event's finds the event that it became."""
    with conn.cursor() as cursor:
        for alias, event_id in _became(promised, [each.event_id for each in acceptance.events]):
            if alias != event_id:
                cursor.execute(KEEP, {"alias": alias, "event_id": event_id})


def _became(promised: Sequence[UUID], accepted: Sequence[UUID]) -> Iterator[tuple[UUID, UUID]]:
    """By their order; where another reader found another number of events, the first stands for all."""
    if len(promised) == len(accepted):
        yield from zip(promised, accepted, strict=True)
    elif accepted:
        yield from ((each, accepted[0]) for each in promised if each not in accepted)
