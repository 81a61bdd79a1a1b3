"""What a sender tells later of an event that stands: a new revision of it, and never a second lead.

    a later state (other content under its id) ─┬─> revision ─ not delivered yet → delivered as it is now
    news of it (canceled, moved, deleted) ──────┤            └ confirmed → a new generation: it changes what nobody
    its person has another number ──────────────┘              else changed since, and tells the adviser in a note

An older state that arrives late changes nothing, nor does one that is told again.  What a person corrected stands,
unless the sender says something else of it since.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake import aliases, conflicts, decided, identify, media, moved_people, person_arrows, revisions
from intake.config import Source
from intake.db import Conn
from intake.identify import Identified
from intake.identity import IdentityKey
from intake.lead import CORRECTIONS_KEPT, UPDATED, Contact, Enquiry, Lead
from intake.permitted import said_already
from intake.received import Received
from intake.revisions import Revision
from intake.sources.base import Update

Part = TypeVar("Part", Contact, Enquiry)


@dataclass(frozen=True, slots=True)
class Told:
    """Something about one event.  `at`: which state it is, None: none of an order; `lead`: from what it said last."""

    event_id: UUID
    at: datetime | None
    lead: Callable[[Lead], Lead] = field(repr=False)


def states(
    received: Received, known: Iterable[Identified], changed: Collection[Identified], now: datetime
) -> list[Told]:
    """What this delivery says of the events that stood before it (`known`, of which `changed` say otherwise)."""
    other = {id(each) for each in changed}
    return [_state(received.source, each, now) for each in known if _is_state(each, changed=id(each) in other)]


def apply(conn: Conn, key: IdentityKey, received: Received, states: Iterable[Told]) -> None:
    """Take on what this delivery says: those states, its news, and that people have moved.

    Call it in the transaction that keeps its body, with the locks of its talks.
    """
    moved = (Told(each.event_id, None, each.lead) for each in moved_people.follow(conn, key, received))
    told = [*states, *_news(conn, received), *moved]
    # In sorted order, as everything that locks several events does.
    for each in sorted(told, key=lambda one: one.event_id):
        _take(conn, received, each)


def settled(conn: Conn, received: Received) -> Received:
    """The same, with the events that news stands for of which the first was never heard."""
    reading, kept, events = received.reading, [], []
    for update in reading.updates:
        if update.otherwise and update.about and _known(conn, received, update.about) is None:
            events.append(update.otherwise)
        else:
            kept.append(update)
    if not events:
        return received
    return replace(received, reading=replace(reading, updates=tuple(kept), events=(*reading.events, *events)))


# --- what is told ---------------------------------------------------------------------------------------------------


def _is_state(each: Identified, *, changed: bool) -> bool:
    """What came first may come again as the latest state; only a clock tells it from a repeated delivery."""
    lead = each.incoming.lead
    return each.incoming.on_change == "update" and (changed or bool(lead.as_of or lead.occurred_at)) and not each.seen


def _state(source: Source, each: Identified, now: datetime) -> Told:
    """A sender without a clock of its own is believed in the order in which it was heard."""
    lead = media.referenced(source, each.incoming.lead)
    return Told(each.event_id, lead.as_of or lead.occurred_at or now, lambda _said: lead)


def _news(conn: Conn, received: Received) -> Iterator[Told]:
    for update in (*received.reading.updates, *received.reading.if_known):
        event_id = _known(conn, received, update.about) if update.about else None
        if event_id is None:
            continue
        if update.also:
            aliases.add(conn, identify.named_id(received, update.also), event_id)
        if update.news or update.text or update.mark:
            yield Told(event_id, update.at, _with(update))


def _with(update: Update) -> Callable[[Lead], Lead]:
    labels = {label for label, _ in update.news}

    def told(said: Lead) -> Lead:
        others = tuple(answer for answer in said.answers if answer[0] not in labels)
        enquiry = replace(said.enquiry, text=_reworded(update, said.enquiry.text))
        return replace(said, answers=(*others, *update.news), enquiry=enquiry)

    return told


def _reworded(update: Update, before: str) -> str:
    words, mark = update.text or before, update.mark or ""
    return words if words.endswith(mark) else f"{words} {mark}"


KNOWN = """
    SELECT event_id FROM events WHERE event_id = %(id)s
     UNION ALL SELECT event_id FROM event_aliases WHERE alias = %(id)s
     LIMIT 1
"""


def _known(conn: Conn, received: Received, request_id: str) -> UUID | None:
    """The event that has this id, or will have had it; None: it never came."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        found: UUID | None = cursor.execute(KNOWN, {"id": identify.named_id(received, request_id)}).fetchone()
    return found


# --- what becomes of it ---------------------------------------------------------------------------------------------


