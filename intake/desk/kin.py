"""What belongs to an event: what came with it, and what another event of the same person says almost alike.

Nothing is merged for being alike; both sides are linked, and a person sees it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from typing import Final, Literal
from uuid import UUID

from psycopg.rows import class_row

from intake import at_rest, contacts, installation, lead_schema, revisions
from intake.config import Settings, Source
from intake.db import Conn
from intake.identity import Mode
from intake.lead import Lead
from intake.ops import EventRow

# need: of the same opportunity.  twin: of the same person, and almost the same.  batch: in the same delivery of its
# sender.  talk: of the same conversation.  reissue: one made of the other.  contact: of the same person.
How = Literal["need", "twin", "batch", "talk", "reissue", "contact"]


@dataclass(frozen=True, slots=True)
class Relative:
    """Another event."""

    event_id: UUID
    how: How
    received_at: datetime
    kind: str
    source: str
    state: str


RELATIVES: Final = """
    WITH own AS (SELECT d.need_id, d.contact_record, n.conversation_id FROM deliveries d JOIN needs n USING (need_id)
                  WHERE d.event_id = %(event_id)s ORDER BY d.generation DESC LIMIT 1),
         found AS (
           SELECT event_id, 'need' AS how, 1 AS rank FROM deliveries WHERE need_id = (SELECT need_id FROM own)
           UNION ALL
           SELECT unnest(%(twins)s::uuid[]), 'twin', 2
           UNION ALL
           (SELECT event_id, 'batch', 3 FROM events
             WHERE receipt_id = (SELECT receipt_id FROM events WHERE event_id = %(event_id)s) LIMIT 50)
           UNION ALL
           SELECT event_id, 'reissue', 4 FROM events
            WHERE reissue_of = %(event_id)s OR event_id = (SELECT reissue_of FROM events WHERE event_id = %(event_id)s)
           UNION ALL
           (SELECT d.event_id, 'talk', 5 FROM needs n JOIN deliveries d USING (need_id)
             WHERE n.conversation_id = (SELECT conversation_id FROM own) ORDER BY d.received_at DESC LIMIT 50)
           UNION ALL
           (SELECT event_id, 'contact', 6 FROM deliveries WHERE contact_record = (SELECT contact_record FROM own)
             ORDER BY received_at DESC LIMIT 50)),
         nearest AS (SELECT DISTINCT ON (event_id) event_id, how, rank FROM found WHERE event_id <> %(event_id)s
                      ORDER BY event_id, rank),
         shown AS (SELECT * FROM nearest ORDER BY rank LIMIT 60)
    SELECT e.event_id, n.how, e.received_at, e.kind, e.source, d.state
      FROM shown n
      CROSS JOIN LATERAL (SELECT * FROM events WHERE event_id = n.event_id LIMIT 1) e
      CROSS JOIN LATERAL (SELECT state FROM deliveries WHERE event_id = e.event_id
                           ORDER BY generation DESC LIMIT 1) d
     ORDER BY n.rank = 2 DESC, e.received_at DESC LIMIT 30
"""


def relatives(conn: Conn, settings: Settings, event: EventRow) -> list[Relative]:
    """What is almost the same first, then the newest."""
    given = {"event_id": event.event_id, "twins": twins(conn, settings, event)}
    with conn.cursor(row_factory=class_row(Relative)) as cursor:
        return cursor.execute(RELATIVES, given).fetchall()


# --- almost the same --------------------------------------------------------------------------------------------------

# Of a person's events no more than so many near in time are compared.
COMPARED: Final = 20
# How alike two texts are, from 0 to 1, to be called almost the same.
ALIKE: Final = 0.8
LONGEST: Final = 2000  # characters of a text that are compared
WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Near:
    event_id: UUID
    source: str
    kind: str
    received_at: datetime
    content: bytes = field(repr=False)


# The same person: whoever a key of this lead leads to, in whichever account.  What only goes on with a need is no twin.
NEAR: Final = """
    WITH people AS (SELECT record_id FROM contact_keys WHERE mode = %(mode)s AND key = ANY(%(keys)s)),
         own AS (SELECT need_id, part FROM deliveries WHERE event_id = %(event_id)s ORDER BY generation DESC LIMIT 1),
         near AS (
           SELECT DISTINCT ON (e.event_id) e.event_id, e.source, e.kind, e.received_at
             FROM deliveries d CROSS JOIN LATERAL (SELECT * FROM events WHERE event_id = d.event_id LIMIT 1) e
            WHERE d.contact_record IN (SELECT record_id FROM people) AND d.part <> 'follow_up'
              AND d.need_id <> (SELECT need_id FROM own WHERE part <> 'follow_up')
              AND e.received_at BETWEEN %(at)s - %(span)s AND %(at)s + %(span)s AND e.event_id <> %(event_id)s
              AND e.reissue_of IS DISTINCT FROM %(event_id)s AND e.mode = %(mode)s
            ORDER BY e.event_id LIMIT %(most)s)
    SELECT n.event_id, n.source, n.kind, n.received_at, b.content
      FROM near n CROSS JOIN LATERAL (SELECT content FROM bodies WHERE event_id = n.event_id AND what = 'lead'
                                       ORDER BY revision DESC LIMIT 1) b
     WHERE b.content IS NOT NULL
"""


def twins(conn: Conn, settings: Settings, event: EventRow) -> list[UUID]:
    """Events of this person, near in time and of another opportunity, that say almost the same."""
    lead = revisions.legible(conn, event.event_id)
    widest = max((each.near_twin_minutes for each in settings.sources.values()), default=0)
    if lead is None or not widest:
        return []
    mode = _mode(event)
    keys = [each.key for each in contacts.keys_of(lead.contact, mode, installation.read(conn).key)]
    given = {
        "event_id": event.event_id, "mode": mode, "keys": keys, "at": event.received_at,
        "span": timedelta(minutes=widest), "most": COMPARED,
    }  # fmt: skip
    with conn.cursor(row_factory=class_row(_Near)) as cursor:
        at_rest.sparing(cursor)
        near = cursor.execute(NEAR, given).fetchall() if keys else []
    return [each.event_id for each in near if _is_twin(settings, event, lead, each)]


def _mode(event: EventRow) -> Mode:
    return "test" if event.mode == "test" else "live"


def _is_twin(settings: Settings, event: EventRow, lead: Lead, near: _Near) -> bool:
    """By the longer wish of the two sources, so that both sides say the same; a source that wants none has none."""
    minutes = [_minutes(settings.sources.get(name)) for name in (event.source, near.source)]
    if 0 in minutes or abs(near.received_at - event.received_at) > timedelta(minutes=max(minutes)):
        return False
    if {event.kind, near.kind} == {"form", "whatsapp"}:
        return True  # Who writes by both ways within minutes means one thing.
    said = lead_schema.legible(near.content)
    if said is None:
        return False
    one, other = lead.enquiry, said.enquiry
    return is_alike(one.text, other.text) and is_alike(one.product or "", other.product or "")


def _minutes(source: Source | None) -> int:
    return source.near_twin_minutes if source is not None else 0


def is_alike(one: str, other: str) -> bool:
    """Whether two texts say almost the same: signs, accents and capitals apart, four words of five stand in both."""
    first, second = _words(one), _words(other)
    return first == second or SequenceMatcher(None, first, second, autojunk=False).ratio() >= ALIKE


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text[:LONGEST].casefold())
    return WORD.findall("".join(each for each in plain if not unicodedata.combining(each)))
