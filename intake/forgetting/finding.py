"""Where people stand: every payload is read, once for all of them, so that nothing rests on what was bound before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row, tuple_row

from intake import at_rest, kept, lead_schema
from intake.at_rest import Lost
from intake.db import Conn
from intake.forgetting import glance
from intake.forgetting.people import People, text_of
from intake.kept import Broken
from intake.lead_schema import NotALead
from intake.sealing import Seal, Sealed

Told = Callable[[int, int], object]
PAGE: Final = 300


@dataclass(slots=True)
class Found:
    """Of one person.  `mentions`: events of others whose words name this person; they are not erased.

    `unopened`: bodies that no key opens, and leads that nobody can read, which may be of anybody.
    """

    events: set[UUID] = field(default_factory=set)
    receipts: set[UUID] = field(default_factory=set)
    refused: set[UUID] = field(default_factory=set)
    answers: set[int] = field(default_factory=set)
    decisions: set[int] = field(default_factory=set)
    mentions: set[UUID] = field(default_factory=set)
    names: set[str] = field(default_factory=set, repr=False)
    unopened: int = 0


@dataclass(frozen=True, slots=True)
class Body:
    """`at`: when it came, None: it hangs on an attempt, and is asked for whenever it came."""

    body_id: int
    what: Literal["lead", "raw", "sealed", "answer"]
    event_id: UUID | None
    receipt_id: UUID | None
    at: datetime | None
    content: bytes = field(repr=False)


# Raw bytes of events are found by their events; those that gave none, by their words.
BODIES: Final = """
    SELECT b.body_id, b.what, b.event_id, b.receipt_id, greatest(e.received_at, r.received_at) AS at, b.content
      FROM bodies b LEFT JOIN events e ON e.event_id = b.event_id LEFT JOIN receipts r ON r.receipt_id = b.receipt_id
     WHERE b.body_id > %(after)s AND b.content IS NOT NULL AND b.what IN ('lead', 'raw', 'sealed', 'answer')
       AND (b.event_id IS NULL OR e.received_at <= %(until)s)
       AND (b.receipt_id IS NULL OR r.received_at <= %(until)s)
       AND NOT (b.what = 'raw' AND EXISTS (SELECT FROM events o WHERE o.receipt_id = b.receipt_id))
     ORDER BY b.body_id LIMIT %(page)s
"""
LAST: Final = "SELECT coalesce(max(body_id), 0) FROM bodies"


def find(conn: Conn, people: People, seal: Seal, *, told: Told) -> list[Found]:
    """Everything of each of these people (at least one) that came until their time.  `told` hears how far it is."""
    found = [Found() for _ in people.until]
    with conn.cursor(row_factory=scalar_row) as cursor:
        last = int(cursor.execute(LAST).fetchone() or 0)
    for page in _pages(conn, max(people.until)):
        told(page[0].body_id, last)
        for body in page:
            look(body, people, seal, found)
    _emptied(conn, people, found)
    for each in found:
        each.mentions -= each.events
    of_whom = _by_event(found)
    _receipts(conn, of_whom)
    _decisions(conn, people, found, of_whom)
    return found


def _pages(conn: Conn, until: datetime) -> Iterator[list[Body]]:
    after = 0
    with conn.cursor(row_factory=class_row(Body)) as cursor:
        at_rest.sparing(cursor)
        while page := cursor.execute(BODIES, {"after": after, "until": until, "page": PAGE}).fetchall():
            yield page
            after = page[-1].body_id


def look(body: Body, people: People, seal: Seal, found: Sequence[Found]) -> None:
    """Note a body with those whose it is, or who are named in it."""
    match body.what:
        case _ if isinstance(body.content, Lost):
            _unopened(body, people, found)
        case "lead":
            _lead(body, people, found)
        case "sealed":
            _sealed(body, people, seal, found)
        case "raw" if body.receipt_id:
            for one in people.named_in(text_of(body.content), body.at):
                found[one].receipts.add(body.receipt_id)
        case "answer":
            for one in people.named_in(text_of(body.content), body.at):
                found[one].answers.add(body.body_id)
        case _:
            pass


def _lead(body: Body, people: People, found: Sequence[Found]) -> None:
    assert body.event_id is not None  # noqa: S101  # a CHECK of the table
    if not body.content.startswith(b"{"):  # Not even a part of what was written can be read.
        _unopened(body, people, found)
    named = people.named_in(text_of(body.content), body.at)
    theirs = _asking(body, people, found) if people.with_contact(glance.contact_of(body.content), body.at) else set()
    for one in theirs:
        found[one].events.add(body.event_id)
    for one in named - theirs:
        found[one].mentions.add(body.event_id)


def _asking(body: Body, people: People, found: Sequence[Found]) -> set[int]:
    """Who is the contact of a lead, whose other names are noted; nobody, where it is no lead."""
    try:
        contact = lead_schema.load(body.content).contact
    except NotALead:
        return set()
    theirs = people.with_contact(contact, body.at)
    for one in theirs:
        found[one].names |= {each for each in (contact.name, contact.document, contact.username, contact.bsuid) if each}
    return theirs


def _sealed(body: Body, people: People, seal: Seal, found: Sequence[Found]) -> None:
    assert body.receipt_id is not None  # noqa: S101
    try:
        post = kept.unpack(seal.open(body.content)).post
    except (Sealed, Broken):
        _unopened(body, people, found)
        return
    for one in people.named_in(text_of(post.body), body.at):
        found[one].refused.add(body.receipt_id)


def _unopened(body: Body, people: People, found: Sequence[Found]) -> None:
    for one in people.everybody(body.at):
        found[one].unopened += 1


# Whose contents went by age, or at an earlier forgetting: no lead tells whose they are, but their contact's keys do.
# What the CRM answered since about their records goes with them.
EMPTIED: Final = """
    SELECT DISTINCT k.key, d.event_id, e.received_at FROM contact_keys k
      JOIN deliveries d ON d.contact_record = k.record_id JOIN events e USING (event_id)
     WHERE k.key = ANY(%(keys)s) AND e.received_at <= %(until)s
       AND NOT EXISTS (SELECT FROM bodies b WHERE b.event_id = e.event_id AND b.what = 'lead' AND b.content IS NOT NULL)