def _take(conn: Conn, received: Received, told: Told) -> None:
    # Nobody else moves its delivery, corrects it, or tells more of it before this transaction ends.
    conn.execute(decided.LOCK, {"event_id": told.event_id})
    newest, said = revisions.newest(conn, told.event_id), _said(conn, told.event_id)
    if newest is None or newest.lead is None or said is None or _is_older(told, said) or _is_being_said(conn, told):
        return
    lead = _marked(told, said)
    if _bare(lead) == _bare(said):
        return
    revisions.keep(conn, told.event_id, newest.number + 1, lead)
    revision, merged = newest.number + 1, _with_corrections(newest.lead, said, lead, _corrected(conn, told.event_id))
    if merged is not None:
        revision += 1
        revisions.keep(conn, told.event_id, revision, merged)
    _go_on(conn, told.event_id, revision, gated=_is_gated(conn, received, told.event_id))


def _is_being_said(conn: Conn, told: Told) -> bool:
    """A note is written once: what one is on its way with, or is in doubt, cannot become another."""
    seen = decided.view(conn, told.event_id)
    if seen.part != "follow_up" or seen.event.state == "confirmed":
        return False
    return bool(said_already(seen) or conflicts.being_said(conn, seen))


def _is_older(told: Told, said: Lead) -> bool:
    before = said.as_of or said.occurred_at
    return told.at is not None and before is not None and told.at < before


def _marked(told: Told, said: Lead) -> Lead:
    lead = told.lead(said)
    return replace(lead, flags=(*_bare(lead).flags, UPDATED), as_of=told.at or said.as_of)


def _bare(lead: Lead) -> Lead:
    """What the sender said, without what we note beside it."""
    said = tuple(flag for flag in lead.flags if flag not in {UPDATED, CORRECTIONS_KEPT})
    return replace(lead, flags=said, as_of=None)


SOURCE = "SELECT source FROM events WHERE event_id = %(event_id)s"


def _is_gated(conn: Conn, received: Received, event_id: UUID) -> bool:
    """By its own source: who told WhatsApp of another number may have come with a form."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        source: str | None = cursor.execute(SOURCE, {"event_id": event_id}).fetchone()
    return source in received.gated


def _go_on(conn: Conn, event_id: UUID, revision: int, *, gated: bool) -> None:
    """What is under way goes on with the newest content; what is with a person, or was stopped, stays there."""
    state = decided.view(conn, event_id).event.state
    person_arrows.become_version(conn, event_id, decided.newest_generation(conn, event_id))
    if state == "confirmed":
        person_arrows.new_generation(conn, event_id, gated=gated)
    else:
        person_arrows.hold_completed(conn, event_id, revision=revision, hold=None)


# --- what the sender said last, and what a person made of it --------------------------------------------------------

# Without the revisions that a person made; those that hold a person's values say so.
SAID = """
    SELECT b.revision AS number, b.content FROM bodies b
     WHERE b.event_id = %(event_id)s AND b.what = 'lead'
       AND NOT EXISTS (SELECT FROM decisions d
                        WHERE d.event_id = b.event_id AND d.action = 'correct'
                          AND d.detail ->> 'revision' = b.revision::text)
     ORDER BY b.revision DESC
"""
CORRECTED = """
    SELECT DISTINCT jsonb_array_elements_text(detail -> 'fields') FROM decisions
     WHERE event_id = %(event_id)s AND action = 'correct'
"""
OF_CONTACT = ("name", "phone", "email", "company", "document")
OF_ENQUIRY = ("text", "product", "amount", "currency")


def _said(conn: Conn, event_id: UUID) -> Lead | None:
    """None: it was purged."""
    with conn.cursor(row_factory=class_row(Revision)) as cursor:
        leads = [each.lead for each in cursor.execute(SAID, {"event_id": event_id})]
    return next((lead for lead in leads if lead and CORRECTIONS_KEPT not in lead.flags), None)


def _corrected(conn: Conn, event_id: UUID) -> frozenset[str]:
    with conn.cursor(row_factory=scalar_row) as cursor:
        return frozenset(cursor.execute(CORRECTED, {"event_id": event_id}))


def _with_corrections(corrected: Lead, said: Lead, now: Lead, fields: frozenset[str]) -> Lead | None:
    """The corrected values of the fields of which the sender says what it said before; None: there are none."""
    if "message" in fields:  # as the configuration calls it
        fields |= {"text"}
    contact = _values(corrected.contact, said.contact, now.contact, [name for name in OF_CONTACT if name in fields])
    enquiry = _values(corrected.enquiry, said.enquiry, now.enquiry, [name for name in OF_ENQUIRY if name in fields])
    if not contact and not enquiry:
        return None
    answered = set(said.flags) - set(corrected.flags)
    flags = tuple(flag for flag in now.flags if flag not in answered)
    return replace(
        now,
        contact=replace(now.contact, **contact),
        enquiry=replace(now.enquiry, **enquiry),
        flags=(*flags, CORRECTIONS_KEPT),
    )


def _values(corrected: Part, said: Part, now: Part, names: Iterable[str]) -> dict[str, Any]:
    """By their names, for `replace`."""
    return {name: getattr(corrected, name) for name in names if getattr(now, name) == getattr(said, name)}
