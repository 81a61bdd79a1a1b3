"""How new events begin their way: ready to be delivered, or held for a person, by their source's rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from intake import person_arrows, spam
from intake.config import Source
from intake.db import Conn
from intake.identify import Identified
from intake.identity import IdentityKey
from intake.needs import Grouped
from intake.received import Received

# A need keeps the account it was pinned to first, so the delivery takes it from there.  The first message of a
# conversation waits for what belongs into its text, unless it is so old by its own time that this has come already.
INSERT = """
    INSERT INTO deliveries (event_id, need_id, part, position, mode, source, destination, assignee, state, reason,
                            due_at)
    SELECT %(event_id)s, need_id, %(part)s, %(position)s, mode, %(source)s, destination, %(assignee)s,
           CASE WHEN %(hold)s::text IS NULL THEN 'received' ELSE 'awaiting_approval' END, %(hold)s,
           CASE WHEN %(hold)s::text IS NOT NULL THEN NULL
                WHEN %(occurred_at)s::timestamptz <= came.at - %(debounce)s THEN clock_timestamp()
                ELSE greatest(clock_timestamp(), came.at + %(debounce)s) END
      FROM needs, (SELECT coalesce(%(received_at)s, clock_timestamp()) AS at) AS came
     WHERE need_id = %(need_id)s
"""


def insert(conn: Conn, key: IdentityKey, received: Received, fresh: Sequence[tuple[Identified, Grouped]]) -> None:
    """A delivery for each new event; a version that waits for its approval gives way to a newer one."""
    leads = {each.event_id: each.incoming.lead for each, _ in fresh}
    holds = spam.held(conn, key, received.source, received.mode, leads)
    rows = [
        _row(received.source, each, grouped, holds.get(each.event_id)) | {"received_at": received.received_at}
        for each, grouped in fresh
    ]
    with conn.cursor() as cursor:
        cursor.executemany(INSERT, rows)
    if received.source.approval == "required":
        versions = sorted({grouped.need_id for _, grouped in fresh if grouped.part == "version"})
        if versions:
            person_arrows.supersede_waiting(conn, versions)


def _row(source: Source, each: Identified, grouped: Grouped, hold: str | None) -> dict[str, object]:
    suspicion = each.incoming.suspicion and f"held_{each.incoming.suspicion}"
    gated = "approval_required" if source.approval == "required" else None
    return {
        "event_id": each.event_id,
        "need_id": grouped.need_id,
        "part": grouped.part,
        "position": each.incoming.version or 0,
        "source": source.name,
        "assignee": source.assignee,
        "occurred_at": each.incoming.lead.occurred_at,
        "debounce": timedelta(seconds=source.debounce_seconds if _opens_talk(source, each, grouped) else 0),
        "hold": hold or suspicion or gated,
    }


def _opens_talk(source: Source, each: Identified, grouped: Grouped) -> bool:
    talks = each.incoming.conversation is not None and source.opportunity_per == "conversation"
    return talks and grouped.part == "opener"
