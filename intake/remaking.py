"""Delivering again: what the CRM lost is made anew, and an event may become a second opportunity on purpose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake import decided, identity, naming, needs, person_arrows, records, revisions
from intake.attempts import Patience
from intake.db import Conn
from intake.decided import About, Author, Refused
from intake.deliveries import FINAL
from intake.identity import Mode
from intake.naming import Scope
from intake.permitted import View
from intake.records import RecordKind
from intake.trail import RecordRow

# --- redeliver ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Remade:
    """A record that is gone, and the reference under which it is made anew."""

    kind: RecordKind
    crm_id: str
    reference: str


def with_children(seen: Sequence[RecordRow], gone: Sequence[RecordRow]) -> list[RecordRow]:
    """Those that are gone, and what hangs on an opportunity that is: it would be made again on the new one."""
    if not any(each.kind == "opportunity" for each in gone):
        return list(gone)
    children = [each for each in seen if each.kind in {"task", "note"} and each.crm_id and each not in gone]
    return [*gone, *children]


def redeliver(conn: Conn, author: Author, event_id: UUID, gone: Sequence[RecordRow]) -> list[Remade]:
    """Make these records anew, which the CRM no longer shows, each under a reference of its own generation.

    What stands is kept.  A confirmed delivery gets a new generation, one in review goes on.  Raises Refused.
    """
    with conn.transaction():
        # Locked: two at once would make two generations, and a note for each of them.
        seen = decided.allowed(conn, event_id, "redeliver", lock=True)
        if not gone:
            raise Refused("nothing_gone", seen.event.state)
        lost = with_children(seen.records, gone)
        about = decided.about(conn, seen)
        if any(each.kind == "opportunity" for each in lost):
            _must_make_it(conn, seen, about)
        # What another event's redelivery replaced already has its new name, and is made by whoever comes first.
        remade = [_replaced(conn, each) for each in lost if each.crm_id]
        if seen.event.state == "confirmed":
            person_arrows.new_generation(conn, event_id, gated=False)
        else:
            person_arrows.revive(conn, event_id, about.generation)
        said = {each.kind: [each.crm_id, each.reference] for each in remade}
        stands = {each.kind: each.crm_id for each in seen.records if each.crm_id and each not in lost}
        decided.note(conn, author, "redeliver", about, gone=said, stands=stands)
        return remade


NEWER = """
    SELECT EXISTS (SELECT FROM deliveries d JOIN deliveries newer USING (need_id)
                    WHERE d.event_id = %(event_id)s AND d.generation = %(generation)s
                      AND newer.position > d.position AND newer.state = 'confirmed')
"""


def _must_make_it(conn: Conn, seen: View, about: About) -> None:
    """Raises Refused unless this is the event that would make its opportunity anew: the opener, or the last version."""
    if seen.part == "follow_up":
        raise Refused("opener_comes_first", seen.event.state)
    with conn.cursor(row_factory=scalar_row) as cursor:
        given = {"event_id": about.event_id, "generation": about.generation}
        if cursor.execute(NEWER, given).fetchone():
            raise Refused("newer_comes_first", seen.event.state)


GENERATION = re.compile(r"(.*?)(?:-g([0-9]{1,6}))?")


def next_reference(reference: str) -> str:
    """The reference of a record that is made anew in place of the one that bears this."""
    read = GENERATION.fullmatch(reference)
    assert read is not None  # noqa: S101  # it matches any line
    return f"{read[1]}-g{int(read[2] or 1) + 1}"


def first_reference(reference: str) -> str:
    """The reference of the record in place of which the one that bears this was made anew, else the same."""
    read = GENERATION.fullmatch(reference)
    return read[1] if read else reference


KEYS_FOLLOW = """
    UPDATE contact_keys
       SET record_id = %(new)s, reference = regexp_replace(reference, '-g[0-9]+$', '') || %(suffix)s
     WHERE record_id = %(old)s
