"""Whose a lead is: the contact that its details lead to, and what becomes of it where that is not certain.

settled by a person → that one · keys of ours → the contact that they are bound to · else the CRM is asked (`ensure`)
several → `contacts.several` · one, by a telephone alone, and of another name → `contacts.other_name`
Whatever the rules say, a person gets an open item.  Contacts are never merged here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from psycopg.rows import scalar_row

from crm_clients import answers
from crm_clients.abilities import NamesPeople
from crm_clients.base import ContactDraft, Seen
from crm_clients.transport import Answered
from intake import contacts, items, lead_schema, naming, records, siblings
from intake.contacts import AmbiguousContact, ContactKey, Met
from intake.db import Conn, transaction
from intake.deliveries import Claim
from intake.identity import record_reference
from intake.lead import NUMBER_CHANGED, Contact
from intake.names import is_other
from intake.naming import Scope
from intake.records import Record
from workers import calls, sending
from workers.desk import Desk, Wired
from workers.drafts import NAMELESS
from workers.standing import ForPerson
from workers.work import Work
from workers.writing import Step, Whose

SEVERAL: Final = "contact_ambiguous"
OTHER_NAME: Final = "contact_other_name"

# How we came to know contacts that stood in the CRM before.  Nothing of them is written: what the lead says of the
# person stands elsewhere.
THEIRS: Final = frozenset({"adopted", "settled_unverified"})

# What an adviser reads of a contact that stood there before: what the lead says of the person stands here alone.
NOT_OURS: Final = "contact_existed"


@dataclass(frozen=True, slots=True)
class Named:
    """The contact record of a lead."""

    record_id: int
    whose: Whose


@dataclass(frozen=True, slots=True)
class _Person:
    """One lead's person, and what is known of them.  `name` None: no name that could be compared."""

    held: Claim
    scope: Scope
    reference: str
    name: str | None
    by_phone: tuple[ContactKey, ...]
    by_else: tuple[ContactKey, ...]
    met: Met

    @property
    def keys(self) -> tuple[ContactKey, ...]:
        return tuple({each.key: each for each in (*self.by_phone, *self.by_else)}.values())


def name_contact(desk: Desk, held: Claim, work: Work) -> Named | ForPerson:
    """The contact record of this person; one who left no details, or none of their own, is a contact of their own."""
    person = _person(desk, held, work)
    shared = None if person.name is None else _shared_with(desk, person)
    if shared is None:
        return _named(desk, person, person.keys, Whose(person.name))
    rule = desk.wired[held.destination].destination.contacts.other_name
    is_known = bool(person.met.by_else)
    if rule == "new":
        # Once they have a contact of their own, the telephone asks nobody again.
        alone = Whose(person.name, by_phone=False)
        return _named(desk, person, person.by_else, alone, wonder=None if is_known else OTHER_NAME)
    if is_known:
        return _named(desk, person, person.keys, Whose(person.name))
    if rule == "review":
        return ForPerson(OTHER_NAME)
    return _named(desk, person, person.keys, Whose(None), wonder=OTHER_NAME)


def _person(desk: Desk, held: Claim, work: Work) -> _Person:
    """What a person said of this lead's contact is asked no more."""
    who, key = work.lead.contact, desk.installation.key
    scope = desk.scope(held.destination, held.mode)
    by_phone = contacts.keys_of(replace(who, email=None, bsuid=None), work.mode, key)
    by_else = contacts.keys_of(replace(who, phone=None, wa_id=None), work.mode, key)
    with desk.pool.connection() as conn:
        met = contacts.met(conn, held, scope, by_phone=by_phone, by_else=by_else)
    name = None if met.settled or work.kind == "whatsapp" else who.name
    return _Person(held, scope, record_reference(work.reference, "contact"), name, by_phone, by_else, met)


def _named(
    desk: Desk, person: _Person, keys: Sequence[ContactKey], whose: Whose, *, wonder: str | None = None
) -> Named | ForPerson:
    with transaction(desk.pool) as conn:
        try:
            record_id = contacts.bind(conn, person.scope, keys) if keys else _own(conn, person)
        except AmbiguousContact:
            if desk.wired[person.held.destination].destination.contacts.several == "review":
                return ForPerson(SEVERAL)
            record_id, wonder = _own(conn, person), SEVERAL
        siblings.link(conn, person.held, "contact", record_id)
        if wonder is not None and not person.met.said:
            _ask_a_person(conn, record_id, wonder, person.held)
    return Named(record_id, whose)


def _own(conn: Conn, person: _Person) -> int:
    return naming.name(conn, person.scope, "contact", person.reference)


def _ask_a_person(conn: Conn, record_id: int, reason: str, held: Claim, **evidence: object) -> None:
    items.open_incident(conn, record_id, reason=reason, event_id=held.event_id, evidence=evidence)


# Of what came later, and has had another number since.
MOVED_ON = """
    SELECT b.content FROM deliveries d JOIN events e USING (event_id)
      JOIN LATERAL (SELECT content FROM bodies WHERE event_id = d.event_id AND what = 'lead'
                     ORDER BY revision DESC LIMIT 1) b ON true
     WHERE d.contact_record = %(record_id)s AND b.content IS NOT NULL
       AND e.received_at > (SELECT received_at FROM events WHERE event_id = %(event_id)s)
     ORDER BY e.received_at DESC LIMIT 20
"""