"""


def _emptied(conn: Conn, people: People, found: Sequence[Found]) -> None:
    given = {"keys": list(people.whose), "until": max(people.until)}
    with conn.cursor(row_factory=tuple_row) as cursor:
        for key, event_id, at in cursor.execute(EMPTIED, given):
            for one in people.with_keys([key], at):
                found[one].events.add(event_id)


def _by_event(found: Sequence[Found]) -> dict[UUID, list[Found]]:
    """Each event with those whose it is: nearly always one."""
    of_whom: dict[UUID, list[Found]] = {}
    for each in found:
        for event_id in each.events:
            of_whom.setdefault(event_id, []).append(each)
    return of_whom


RECEIPTS: Final = """
    SELECT event_id, receipt_id FROM events WHERE event_id = ANY(%(events)s)
     UNION SELECT event_id, receipt_id FROM items WHERE event_id = ANY(%(events)s) AND receipt_id IS NOT NULL
"""
TEXTS: Final = """
    SELECT decision_id, event_id, reason || ' ' || detail::text AS text FROM decisions
     WHERE decision_id > %(after)s ORDER BY decision_id LIMIT 1000
"""


def _receipts(conn: Conn, of_whom: Mapping[UUID, Sequence[Found]]) -> None:
    """Also those of other content under their identities."""
    with conn.cursor(row_factory=tuple_row) as cursor:
        for event_id, receipt_id in cursor.execute(RECEIPTS, {"events": list(of_whom)}):
            for each in of_whom[event_id]:
                each.receipts.add(receipt_id)


@dataclass(frozen=True, slots=True)
class _Text:
    decision_id: int
    event_id: UUID | None
    text: str = field(repr=False)


def _decisions(conn: Conn, people: People, found: Sequence[Found], of_whom: Mapping[UUID, Sequence[Found]]) -> None:
    """Decisions whose words name them: by number or address anywhere, by name where the event is theirs."""
    for row in _texts(conn):
        for one in people.named_in(row.text, None):
            found[one].decisions.add(row.decision_id)
        for each in of_whom.get(row.event_id, ()) if row.event_id else ():
            if any(name.casefold() in row.text.casefold() for name in each.names):
                each.decisions.add(row.decision_id)


def _texts(conn: Conn) -> Iterator[_Text]:
    after = 0
    with conn.cursor(row_factory=class_row(_Text)) as cursor:
        while page := cursor.execute(TEXTS, {"after": after}).fetchall():
            yield from page
            after = page[-1].decision_id
