"""How new events begin their way: ready to be delivered, or held for a person, by their source's rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb

from intake import person_arrows, spam
from intake.config import Source
from intake.db import Conn
from intake.identify import Identified
from intake.identity import IdentityKey
from intake.needs import Asked, Grouped
from intake.received import Received
from intake.sources.base import Incoming

# A need keeps the account it was pinned to first, so the delivery takes it from there.  The first message of a
# conversation waits for what belongs into its text, unless it is so old by its own time that this has come already.
# OFFSET 0 has each need looked up: joined as a table, a plan made while there were few would read all of them for good.
INSERT = """
    INSERT INTO deliveries (event_id, need_id, part, position, mode, source, destination, assignee, state, reason,
                            due_at)
    SELECT r.event_id, r.need_id, r.part, r.position, n.mode, %(source)s, n.destination, %(assignee)s,
           CASE WHEN r.hold IS NULL THEN 'received' ELSE 'awaiting_approval' END, r.hold,
           CASE WHEN r.hold IS NOT NULL THEN NULL
                WHEN r.occurred_at <= came.at - r.debounce THEN clock_timestamp()
                ELSE greatest(clock_timestamp(), came.at + r.debounce) END
      FROM jsonb_to_recordset(%(rows)s) AS r (place integer, event_id uuid, need_id bigint, part text, position bigint,
                                              hold text, occurred_at timestamptz, debounce interval)
           CROSS JOIN LATERAL (SELECT mode, destination FROM needs WHERE need_id = r.need_id OFFSET 0) AS n,
           (SELECT coalesce(%(received_at)s, clock_timestamp()) AS at) AS came
     ORDER BY r.place
    RETURNING event_id, state
"""


def insert(
    conn: Conn, key: IdentityKey, received: Received, fresh: Sequence[tuple[Identified, Asked]]
) -> Mapping[UUID, str]:
    """A delivery for each new event, whose states are returned; a version that waits for its approval gives way."""
    leads = {each.event_id: each.incoming.lead for each, _ in fresh}
    holds = spam.held(conn, key, received.source, received.mode, leads)
    grouped = [(each, asked.grouped()) for each, asked in fresh]
    rows = [
        _row(received.source, each, need, holds.get(each.event_id)) | {"place": place}
        for place, (each, need) in enumerate(grouped)
    ]
    source = received.source
    given = {
        "source": source.name,
        "assignee": source.assignee,
        "received_at": received.received_at,
        "rows": Jsonb(rows),
    }
    with conn.cursor(row_factory=tuple_row) as cursor:
        states: dict[UUID, str] = dict(cursor.execute(INSERT, given).fetchall())
    versions = sorted({need.need_id for _, need in grouped if need.part == "version"})
    if source.approval == "required" and versions:
        person_arrows.supersede_waiting(conn, versions)
    return states


def _row(source: Source, each: Identified, grouped: Grouped, hold: str | None) -> dict[str, object]:
    occurred = each.incoming.lead.occurred_at
    return {
        "event_id": str(each.event_id),
        "need_id": grouped.need_id,
        "part": grouped.part,
        "position": each.incoming.version or 0,
        "occurred_at": occurred.isoformat() if occurred else None,
        "debounce": f"{source.debounce_seconds if _opens_talk(source, each, grouped) else 0} seconds",
        "hold": hold_of(source, each.incoming, by_rule=hold),
    }


def hold_of(source: Source, incoming: Incoming, *, by_rule: str | None) -> str | None:
    """Why a person must see it first, if not for the reason that a rule found; None: nobody must."""
    suspicion = incoming.suspicion and f"held_{incoming.suspicion}"
    gated = "approval_required" if source.approval == "required" else None
    return by_rule or suspicion or gated


def _opens_talk(source: Source, each: Identified, grouped: Grouped) -> bool:
    talks = each.incoming.conversation is not None and source.opportunity_per == "conversation"
    return talks and grouped.part == "opener"
