"""A contact is known by a set of keys: phone variants, e-mail, WhatsApp ids.

Two leads with overlapping keys are one contact.  In one short transaction all keys are locked, in sorted order, and
bound to one contact record; from then on the record's state is the lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import LiteralString

from psycopg.rows import class_row, scalar_row

from intake import siblings
from intake.db import Conn
from intake.deliveries import Claim
from intake.identity import IdentityKey, Mode, prefix, record_reference, short
from intake.lead import Contact
from intake.naming import Scope, name


@dataclass(frozen=True, slots=True)
class ContactKey:
    """One id of a person, as an HMAC, and the reference that a contact first named by it bears."""

    key: bytes = field(repr=False)
    reference: str


def keys_of(contact: Contact, mode: Mode, key: IdentityKey) -> tuple[ContactKey, ...]:
    """The keys of a person, the strongest first; () for one who left neither phone nor e-mail nor WhatsApp id."""
    return tuple(
        ContactKey(digest, record_reference(prefix(mode) + "c" + short(digest), "contact"))
        for digest in digests_of(contact, key)
    )


def digests_of(contact: Contact, key: IdentityKey) -> list[bytes]:
    """The keys of a person without the references, for who only wants to know them again."""
    return list(dict.fromkeys(key.mac("contact", *each) for each in _ids(contact)))


def _ids(contact: Contact) -> Iterator[tuple[str, str]]:
    # A WhatsApp id is a phone number with its country code: the form and the message of one person meet here.
    if contact.wa_id:
        yield "phone", "+" + contact.wa_id
    if contact.phone:
        yield from (("phone", each) for each in (contact.phone.e164, *contact.phone.variants) if each)
    if contact.bsuid:
        yield "bsuid", contact.bsuid
    if contact.email:
        yield "email", contact.email.casefold()


class AmbiguousContact(Exception):
    """The keys of this person are bound to more than one contact: a person must say which."""

    def __init__(self, record_ids: Sequence[int]) -> None:
        super().__init__(f"contact keys are bound to records {sorted(record_ids)}")
        self.record_ids = tuple(sorted(record_ids))


# Advisory locks in sorted order: two leads with overlapping sets of keys queue up here instead of deadlocking.
LOCK_KEYS = """
    SELECT pg_advisory_xact_lock(hashtextextended(%(scope)s || encode(key, 'hex'), 0))
      FROM (SELECT key FROM unnest(%(keys)s::bytea[]) AS key ORDER BY key) AS sorted
"""


def _bound_to(keys: LiteralString) -> LiteralString:
    # OFFSET 0 has each key looked up, also by a plan that PostgreSQL before 17 made while there were few, and keeps.
    return f"""
        SELECT DISTINCT k.record_id FROM unnest({keys}::bytea[]) AS wanted (key)
               CROSS JOIN LATERAL (
               SELECT record_id FROM contact_keys
                WHERE destination = %(destination)s AND mode = %(mode)s AND key = wanted.key OFFSET 0) AS k
         ORDER BY k.record_id
    """  # noqa: S608  # keys of ours


BOUND_TO = _bound_to("%(keys)s")
BIND = """
    INSERT INTO contact_keys (destination, mode, key, reference, record_id)
    SELECT %(destination)s, %(mode)s, key, reference, %(record_id)s
      FROM unnest(%(keys)s::bytea[], %(references)s::text[]) AS known (key, reference)
    ON CONFLICT DO NOTHING
"""


MET = f"""
    SELECT whose.*, ARRAY({_bound_to("%(by_phone)s")}) AS by_phone, ARRAY({_bound_to("%(by_else)s")}) AS by_else
      FROM ({siblings.WHOSE}) AS whose
