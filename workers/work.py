"""What a claimed delivery is about: its event, its lead as it stands now, its need, and whose words it carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row

from intake import lead_schema
from intake.db import Conn
from intake.deliveries import Claim
from intake.lead import NUMBER_CHANGED, UPDATED, Lead, Media


@dataclass(frozen=True, slots=True)
class Work:
    """`reference` is the stem of the need's references; `number` the sender's own (a quote's), None: it has none.

    `updated`: its sender changed the lead after it came first.  `talk`: the need is of a conversation.
    """

    event_id: UUID
    mode: Literal["live", "test"]
    source: str
    scope: str
    kind: Literal["form", "whatsapp", "quote"]
    version: int | None
    need_id: int
    reference: str
    number: str | None
    received_at: datetime
    lead: Lead = field(repr=False)
    updated: bool = False
    number_changed: bool = False
    talk: bool = False
    # The files of several messages that are one work now; each stands with its message's words, and not in the lead.
    files: tuple[Media, ...] = ()


# How the key of a need begins that a conversation opened by itself; see `intake/needs.py`.
TALK = "talk:"

# What says how a delivery goes, and is nothing that an adviser should know of a person.
HOW_IT_GOES = frozenset({UPDATED, NUMBER_CHANGED})


@dataclass(frozen=True, slots=True)
class _Row:
    event_id: UUID
    source: str
    scope: str
    kind: Literal["form", "whatsapp", "quote"]
    version: int | None
    key: str
    reference: str
    received_at: datetime
    lead: bytes | None


# The lead of the newest revision: what a person corrected counts, the original stays.  In the order in which they were
# said, by a sender's clock that is not ahead of ours; those of one moment, in the order in which they were accepted.
# OFFSET 0 has each event looked up: joined as tables, or asked for as an array before PostgreSQL 17, a plan made while
# there were few would read all of them for good.
LOAD = """
    SELECT e.event_id, e.source, e.scope, e.kind, e.version, n.key, n.reference, e.received_at, b.content AS lead
      FROM unnest(%(events)s::uuid[]) AS wanted (event_id)
           CROSS JOIN LATERAL (
           SELECT e.*, d.received_at AS delivered_from FROM events e
             LEFT JOIN deliveries d ON d.event_id = e.event_id AND d.generation = 1
            WHERE e.event_id = wanted.event_id OFFSET 0) AS e
      JOIN needs n ON n.need_id = %(need_id)s
      LEFT JOIN LATERAL (SELECT content FROM bodies WHERE event_id = e.event_id AND what = 'lead'
                          ORDER BY revision DESC LIMIT 1) b ON true
     ORDER BY least(e.occurred_at, e.received_at), e.delivered_from, e.event_id
"""


class Forgotten(Exception):
    """The payload of this event was purged: there is nothing left to deliver."""


def load(conn: Conn, held: Claim) -> Work:
    """Raises Forgotten."""
    (work,) = load_all(conn, held, (held.event_id,))
    return work


def load_all(conn: Conn, held: Claim, events: Sequence[UUID]) -> list[Work]:
    """These events of the held one's need, in the order in which they were said.  Raises Forgotten."""
    with conn.cursor(row_factory=class_row(_Row)) as cursor:
        rows = cursor.execute(LOAD, {"events": list(events), "need_id": held.need_id}).fetchall()
    if len(rows) != len(events):
        raise Forgotten(f"of event {held.event_id}")
    return [_work(held, row) for row in rows]


def _work(held: Claim, row: _Row) -> Work:
    if row.lead is None:
        raise Forgotten(f"event {row.event_id}")
    lead = lead_schema.load(row.lead)
    return Work(
        event_id=row.event_id,
        mode="test" if held.mode == "test" else "live",
        source=row.source,
        scope=row.scope,
        kind=row.kind,
        version=row.version,
        need_id=held.need_id,
        reference=row.reference,
        number=_number(row.key),
        received_at=row.received_at,
        lead=replace(lead, flags=tuple(flag for flag in lead.flags if flag not in HOW_IT_GOES)),
        updated=UPDATED in lead.flags,
        number_changed=NUMBER_CHANGED in lead.flags,
        talk=row.key.startswith(TALK),
    )


def _number(key: str) -> str | None:
    """The sender's own number of a need, which its key holds, also where a person opened it again."""
    kind, _, rest = key.partition(":")
    match kind:
        case "number":
            return rest
        case "again":
            return rest.partition(":")[2] or None
        case _:
            return None