def has_moved_on(desk: Desk, held: Claim, record_id: int, number: str | None) -> bool:
    """Whether a later lead of this contact says that this number has become another: it is not written back."""
    with desk.pool.connection() as conn, conn.cursor(row_factory=scalar_row) as cursor:
        given = {"record_id": record_id, "event_id": held.event_id}
        leads: list[bytes] = cursor.execute(MOVED_ON, given).fetchall()
    moved = [lead for each in leads if NUMBER_CHANGED in (lead := lead_schema.load(each)).flags]
    return any(lead.contact.phone is not None and number in lead.contact.phone.variants for lead in moved)


def had_number(person: Contact, number: str | None) -> bool:
    """Whether this is one that the person has or had, as far as the lead tells: people may have merged two contacts."""
    if not number or person.phone is None:
        return True
    return any(answers.is_same_phone(number, each or "") for each in (person.phone.e164, *person.phone.variants))


# --- a telephone that two people have ---------------------------------------------------------------------------------


def _shared_with(desk: Desk, person: _Person) -> int | None:
    """The contact that the telephone alone leads to, if it has another name; None: there is none, or no certainty."""
    phones, others = person.met.by_phone, person.met.by_else
    if len(phones) != 1 or len(others) > 1 or phones == others or not _is_of_other(desk, person, phones[0]):
        return None
    return None if others and _is_of_other(desk, person, others[0]) else phones[0]


# Names that people typed, as far as they were not purged.  Those of WhatsApp profiles are whatever somebody likes to be
# called.
LEADS = """
    SELECT b.content FROM deliveries d JOIN events e USING (event_id)
      JOIN LATERAL (SELECT content FROM bodies WHERE event_id = d.event_id AND what = 'lead'
                     ORDER BY revision DESC LIMIT 1) b ON true
     WHERE d.contact_record = %(record_id)s AND d.event_id <> %(event_id)s AND e.kind <> 'whatsapp'
       AND b.content IS NOT NULL
     ORDER BY d.received_at DESC LIMIT 20
"""


def _is_of_other(desk: Desk, person: _Person, record_id: int) -> bool:
    """By the names under which its people wrote to us; a contact that people made is called in the CRM what they say.

    One that we made of a WhatsApp profile has that name there, too, which tells nothing.
    """
    given = {"record_id": record_id, "event_id": person.held.event_id}
    with desk.pool.connection() as conn:
        with conn.cursor(row_factory=scalar_row) as cursor:
            leads: list[bytes] = cursor.execute(LEADS, given).fetchall()
        record = records.read(conn, record_id)
    known = [name for each in leads if (name := lead_schema.load(each).contact.name)]
    if not known and record.crm_id is not None and record.how in THEIRS:
        called = _called(desk, desk.wired[person.held.destination], record.crm_id)
        known = [called] if called else []
    return bool(known) and all(is_other(person.name, each) for each in known)


def _called(desk: Desk, wired: Wired, crm_id: str) -> str | None:
    """How the CRM calls a contact; None: it does not tell, or what stands there is what we put for want of a name."""
    client = wired.client
    if not isinstance(client, NamesPeople):
        return None
    sent = sending.look(desk, wired, client.asks_name(crm_id), must=True)
    if not isinstance(sent, Answered) or not answers.succeeded(sent.response):
        return None
    name = client.name_in(sent.response)
    return None if name is None or name == NAMELESS or "@" in name else name


# --- contacts that stand in the CRM without a reference of ours -------------------------------------------------------


def adopts(desk: Desk, step: Step, record: Record, seen: Seen) -> bool | ForPerson:
    """Whether the one contact that was found is the step's person; False: they get one of their own."""
    wired, name = desk.wired[record.destination], step.whose.name
    if name is None or not is_other(name, _called(desk, wired, seen.crm_id)) or _is_by_email(desk, wired, step, seen):
        return True
    rule = wired.destination.contacts.other_name
    if rule == "review":
        return ForPerson(OTHER_NAME)
    _wonder(desk, step, record, OTHER_NAME, [seen])
    return rule == "adopt"


def of_several(desk: Desk, step: Step, record: Record, seen: Sequence[Seen]) -> ForPerson | None:
    """What becomes of a person who may be any of these contacts; None: they get one of their own."""
    if desk.wired[record.destination].destination.contacts.several == "review":
        return ForPerson(SEVERAL)
    _wonder(desk, step, record, SEVERAL, seen)
    return None


def _is_by_email(desk: Desk, wired: Wired, step: Step, seen: Seen) -> bool:
    """An address is a person's own, as a telephone is not."""
    if not isinstance(step.draft, ContactDraft) or step.draft.email is None:
        return False
    matched = calls.matches(desk, wired, replace(step.draft, phone=None))
    return isinstance(matched, tuple) and any(each.crm_id == seen.crm_id for each in matched)


def _wonder(desk: Desk, step: Step, record: Record, reason: str, seen: Sequence[Seen]) -> None:
    with transaction(desk.pool) as conn:
        _ask_a_person(conn, record.record_id, reason, step.held, crm_ids=[each.crm_id for each in seen])
