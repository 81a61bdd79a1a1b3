"""Which contact of the CRM a person is, said by a person: the keys of the lead lead to that one from then on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake import (
    contacts,
    decided,
    installation,
    merging,
    naming,
    person_arrows,
    records,
    remaking,
    revisions,
)
from intake.attempts import Patience
from intake.contacts import ContactKey
from intake.db import Conn
from intake.decided import Author, Refused
from intake.identity import Mode, record_reference
from intake.naming import Scope
from intake.permitted import View


@dataclass(frozen=True, slots=True)
class _Delivery:
    mode: Mode
    destination: str
    need: str  # the stem of its references


DELIVERY = """
    SELECT d.mode, d.destination, n.reference AS need FROM deliveries d JOIN needs n USING (need_id)
     WHERE d.event_id = %(event_id)s ORDER BY d.generation DESC LIMIT 1
"""


def settle_contact(conn: Conn, author: Author, event_id: UUID, crm_id: str) -> None:
    """This contact of the CRM is the person; it need not bear a reference of ours.  The caller saw that it lives.

    Raises Refused, NotAllowed, LookupError.
    """
    with conn.transaction():
        seen = decided.allowed(conn, event_id, "settle contact")
        about = decided.about(conn, seen)
        with conn.cursor(row_factory=class_row(_Delivery)) as cursor:
            delivery = cursor.execute(DELIVERY, {"event_id": event_id}).fetchone()
        if delivery is None:
            raise LookupError(f"delivery of event {event_id}")
        scope = Scope(delivery.destination, delivery.mode, Patience().lease)
        keys = _keys(conn, seen, delivery.mode)
        chosen = merging.known_as(conn, scope, "contact", crm_id) if keys else None
        if chosen is None:
            chosen = _record(conn, scope, seen, delivery)
            if not records.know(conn, chosen, crm_id=crm_id, how="settled_unverified"):
                raise Refused("no_such_contact", seen.event.state)
        moved = contacts.rebind(conn, scope, keys, chosen)
        person_arrows.revive(conn, event_id, about.generation)
        decided.note(conn, author, "settle contact", about, crm_id=crm_id, keys_moved=moved)


def _keys(conn: Conn, seen: View, mode: Mode) -> Sequence[ContactKey]:
    newest = revisions.newest(conn, seen.event.event_id)
    if newest is None or newest.lead is None:
        raise Refused("purged", seen.event.state)
    return contacts.keys_of(newest.lead.contact, mode, installation.read(conn).key)


CHOICES = """
    SELECT DISTINCT r.crm_id FROM contact_keys k JOIN records r ON r.record_id = newest_record(k.record_id)
     WHERE k.destination = %(destination)s AND k.mode = %(mode)s AND k.key = ANY(%(keys)s) AND r.crm_id IS NOT NULL
     ORDER BY r.crm_id
"""


def choices(conn: Conn, seen: View) -> list[str]:
    """The ids in the CRM of the contacts that the details of an event lead to; [] once it was purged."""
    try:
        keys = _keys(conn, seen, seen.event.mode)
    except Refused:
        return []
    given = {"destination": seen.destination, "mode": seen.event.mode, "keys": [each.key for each in keys]}
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(CHOICES, given).fetchall()


def _record(conn: Conn, scope: Scope, seen: View, delivery: _Delivery) -> int:
    """A record that may still become this contact: the delivery's own, its successor, or one of the need."""
    own = seen.record("contact")
    if own is not None and own.state == "none":
        return own.record_id
    if own is not None and own.state == "gone":
        new = naming.name(conn, scope, "contact", remaking.next_reference(own.reference))
        naming.replace(conn, own.record_id, new)
        return new
    return naming.name(conn, scope, "contact", record_reference(delivery.need, "contact"))
