"""One telephone, two names: under which names people wrote with the telephone of an event, side by side.

The names stand masked beside each other; unmasked they are shown with the rest of what the event says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from psycopg.rows import class_row

from intake import at_rest, contacts, installation, lead_schema, masked, revisions
from intake.db import Conn
from intake.identity import IdentityKey, Mode
from intake.lead import Contact
from intake.names import is_other
from intake.ops import EventRow

# Of the events of a telephone the latest so many are looked at.
MOST: Final = 50


@dataclass(frozen=True, slots=True)
class Namesake:
    """One name, and what came under it, the latest first.  `crm_ids`: the contacts in the CRM that it led to."""

    name: str = field(repr=False)
    masked: str
    events: Sequence[UUID]
    last_at: datetime
    crm_ids: Sequence[str]
    is_own: bool


@dataclass(frozen=True, slots=True)
class _Wrote:
    event_id: UUID
    received_at: datetime
    crm_id: str | None
    content: bytes = field(repr=False)


# Names that people typed: those of WhatsApp profiles are whatever somebody likes to be called.
WROTE: Final = """
    WITH people AS (SELECT record_id FROM contact_keys
                     WHERE mode = %(mode)s AND key = ANY(%(keys)s)),
         known AS (SELECT DISTINCT event_id FROM (
                     (SELECT event_id, received_at FROM deliveries
                       WHERE contact_record IN (SELECT record_id FROM people) ORDER BY received_at DESC LIMIT %(most)s)
                     UNION ALL SELECT %(event_id)s, NULL) AS x)
    SELECT e.event_id, e.received_at, r.crm_id, b.content
      FROM known k
      CROSS JOIN LATERAL (SELECT * FROM events WHERE event_id = k.event_id LIMIT 1) e
      CROSS JOIN LATERAL (SELECT contact_record FROM deliveries WHERE event_id = e.event_id
                           ORDER BY generation DESC LIMIT 1) d
      CROSS JOIN LATERAL (SELECT content FROM bodies WHERE event_id = e.event_id AND what = 'lead'
                           ORDER BY revision DESC LIMIT 1) b
      LEFT JOIN records r ON r.record_id = newest_record(d.contact_record)
     WHERE e.kind <> 'whatsapp' AND b.content IS NOT NULL
     ORDER BY e.received_at DESC, e.event_id
"""


def namesakes(conn: Conn, event: EventRow) -> list[Namesake]:
    """The names, this event's first; [] where its telephone is of one name, or it has none."""
    own = revisions.legible(conn, event.event_id)
    if own is None or event.kind == "whatsapp":
        return []
    mode: Mode = "test" if event.mode == "test" else "live"
    key = installation.read(conn).key
    phone = _of_phone(own.contact, mode, key)
    found: list[Namesake] = []
    for each in sorted(_wrote(conn, event, phone), key=lambda one: one.event_id != event.event_id):
        lead = lead_schema.legible(each.content)
        contact = lead.contact if lead else Contact()
        if contact.name and phone & _of_phone(contact, mode, key):  # A contact may have another telephone, too.
            _add(found, contact.name, each, is_own=each.event_id == event.event_id)
    return found if len(found) > 1 and found[0].is_own else []


def _of_phone(contact: Contact, mode: Mode, key: IdentityKey) -> frozenset[bytes]:
    return frozenset(each.key for each in contacts.keys_of(replace(contact, email=None, bsuid=None), mode, key))


def _wrote(conn: Conn, event: EventRow, phone: frozenset[bytes]) -> Iterable[_Wrote]:
    given = {"event_id": event.event_id, "mode": event.mode, "keys": list(phone), "most": MOST}
    with conn.cursor(row_factory=class_row(_Wrote)) as cursor:
        at_rest.sparing(cursor)
        return cursor.execute(WROTE, given).fetchall() if phone else []


def _add(found: list[Namesake], name: str, wrote: _Wrote, *, is_own: bool) -> None:
    """To the name that it may be another form of, else as one more."""
    ids = [wrote.crm_id] if wrote.crm_id else []
    for at, each in enumerate(found):
        if not is_other(each.name, name):
            found[at] = replace(
                each,
                events=[*each.events, wrote.event_id],
                last_at=max(each.last_at, wrote.received_at),
                crm_ids=list(dict.fromkeys((*each.crm_ids, *ids))),
            )
            return
    found.append(Namesake(name, masked.initials(name), [wrote.event_id], wrote.received_at, ids, is_own))
