"""A person who has another WhatsApp number or user id now: both lead to the same talk and the same contact.

WhatsApp tells it once, in a message of its own.  Whom nobody knows by the old one stays unknown, and nobody's new
number is taken from a contact that it leads to already.

    a new number ─> keys of the talk and of the contact ─> a new revision of what the person came with last, which
                    brings the contact in the CRM up to date where nobody changed it, and tells the adviser in a note
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

from psycopg.rows import scalar_row

from intake import contacts, talks
from intake.db import Conn
from intake.identity import IdentityKey
from intake.lead import NUMBER_CHANGED, Contact, Lead, Phone
from intake.naming import Scope
from intake.received import Received
from intake.sources.base import Moved

# What the adviser reads of a person whose user id alone is told, since people get another with another number (Meta,
# "Business-scoped user IDs").
NUMBER, UNKNOWN = "Número de WhatsApp", "es otro desde ahora, y todavía no se conoce"


@dataclass(frozen=True, slots=True)
class News:
    """That the person of this event has moved, and what its lead becomes of it."""

    event_id: UUID
    lead: Callable[[Lead], Lead] = field(repr=False)


def follow(conn: Conn, key: IdentityKey, received: Received) -> Iterator[News]:
    """Follow everybody whom this delivery says to have moved.  Call it with the locks of their talks."""
    for update in received.reading.updates:
        if update.moved is not None:
            talk = talks.follow(conn, received.place, key, update.moved.conversation)
            contact = _follow_contact(conn, key, received, update.moved)
            event_id = _newest(conn, talk, contact)
            if event_id is not None:
                yield News(event_id, _with(update.moved))


def _follow_contact(conn: Conn, key: IdentityKey, received: Received, moved: Moved) -> int | None:
    # No record is made here, so that nothing asks how long what was asked before may linger.
    scope = Scope(received.destination, received.mode, timedelta())
    before, after = (contacts.keys_of(each, received.mode, key) for each in (moved.before, moved.after))
    return contacts.follow(conn, scope, before, after)


# Each half by an index of its own.
NEWEST = """
    SELECT event_id
      FROM (SELECT d.*, n.last_at FROM needs n JOIN deliveries d USING (need_id)
             WHERE n.conversation_id = %(talk)s
             UNION ALL
            SELECT d.*, n.last_at FROM deliveries d JOIN needs n USING (need_id)
             WHERE d.contact_record = %(contact)s) AS whose
     WHERE part <> 'follow_up' AND state NOT IN ('cancelled', 'superseded')
       AND NOT EXISTS (SELECT FROM deliveries later
                        WHERE later.event_id = whose.event_id AND later.generation > whose.generation)
       AND EXISTS (SELECT FROM bodies b
                    WHERE b.event_id = whose.event_id AND b.what = 'lead' AND b.content IS NOT NULL)
     ORDER BY last_at DESC, position DESC, received_at DESC LIMIT 1
"""


def _newest(conn: Conn, talk: int | None, contact: int | None) -> UUID | None:
    """What opened the last need of this talk, or of this contact, that was not purged; None: there is none."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(NEWEST, {"talk": talk, "contact": contact}).fetchone()


# --- what the lead becomes ------------------------------------------------------------------------------------------


def _with(moved: Moved) -> Callable[[Lead], Lead]:
    def told(said: Lead) -> Lead:
        person = _moved(said.contact, moved)
        if person == said.contact:
            return said
        answers = tuple(each for each in said.answers if each[0] != NUMBER)
        unknown = () if moved.after.phone else ((NUMBER, UNKNOWN),)
        flags = tuple(dict.fromkeys((*said.flags, NUMBER_CHANGED)))
        return replace(said, contact=person, answers=(*answers, *unknown), flags=flags)

    return told


def _moved(person: Contact, moved: Moved) -> Contact:
    """Only what reads as before becomes another: people also leave numbers in forms that are not WhatsApp's."""
    before, after = moved.before, moved.after
    phone, wa_id, bsuid = person.phone, person.wa_id, person.bsuid
    if after.wa_id and wa_id in {before.wa_id, None}:
        wa_id = after.wa_id
    if after.bsuid and bsuid in {before.bsuid, None}:
        bsuid = after.bsuid
    if after.phone and (phone is None or _number(phone) == _number(before.phone)):
        phone = _known_by_both(after.phone, phone)
    return replace(person, phone=phone, wa_id=wa_id, bsuid=bsuid)


def _number(phone: Phone | None) -> str | None:
    return phone.e164 if phone else None


def _known_by_both(phone: Phone, before: Phone | None) -> Phone:
    """The old number leads to the same contact still."""
    old = () if before is None else (before.e164, *before.variants)
    return replace(phone, variants=tuple(dict.fromkeys((*phone.variants, *filter(None, old)))))
