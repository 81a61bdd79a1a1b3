"""Spam: what a person marked so, whose sender's later leads wait for a person; and what a source's rules hold.

Nothing is dropped.

A sender is known by the keyed hashes of phone, e-mail and WhatsApp ids: the same that name a contact.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import scalar_row, tuple_row

from intake import at_rest, contacts, decided, installation, lead_schema, person_arrows, revisions
from intake.config import Source
from intake.db import Conn
from intake.decided import Author, Refused
from intake.deliveries import FINAL
from intake.identity import IdentityKey, Mode
from intake.lead import Lead
from intake.permitted import View

# --- at the door ----------------------------------------------------------------------------------------------------

BLOCKED = "SELECT key FROM blocked_keys WHERE mode = %(mode)s AND key = ANY(%(keys)s)"

# An address of the web, as people and programs write one.
LINK = re.compile(r"https?://|www\.", re.IGNORECASE)


def held(conn: Conn, key: IdentityKey, source: Source, mode: Mode, leads: Mapping[UUID, Lead]) -> dict[UUID, str]:
    """Which of these leads a person must see first, and why; those that are missing may go."""
    keys = {event_id: keys_of(lead, key) for event_id, lead in leads.items()}
    every = [each for many in keys.values() for each in many]
    with conn.cursor(row_factory=scalar_row) as cursor:
        found = cursor.execute(BLOCKED, {"mode": mode, "keys": every}).fetchall() if every else []
    blocked = {bytes(each) for each in found}
    reasons = {event_id: "held_as_spam" for event_id, many in keys.items() if blocked.intersection(many)}
    linking = {event_id: reason for event_id, lead in leads.items() if (reason := held_by_links(source, lead))}
    reasons = linking | reasons
    if "repeated" in source.hold:
        reasons = dict.fromkeys(_repeating(conn, source, mode, leads), "held_repeated") | reasons
    return reasons


def held_by_links(source: Source, lead: Lead) -> str | None:
    """Why a person must see it first; None: it has no link, or the source does not mind."""
    return "held_links" if "links" in source.hold and has_link(lead) else None


def has_link(lead: Lead) -> bool:
    """Whether the visitor wrote an address of the web."""
    written = (lead.enquiry.text, lead.contact.name or "", *(value for _, value in lead.answers))
    return any(LINK.search(each) for each in written)


# What many write by themselves is shorter: "Hola, quiero más información".
SHORTEST = 40  # characters
# This many times within a day, itself among them.
OFTEN = 3
# The newest leads of a source alone, so that a flood does not make the door slow.
RECENT = """
    SELECT b.content
      FROM (SELECT r.receipt_id FROM receipts r
             WHERE r.source = %(source)s AND r.mode = %(mode)s AND r.verdict = 'accepted'
               AND r.received_at > statement_timestamp() - interval '1 day'
             ORDER BY r.received_at DESC LIMIT 200) AS recent
      JOIN events e USING (receipt_id)
      JOIN bodies b ON b.event_id = e.event_id AND b.what = 'lead' AND b.revision = 1
     WHERE b.content IS NOT NULL
"""


def _repeating(conn: Conn, source: Source, mode: Mode, leads: Mapping[UUID, Lead]) -> list[UUID]:
    """Those whose words came from several people within a day.  Their own leads are stored by then."""
    words = {event_id: _words(lead) for event_id, lead in leads.items()}
    if not any(words.values()):
        return []
    with conn.cursor(row_factory=scalar_row) as cursor:
        at_rest.sparing(cursor)
        recent = cursor.execute(RECENT, {"source": source.name, "mode": mode}).fetchall()
    said = Counter(_words(lead) for each in recent if (lead := lead_schema.legible(bytes(each))))
    return [event_id for event_id, each in words.items() if each and said[each] >= OFTEN]


def _words(lead: Lead) -> str:
    """What was written, without case and spacing; "" where it is too short to tell anything."""
    words = " ".join(lead.enquiry.text.casefold().split())
    return words if len(words) >= SHORTEST else ""


def keys_of(lead: Lead, key: IdentityKey) -> list[bytes]:
    """By which a sender is known again."""
    return contacts.digests_of(lead.contact, key)


# --- what a person decides ------------------------------------------------------------------------------------------

BLOCK = """
    INSERT INTO blocked_keys (mode, key, event_id) VALUES (%(mode)s, %(key)s, %(event_id)s) ON CONFLICT DO NOTHING
"""
UNBLOCK = "DELETE FROM blocked_keys WHERE mode = %(mode)s AND key = ANY(%(keys)s)"


@dataclass(frozen=True, slots=True)
class Marked:
    """`cancelled` False: it had ended before.  `view`: as it stands then, with what is in the CRM."""

    cancelled: bool
    blocked: int
    view: View


def mark(conn: Conn, author: Author, event_id: UUID) -> Marked:
    """Cancel it where it is open, and hold what comes later from this person.  Raises Refused, NotAllowed."""
    with conn.transaction():
        seen = decided.allowed(conn, event_id, "spam")
        about = decided.about(conn, seen)
        keys = _keys_of_event(conn, seen)
        is_open = seen.event.state not in FINAL
        if is_open:
            person_arrows.cancel(conn, event_id, about.generation)
        for each in keys:
            conn.execute(BLOCK, {"mode": seen.event.mode, "key": each, "event_id": event_id})
        stands = {each.kind: each.crm_id for each in seen.records if each.crm_id}
        decided.note(conn, author, "spam", about, keys=len(keys), stands=stands)
        return Marked(is_open, len(keys), decided.view(conn, event_id))


def unmark(conn: Conn, author: Author, event_id: UUID) -> int:
    """It was no spam: what comes later from this person is delivered.  Returns how many keys were blocked.

    What was cancelled stays so; `intake reissue` delivers it.  Raises Refused.
    """
    with conn.transaction():
        seen = decided.view(conn, event_id)
        given = {"mode": seen.event.mode, "keys": _keys_of_event(conn, seen)}
        freed = conn.execute(UNBLOCK, given).rowcount
        decided.note(conn, author, "not spam", decided.about(conn, seen), keys=freed)
        return freed


def _keys_of_event(conn: Conn, seen: View) -> Sequence[bytes]:
    content = revisions.newest(conn, seen.event.event_id)
    if content is None or content.lead is None:
        raise Refused("purged", seen.event.state)
    keys = keys_of(content.lead, installation.read(conn).key)
    if not keys:
        raise Refused("no_keys", seen.event.state)
    return keys


COUNT = "SELECT count(*), count(DISTINCT event_id) FROM blocked_keys"


def counted(conn: Conn) -> tuple[int, int]:
    """How many keys are blocked, and by how many events."""
    with conn.cursor(row_factory=tuple_row) as cursor:
        keys, events = cursor.execute(COUNT).fetchone() or (0, 0)
    return int(keys), int(events)