"""


def _replaced(conn: Conn, lost: RecordRow) -> Remade:
    crm_id = lost.crm_id or ""
    records.gone(conn, lost.record_id, crm_id=crm_id)
    record = records.read(conn, lost.record_id)
    reference = next_reference(record.reference)
    new = naming.name(conn, Scope(record.destination, record.mode, Patience().lease), record.kind, reference)
    naming.replace(conn, lost.record_id, new)
    if record.kind == "contact":
        suffix = reference[reference.rindex("-g") :]
        conn.execute(KEYS_FOLLOW, {"new": new, "old": lost.record_id, "suffix": suffix})
    return Remade(record.kind, crm_id, reference)


# --- reissue --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Original:
    mode: Mode
    scope: str
    destination: str
    number: str


ORIGINAL = """
    SELECT e.mode, e.scope, n.destination,
           CASE split_part(n.key, ':', 1) WHEN 'number' THEN substr(n.key, 8)
                                          WHEN 'again' THEN split_part(n.key, ':', 3) ELSE '' END AS number
      FROM events e JOIN deliveries d USING (event_id) JOIN needs n USING (need_id)
     WHERE e.event_id = %(event_id)s ORDER BY d.generation DESC LIMIT 1
"""
REISSUES = """
    SELECT e.event_id, d.state FROM events e
      JOIN LATERAL (SELECT state FROM deliveries WHERE event_id = e.event_id ORDER BY generation DESC LIMIT 1) d ON true
     WHERE e.reissue_of = %(event_id)s ORDER BY e.received_at
"""
REISSUE = """
    INSERT INTO events (event_id, mode, source, scope, kind, request_id, version, minted, fingerprint, receipt_id,
                        occurred_at, reissue_of)
    SELECT %(new)s, mode, source, scope, kind, %(request_id)s, version, false, fingerprint, receipt_id, occurred_at,
           event_id
      FROM events WHERE event_id = %(event_id)s
"""
DELIVER_REISSUE = """
    INSERT INTO deliveries (event_id, need_id, part, position, mode, source, destination, assignee, state, reason,
                            due_at)
    SELECT %(new)s, %(need_id)s, 'opener', 0, mode, source, destination, assignee,
           CASE WHEN %(gated)s THEN 'awaiting_approval' ELSE 'received' END,
           CASE WHEN %(gated)s THEN 'approval_required' END,
           CASE WHEN NOT %(gated)s THEN clock_timestamp() END
      FROM deliveries WHERE event_id = %(event_id)s ORDER BY generation DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Reissue:
    """An event that was made of this one, and where its delivery stands."""

    event_id: UUID
    state: str


def reissues(conn: Conn, event_id: UUID) -> list[Reissue]:
    """What was opened of this event on purpose."""
    with conn.cursor(row_factory=class_row(Reissue)) as cursor:
        return cursor.execute(REISSUES, {"event_id": event_id}).fetchall()


REISSUE_OF = "SELECT reissue_of FROM events WHERE event_id = %(event_id)s"


def reissue_of(conn: Conn, event_id: UUID) -> UUID | None:
    """The event that this one was made of; None: it came by itself."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(REISSUE_OF, {"event_id": event_id}).fetchone()


def reissue(conn: Conn, author: Author, event_id: UUID, *, gated: bool) -> UUID:
    """Open a second opportunity of the same content, as an event of its own; returns its id.

    `gated`: the source wants each delivery approved.  Raises Refused.
    """
    with conn.transaction():
        seen = decided.allowed(conn, event_id, "reissue", lock=True)
        earlier = reissues(conn, event_id)
        if any(each.state not in FINAL for each in earlier):
            raise Refused("reissue_open", seen.event.state)
        content = revisions.newest(conn, event_id)
        if content is None or content.lead is None:
            raise Refused("purged", seen.event.state)
        with conn.cursor(row_factory=class_row(_Original)) as cursor:
            original = cursor.execute(ORIGINAL, {"event_id": event_id}).fetchone()
        if original is None:
            raise LookupError(f"delivery of event {event_id}")
        request_id = f"reissue-{len(earlier) + 1}:{event_id}"
        new = identity.event_id(original.mode, original.scope, request_id, None)
        conn.execute(REISSUE, {"new": new, "request_id": request_id, "event_id": event_id})
        revisions.keep(conn, new, 1, content.lead)
        place = needs.Place(original.mode, original.scope, original.destination)
        need_id = needs.of_reissue(conn, place, new, original.number)
        conn.execute(DELIVER_REISSUE, {"new": new, "need_id": need_id, "event_id": event_id, "gated": gated})
        about = decided.about(conn, seen)
        stands = {each.kind: each.crm_id for each in seen.records if each.crm_id}
        decided.note(conn, author, "reissue", about, reissued_as=str(new), stands=stands)
        decided.note(conn, author, "reissue", About(new), reissue_of=str(event_id))
    return new
