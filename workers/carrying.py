"""Joining messages: what goes into a text besides its own message, and what becomes of those that another carries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from crm_clients.base import NoteDraft, OpportunityDraft
from intake import carried, contacts, records
from intake.db import transaction
from intake.deliveries import Claim
from intake.records import Record
from workers.desk import Desk
from workers.drafts import is_full
from workers.look import gone
from workers.standing import ForPerson, Halt, InDoubt, Known, Later
from workers.work import Work, load_all

Text = TypeVar("Text", OpportunityDraft, NoteDraft)

# A message whose carrier is about to make its record comes back after this.
AFTER_CARRIER = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Making:
    """A record that a held delivery makes.  `within`: messages join it that came so soon after; None: all that wait.

    `record`: as it was read just now, None: it was not.
    """

    held: Claim
    record_id: int
    work: Work = field(repr=False)
    within: timedelta | None = None
    record: Record | None = None


def compose(
    desk: Desk, making: Making, write: Callable[[Sequence[Work]], Text]
) -> tuple[Text, tuple[UUID, ...] | None]:
    """The draft of a record with all messages that it is to hold, and whose those are, the held one's apart.

    A record that was written, or may have been, holds what was stored then; a new one takes those that wait, in their
    order, until the text is full: the others go into the next one.  None: it holds nothing but the held one's, and
    never did.  Raises Forgotten.
    """
    held = making.held
    with desk.pool.connection() as conn:
        record = making.record or records.read(conn, making.record_id)
        said: carried.Members = carried.members(conn, held, record, within=making.within)
        loaded = load_all(conn, held, (held.event_id, *said.events)) if said.events else [making.work]
    works = [making.work if each.event_id == held.event_id else each for each in loaded]
    if held.part == "follow_up" or len(works) > 1:
        _learn(desk, held, works)
    if said.fixed:
        return write(works), said.events
    if said.alone:
        return write(works), None
    return _as_many_as_fit(held, works, said.events, write)


def _learn(desk: Desk, held: Claim, works: Sequence[Work]) -> None:
    """A later message may show another id of the same person: a number, where the first had a user id only."""
    keys = {
        each.key: each
        for work in works
        for each in contacts.keys_of(work.lead.contact, work.mode, desk.installation.key)
    }
    with transaction(desk.pool) as conn:
        contacts.learn(conn, desk.scope(held.destination, held.mode), list(keys.values()), held.need_id)


def _as_many_as_fit(
    held: Claim, works: Sequence[Work], waiting: Sequence[UUID], write: Callable[[Sequence[Work]], Text]
) -> tuple[Text, tuple[UUID, ...]]:
    taken: tuple[UUID, ...] = ()
    draft = write([each for each in works if each.event_id == held.event_id])
    for event in waiting:
        wider = write([each for each in works if each.event_id in {held.event_id, *taken, event}])
        if is_full(wider):
            break
        draft, taken = wider, (*taken, event)
    return draft, taken


def debounce(desk: Desk, source: str) -> timedelta:
    """How long a first message waits for those that belong into its text."""
    configured = desk.settings.sources.get(source)
    return timedelta(seconds=configured.debounce_seconds if configured else 0)


def carried_elsewhere(desk: Desk, held: Claim) -> Known | Halt | None:
    """How a message stands that another's record carries; None: it needs a note of its own.  Raises LostClaim."""
    with desk.pool.connection() as conn:
        found = carried.of_event(conn, held)
        if found is None:
            return None
        record = records.read(conn, found.record_id)
        made = record.state != "none"
        if not made and (not found.will_be_made or held.generation > 1):
            carried.free(conn, held, record.record_id)
            return None
    if held.generation > 1:
        return None  # It says something else than what is carried, or that was lost.
    if not made:
        return Later("carrier_first", AFTER_CARRIER)
    stopped = gone(desk, record) if record.state == "gone" else None
    if stopped is not None:
        return None if stopped == ForPerson("opportunity_gone") else stopped
    return Known(record.crm_id) if record.crm_id else InDoubt(record.record_id, "record_in_doubt")
