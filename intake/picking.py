"""Which events a list shows, the newest first: whatever is asked for, an index leads to them, however many there are.

ids: named · assigned: by whose item it is · open: not final · ended: cancelled or superseded · ways: all others, along
an index that begins with the ways in (source, kind, mode), of which an installation has few · crm: the same of one CRM
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from intake.deliveries import OPEN

Lead = Literal["ids", "assigned", "open", "ended", "crm", "ways"]

# Final states that few events have.
ENDED: Final = frozenset({"cancelled", "superseded"})


@dataclass(frozen=True, slots=True)
class Picking:
    """What is asked for, None: any.  `assignee` "-": nobody's; `at` and `key`: the last event of the page before.

    `destination`: where the newest delivery goes.  Where that alone leads to them, its time is what they are sorted by:
    it is the event's, but for what was kept elsewhere first, or is delivered again.
    """

    states: Sequence[str] | None = None
    source: str | None = None
    kind: str | None = None
    mode: str | None = None
    assignee: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    events: Sequence[UUID] | None = None
    at: datetime | None = None
    key: UUID | None = None
    limit: int = 50
    destination: str | None = None

    @property
    def lead(self) -> Lead:
        """What leads to the fewest."""
        if self.events is not None:
            return "ids"
        if self.assignee not in {None, "-"}:
            return "assigned"
        if self.states is not None and set(self.states) <= set(OPEN):
            return "open"
        if self.states is not None and ENDED.issuperset(self.states):
            return "ended"
        return "ways" if self.destination is None else "crm"

    @property
    def given(self) -> dict[str, object]:
        """For the query."""
        return {
            "states": None if self.states is None else list(self.states),
            "source": self.source,
            "kind": self.kind,
            "mode": self.mode,
            "assignee": self.assignee,
            "since": self.since,
            "until": self.until,
            "events": None if self.events is None else list(self.events),
            "at": self.at,
            "key": self.key,
            "limit": self.limit,
            "destination": self.destination,
        }


# One row for each row beside it.  The LIMIT keeps the planner from reading the table whole to join it.
EVENT: Final = "CROSS JOIN LATERAL (SELECT * FROM events WHERE event_id = x.event_id LIMIT 1) e"
DELIVERY: Final = """
    CROSS JOIN LATERAL (SELECT * FROM deliveries WHERE event_id = e.event_id ORDER BY generation DESC LIMIT 1) d
"""
ITEM: Final = """
    LEFT JOIN items i ON i.event_id = d.event_id AND i.generation = d.generation AND i.kind = 'delivery'
                     AND i.closed_at IS NULL
"""
STATED: Final = """
           (%(states)s::text[] IS NULL OR d.state = ANY(%(states)s))
       AND (%(destination)s::text IS NULL OR d.destination = %(destination)s)
"""
OWNED: Final = """
       (%(assignee)s::text IS NULL OR i.assignee = %(assignee)s OR (%(assignee)s = '-' AND i.assignee IS NULL))
"""
TIMED: Final = """
           (%(since)s::timestamptz IS NULL OR {0}.received_at >= %(since)s)
       AND (%(until)s::timestamptz IS NULL OR {0}.received_at < %(until)s)
       AND (%(at)s::timestamptz IS NULL OR ({0}.received_at, {0}.event_id) < (%(at)s, %(key)s::uuid))
"""
WANTED: Final = f"{STATED} AND {OWNED} AND {TIMED.format('e')}"
WAY: Final = """
           (%(source)s::text IS NULL OR {0}.source = %(source)s)
       AND (%(kind)s::text IS NULL OR {0}.kind = %(kind)s)
       AND (%(mode)s::text IS NULL OR {0}.mode = %(mode)s)
