"""Where a person stands: every payload is read once, so that nothing rests on what was bound or indexed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake import kept, lead_schema
from intake.db import Conn
from intake.forgetting.person import Person, text_of
from intake.kept import Broken
from intake.lead_schema import NotALead
from intake.sealing import Seal, Sealed

Told = Callable[[int, int], object]
PAGE: Final = 300


@dataclass(slots=True)
class Found:
    """`mentions`: events of others whose words name this person; they are not erased.  `unopened`: sealed bodies."""

    events: set[UUID] = field(default_factory=set)
    receipts: set[UUID] = field(default_factory=set)
    refused: set[UUID] = field(default_factory=set)
    answers: set[int] = field(default_factory=set)
    decisions: set[int] = field(default_factory=set)
    mentions: set[UUID] = field(default_factory=set)
    names: set[str] = field(default_factory=set, repr=False)
    unopened: int = 0


@dataclass(frozen=True, slots=True)
class _Body:
    body_id: int
    what: Literal["lead", "raw", "sealed", "answer"]
    event_id: UUID | None
    receipt_id: UUID | None
    content: bytes = field(repr=False)


# Raw bytes of events are found by their events; those that gave none, by their words.
BODIES: Final = """
    SELECT b.body_id, b.what, b.event_id, b.receipt_id, b.content
      FROM bodies b LEFT JOIN events e ON e.event_id = b.event_id LEFT JOIN receipts r ON r.receipt_id = b.receipt_id
     WHERE b.body_id > %(after)s AND b.content IS NOT NULL AND b.what IN ('lead', 'raw', 'sealed', 'answer')
       AND (b.event_id IS NULL OR e.received_at <= %(until)s)
       AND (b.receipt_id IS NULL OR r.received_at <= %(until)s)
       AND NOT (b.what = 'raw' AND EXISTS (SELECT FROM events o WHERE o.receipt_id = b.receipt_id))
     ORDER BY b.body_id LIMIT %(page)s
"""
LAST: Final = "SELECT coalesce(max(body_id), 0) FROM bodies"


def find(conn: Conn, person: Person, seal: Seal, *, until: datetime, told: Told) -> Found:
    """Everything of this person that came until then.  `told` hears how far it is."""
    found = Found()
    with conn.cursor(row_factory=scalar_row) as cursor:
        last = int(cursor.execute(LAST).fetchone() or 0)
    for body in _bodies(conn, until):
        told(body.body_id, last)
        _look(body, person, seal, found)
    found.events |= _emptied(conn, person, until)
    found.mentions -= found.events
    _receipts(conn, found)
    _decisions(conn, person, found)
    return found


def _bodies(conn: Conn, until: datetime) -> Iterator[_Body]:
    after = 0
    with conn.cursor(row_factory=class_row(_Body)) as cursor:
        while page := cursor.execute(BODIES, {"after": after, "until": until, "page": PAGE}).fetchall():
            yield from page
            after = page[-1].body_id


def _look(body: _Body, person: Person, seal: Seal, found: Found) -> None:
    match body.what:
        case "lead":
            _lead(body, person, found)
        case "sealed":
            _sealed(body, person, seal, found)
        case "raw" if body.receipt_id and person.is_named_in(text_of(body.content)):
            found.receipts.add(body.receipt_id)
        case "answer" if person.is_named_in(text_of(body.content)):
            found.answers.add(body.body_id)
        case _:
            pass


def _lead(body: _Body, person: Person, found: Found) -> None:
    assert body.event_id is not None  # noqa: S101  # a CHECK of the table
    try:
        contact = lead_schema.load(body.content).contact
    except NotALead:
        contact = None
    if contact is not None and person.is_contact(contact):
        found.events.add(body.event_id)
        found.names |= {each for each in (contact.name, contact.document, contact.username, contact.bsuid) if each}
    elif person.is_named_in(text_of(body.content)):
        found.mentions.add(body.event_id)


def _sealed(body: _Body, person: Person, seal: Seal, found: Found) -> None:
    assert body.receipt_id is not None  # noqa: S101
    try:
        post = kept.unpack(seal.open(body.content)).post
    except (Sealed, Broken):
        found.unopened += 1
        return
    if person.is_named_in(text_of(post.body)):
        found.refused.add(body.receipt_id)


# Whose contents went by age, or at an earlier forgetting: no lead tells whose they are, but their contact's keys do.
# What the CRM answered since about their records goes with them.
EMPTIED: Final = """
    SELECT DISTINCT d.event_id FROM contact_keys k
      JOIN deliveries d ON d.contact_record = k.record_id JOIN events e USING (event_id)
     WHERE k.key = ANY(%(keys)s) AND e.received_at <= %(until)s
       AND NOT EXISTS (SELECT FROM bodies b WHERE b.event_id = e.event_id AND b.what = 'lead' AND b.content IS NOT NULL)
"""


def _emptied(conn: Conn, person: Person, until: datetime) -> set[UUID]:
    with conn.cursor(row_factory=scalar_row) as cursor:
        return set(cursor.execute(EMPTIED, {"keys": list(person.keys), "until": until}).fetchall())


RECEIPTS: Final = """
    SELECT receipt_id FROM events WHERE event_id = ANY(%(events)s)
     UNION SELECT receipt_id FROM items WHERE event_id = ANY(%(events)s) AND receipt_id IS NOT NULL
"""
TEXTS: Final = """
    SELECT decision_id, event_id = ANY(%(events)s) AS of_person, reason || ' ' || detail::text AS text FROM decisions
     WHERE decision_id > %(after)s ORDER BY decision_id LIMIT 1000
"""


def _receipts(conn: Conn, found: Found) -> None:
    """Also those of other content under their identities."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        found.receipts |= set(cursor.execute(RECEIPTS, {"events": list(found.events)}).fetchall())


@dataclass(frozen=True, slots=True)
class _Text:
    decision_id: int
    of_person: bool | None
    text: str = field(repr=False)


def _decisions(conn: Conn, person: Person, found: Found) -> None:
    """Decisions whose words name them: by number or address anywhere, by name where the event is theirs."""
    names = [name.casefold() for name in found.names]
    after = 0
    with conn.cursor(row_factory=class_row(_Text)) as cursor:
        while page := cursor.execute(TEXTS, {"events": list(found.events), "after": after}).fetchall():
            after = page[-1].decision_id
            for row in page:
                by_name = bool(row.of_person) and any(name in row.text.casefold() for name in names)
                if by_name or person.is_named_in(row.text):
                    found.decisions.add(row.decision_id)