"""  # noqa: S608  # statements of ours


@dataclass(frozen=True, slots=True)
class Met:
    """What is known of an event's person: `said` and `settled` as of `siblings.WHOSE`, and the records that the keys of
    their telephone, and those of all else, lead to just now, in order."""

    said: bool
    settled: bool
    by_phone: list[int]
    by_else: list[int]


def met(conn: Conn, held: Claim, scope: Scope, *, by_phone: Sequence[ContactKey], by_else: Sequence[ContactKey]) -> Met:
    """All of it in one question."""
    given = {
        "event_id": held.event_id,
        "destination": scope.destination,
        "mode": scope.mode,
        "by_phone": [each.key for each in by_phone],
        "by_else": [each.key for each in by_else],
    }
    with conn.cursor(row_factory=class_row(Met)) as cursor:
        (found,) = cursor.execute(MET, given).fetchall()
    return found


def bind(conn: Conn, scope: Scope, keys: Sequence[ContactKey]) -> int:
    """The one contact record of all these keys (at least one, the strongest first); returns its record_id.

    Belongs in a transaction, which holds the locks.  Raises AmbiguousContact where they are bound to two; nothing was
    written then.
    """
    wanted = {"destination": scope.destination, "mode": scope.mode, "keys": [each.key for each in keys]}
    with conn.cursor(row_factory=scalar_row) as cursor:
        cursor.execute(LOCK_KEYS, wanted | {"scope": f"contact {scope.destination} {scope.mode} "})
        bound: list[int] = cursor.execute(BOUND_TO, wanted).fetchall()
        if len(bound) > 1:
            raise AmbiguousContact(bound)
        record_id = bound[0] if bound else name(conn, scope, "contact", keys[0].reference)
        cursor.execute(BIND, wanted | {"references": [each.reference for each in keys], "record_id": record_id})
    return record_id


# The contact that a need's opportunity is of.
OF_NEED = """
    SELECT r.record_id FROM deliveries d JOIN records r ON r.record_id = d.contact_record
     WHERE d.need_id = %(need_id)s AND r.state = 'known'
     ORDER BY d.generation DESC, d.received_at LIMIT 1
"""


def learn(conn: Conn, scope: Scope, keys: Sequence[ContactKey], need_id: int) -> None:
    """What a person of this need is also known by leads to the same contact, unless it leads to another already."""
    wanted = {"destination": scope.destination, "mode": scope.mode, "keys": [each.key for each in keys]}
    with conn.transaction(), conn.cursor(row_factory=scalar_row) as cursor:
        record_id: int | None = cursor.execute(OF_NEED, {"need_id": need_id}).fetchone()
        if record_id is None or not keys:
            return
        cursor.execute(LOCK_KEYS, wanted | {"scope": f"contact {scope.destination} {scope.mode} "})
        cursor.execute(BIND, wanted | {"references": [each.reference for each in keys], "record_id": record_id})


def follow(conn: Conn, scope: Scope, before: Sequence[ContactKey], after: Sequence[ContactKey]) -> int | None:
    """Whoever is known by the one is known by the other from now on, unless that leads to another contact already.

    Returns the contact's record_id, None: nobody is known by the one, or two are.
    """
    wanted = {"destination": scope.destination, "mode": scope.mode, "keys": [each.key for each in (*before, *after)]}
    with conn.transaction(), conn.cursor(row_factory=scalar_row) as cursor:
        cursor.execute(LOCK_KEYS, wanted | {"scope": f"contact {scope.destination} {scope.mode} "})
        bound: list[int] = cursor.execute(BOUND_TO, wanted | {"keys": [each.key for each in before]}).fetchall()
        if len(bound) != 1:
            return None
        named = {"keys": [each.key for each in after], "references": [each.reference for each in after]}
        cursor.execute(BIND, wanted | named | {"record_id": bound[0]})
        return bound[0]


REBIND = """
    INSERT INTO contact_keys AS k (destination, mode, key, reference, record_id)
    VALUES (%(destination)s, %(mode)s, %(key)s, %(reference)s, %(record_id)s)
    ON CONFLICT (destination, mode, key) DO UPDATE SET record_id = EXCLUDED.record_id
     WHERE k.record_id <> EXCLUDED.record_id
"""


def rebind(conn: Conn, scope: Scope, keys: Sequence[ContactKey], record_id: int) -> int:
    """A person says whose all these keys are.  Returns how many led to nobody, or to another, before."""
    wanted = {"destination": scope.destination, "mode": scope.mode, "keys": [each.key for each in keys]}
    with conn.transaction(), conn.cursor() as cursor:
        cursor.execute(LOCK_KEYS, wanted | {"scope": f"contact {scope.destination} {scope.mode} "})
        return sum(
            cursor.execute(
                REBIND, wanted | {"key": each.key, "reference": each.reference, "record_id": record_id}
            ).rowcount
            for each in keys
        )


REFERENCES = """
    SELECT reference FROM records WHERE record_id = %(record_id)s
    UNION SELECT reference FROM contact_keys WHERE record_id = %(record_id)s
    ORDER BY reference
"""


def references(conn: Conn, record_id: int) -> list[str]:
    """Every reference under which this record may stand in the CRM: for a contact, that of each of its keys."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(REFERENCES, {"record_id": record_id}).fetchall()
