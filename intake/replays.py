"""A message that is older than its source keeps identities: nobody can tell any more whether it came before.

Most signatures carry no time, so that what was signed once verifies for ever; the identity is what knows a replay.
Where `key_retention_days` lets identities go, the message's own time takes their place: a person decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import scalar_row

from intake import identify
from intake.db import Conn
from intake.received import Received
from intake.sources.base import Incoming, Quarantined

REPLAY = Quarantined("replay", {"time": "is older than identities are kept"})

# OFFSET 0 has each event looked up, also by a plan that PostgreSQL before 17 made while there were few, and keeps.
KNOWN = """
    SELECT asked.event_id FROM unnest(%(ids)s::uuid[]) AS asked (event_id)
           CROSS JOIN LATERAL (
           SELECT FROM events WHERE event_id = asked.event_id
            UNION ALL SELECT FROM event_aliases WHERE alias = asked.event_id OFFSET 0) AS stands
"""


def set_aside(conn: Conn, received: Received, now: datetime) -> tuple[Received, int]:
    """The same without its replays, which are for quarantine, and how many those are.  What is known is none.

    `now`: when it came.  A person who releases a delivery has decided about it already.
    """
    days = received.source.key_retention_days
    if not days or received.released:
        return received, 0
    old = [each for each in identify.foretold(received) if _is_older(each[1], now - timedelta(days=days))]
    known = _known(conn, [event_id for event_id, _ in old])
    replayed = {id(incoming) for event_id, incoming in old if event_id not in known}
    if not replayed:
        return received, 0
    reading = received.reading
    kept = tuple(each for each in reading.events if id(each) not in replayed)
    quarantined = (*reading.quarantined, *(REPLAY for _ in replayed))
    return replace(received, reading=replace(reading, events=kept, quarantined=quarantined)), len(replayed)


def _is_older(incoming: Incoming, than: datetime) -> bool:
    """By when it was first said: a later state of an old order is no younger than the order."""
    return incoming.lead.occurred_at is not None and incoming.lead.occurred_at < than


def _known(conn: Conn, ids: Iterable[UUID]) -> frozenset[UUID]:
    wanted = list(ids)
    if not wanted:
        return frozenset()
    with conn.cursor(row_factory=scalar_row) as cursor:
        return frozenset(cursor.execute(KNOWN, {"ids": wanted}))