"""
NEWEST_FIRST: Final = "ORDER BY e.received_at DESC, e.event_id DESC LIMIT %(limit)s"

LEADS: Final[Mapping[Literal["ids", "assigned", "open", "ended"], str]] = {
    "ids": "SELECT DISTINCT unnest(%(events)s::uuid[]) AS event_id",
    "assigned": """
        SELECT event_id FROM items WHERE kind = 'delivery' AND closed_at IS NULL AND assignee = %(assignee)s
    """,
    # In the words of the indexes: a condition that only says the same does not find them.
    "open": """
        SELECT DISTINCT event_id FROM deliveries WHERE state NOT IN ('confirmed', 'cancelled', 'superseded')
    """,
    "ended": """
        SELECT DISTINCT event_id FROM deliveries
         WHERE state IN ('cancelled', 'superseded') AND state = ANY(%(states)s)
           AND (%(source)s::text IS NULL OR source = %(source)s)
    """,
}
BY_LEAD: Final = f"""
    picked AS MATERIALIZED (
    SELECT e.event_id, e.received_at FROM ({{lead}}) AS x {EVENT} {DELIVERY} {ITEM}
     WHERE {WAY.format("e")} AND {WANTED} {NEWEST_FIRST})
"""  # noqa: S608  # our own words
# Each way is read on from the next that the index holds; of each no more than a page is taken.
WAYS: Final = """
    ways AS (
    (SELECT source, kind, mode FROM events ORDER BY source, kind, mode LIMIT 1)
    UNION ALL
    SELECT n.source, n.kind, n.mode FROM ways w CROSS JOIN LATERAL (
           SELECT source, kind, mode FROM events WHERE (source, kind, mode) > (w.source, w.kind, w.mode)
            ORDER BY source, kind, mode LIMIT 1) n)
"""
BY_WAYS: Final = f"""
    {WAYS}, picked AS MATERIALIZED (
    SELECT e.event_id, e.received_at
      FROM ways w
      CROSS JOIN LATERAL (
           SELECT e.event_id, e.received_at FROM events e {DELIVERY} {ITEM}
            WHERE e.source = w.source AND e.kind = w.kind AND e.mode = w.mode AND {WANTED} {NEWEST_FIRST}) e
     WHERE {WAY.format("w")} {NEWEST_FIRST})
"""  # noqa: S608
# What is final and went there stands in an index of its own, way by way; of what is open there is little.
NEWEST: Final = "d.generation = (SELECT max(generation) FROM deliveries WHERE event_id = d.event_id)"
FIRST: Final = "ORDER BY d.received_at DESC, d.event_id DESC LIMIT %(limit)s"
BY_CRM: Final = f"""
    {WAYS}, picked AS MATERIALIZED (
    SELECT d.event_id, d.received_at
      FROM (SELECT DISTINCT source, mode FROM ways w WHERE {WAY.format("w")}) AS w
      CROSS JOIN LATERAL (
           SELECT d.event_id, d.received_at FROM deliveries d
            WHERE d.state IN ('confirmed', 'cancelled', 'superseded') AND d.destination = %(destination)s
              AND d.source = w.source AND d.mode = w.mode AND {STATED} AND {NEWEST} AND {TIMED.format("d")} {FIRST}) d
    UNION ALL
    (SELECT d.event_id, d.received_at
       FROM (SELECT event_id AS id FROM deliveries
              WHERE state NOT IN ('confirmed', 'cancelled', 'superseded') AND destination = %(destination)s) AS x
       CROSS JOIN LATERAL (SELECT * FROM events WHERE event_id = x.id LIMIT 1) e {DELIVERY} {ITEM}
      WHERE {WAY.format("e")} AND {STATED} AND {NEWEST} AND {OWNED} AND {TIMED.format("d")} {FIRST})
    ORDER BY received_at DESC, event_id DESC LIMIT %(limit)s)
"""  # noqa: S608


def query(wanted: Picking, shown: str) -> str:
    """`shown` is a SELECT FROM `picked`, which holds event_id and received_at of at most so many events."""
    match wanted.lead:
        case "ways":
            picked = BY_WAYS
        case "crm":
            picked = BY_CRM
        case lead:
            picked = BY_LEAD.format(lead=LEADS[lead])
    return f"WITH RECURSIVE {picked} {shown}"
