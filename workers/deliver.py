"""One delivery, from its first unconfirmed step to the arrow that it takes.

    opener     contact → opportunity → task
    version    the same; where the opportunity stands already, a guarded update; so with the number of a contact
    follow_up  a note on the opportunity of its need

Each step makes one record exist once (ensure.py); what stands already is passed over, so that a delivery resumes at
its first unconfirmed step.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import assert_never

import structlog

from crm_clients.base import ContactDraft, Kind, NoteDraft, OpportunityDraft, Seen
from intake import attempts, deliveries, merging, naming, needs, person_arrows, records, siblings
from intake.at_rest import Unopenable, is_damage
from intake.carried import MembersMoved
from intake.db import LOST, transaction
from intake.deliveries import Claim, LostClaim
from intake.identity import need_reference, record_reference
from intake.lead import Contact
from workers import backoff, contents, drafts, news, whose
from workers.carrying import Making, carried_elsewhere, compose, debounce
from workers.closed import on_closed, without
from workers.contents import UNSEEN, Content
from workers.conversations import recall
from workers.desk import Desk
from workers.ensure import ensure
from workers.fetch import halt
from workers.joining import joined
from workers.look import gone
from workers.owners import OWNER_AWAY, Chosen, choose
from workers.standing import (
    ACCOUNT_PAUSED,
    Elsewhere,
    ForPerson,
    Halt,
    InDoubt,
    Interrupted,
    Known,
    Later,
    Standing,
    Superseded,
)
from workers.update import bring_up_to_date, keep_read_back, read_now, written
from workers.work import Forgotten, Work, load
from workers.writing import Step

log = structlog.get_logger()

# A follow-up whose opener has not got there yet comes back after this, or as soon as the opportunity is known.
AFTER_OPENER = timedelta(seconds=5)


def deliver(desk: Desk, held: Claim) -> None:
    """Take a claimed delivery as far as it goes now; raises nothing for what a CRM does, nor for a lost lease."""
    try:
        begun = contents.begun(desk, held)
        standing = _standing(desk, held, begun)
        desk.at("delivery.before_arrow")
        _take_arrow(desk, held, begun, standing)
    except LostClaim:
        return  # Whatever it sent is an attempt of its own, and in doubt by itself.


def _standing(desk: Desk, held: Claim, begun: Content) -> Standing:
    """A bug of ours that this lead meets would meet it again at every try: it is a person's, and the others go on."""
    try:
        return _steps(desk, held, begun)
    except Unopenable as missing:
        with desk.pool.connection() as conn:
            if not is_damage(conn, missing):
                raise
        return _met_a_bug(held, missing)
    except (LostClaim, *LOST):
        raise
    except MembersMoved:
        return Later("members_changed", timedelta(0))
    except Exception as bug:  # noqa: BLE001  # whatever it is
        return _met_a_bug(held, bug)


def _met_a_bug(held: Claim, bug: Exception) -> ForPerson:
    log.error("delivery failed", event_id=str(held.event_id), error=type(bug).__name__)  # no payload in logs
    return ForPerson("internal_error")


def _steps(desk: Desk, held: Claim, begun: Content) -> Standing:
    try:
        with desk.pool.connection() as conn:
            work = load(conn, held)
        if stopped := halt(desk, work) or contents.unseen(begun, work):
            return stopped
        if held.part == "follow_up":
            # What a later generation says, no record of another carries.
            carried = carried_elsewhere(desk, held) if held.generation == 1 else None
            return carried or _follow_up(desk, held, work)
        return _lead(desk, held, work)
    except Forgotten:
        return ForPerson("payload_purged")


# --- opener and version: contact → opportunity → task ---------------------------------------------------------------


def _lead(desk: Desk, held: Claim, work: Work) -> Standing:
    contact = _contact(desk, held, work)
    if not isinstance(contact, Known):
        return contact
    recalled = recall(desk, held, work, contact.crm_id)
    if not isinstance(recalled, Work):
        return recalled
    opportunity = _opportunity(desk, held, recalled, contact)
    if not isinstance(opportunity, Known):
        return opportunity
    return _task(desk, held, recalled, opportunity)


def _contact(desk: Desk, held: Claim, work: Work) -> Standing:
    named = whose.name_contact(desk, held, work)
    if isinstance(named, ForPerson):
        return named
    draft = drafts.contact(work, desk.wired[held.destination].destination)
    step = Step(held, named.record_id, draft, whose=named.whose)
    standing = ensure(desk, step)
    if work.number_changed and isinstance(standing, Known) and not standing.made:
        return _with_number(desk, step, standing, work.lead.contact)
    return standing


def _with_number(desk: Desk, step: Step, stands: Known, person: Contact) -> Standing:
    """The contact gets its new number where ours still stands; `left`: it did not, of which the adviser is told."""
    with desk.pool.connection() as conn:
        record = records.read(conn, step.record_id)
    assert isinstance(step.draft, ContactDraft)  # noqa: S101  # it is a contact's step
    if whose.has_moved_on(desk, step.held, step.record_id, step.draft.phone):
        return stands
    ours = record.how in {"answer", "look"} and whose.had_number(person, written(desk, record).get("phone"))
    if ours and desk.wired[step.held.destination].capability(Kind.CONTACT).changes_phone:
        standing = bring_up_to_date(desk, step)
        if not isinstance(standing, ForPerson):
            return standing
    return replace(stands, left=drafts.guarded(step.draft))


def _opportunity(desk: Desk, held: Claim, work: Work, contact: Known) -> Standing:
    record_id = _name(desk, held, work, Kind.OPPORTUNITY)
    with desk.pool.connection() as conn:
        record = records.read(conn, record_id)
        others = siblings.others(conn, held, record_id)
    stands, newer = record.crm_id is not None, others.newer_applied
    if newer and not others.wrote:
        return Superseded()
    wired, chosen = desk.wired[held.destination], Chosen(None)
    if not stands:
        person = None if contact.made else _person_now(desk, held)
        if not isinstance(person, Seen | None):
            return person
        chosen = choose(desk, wired, work, person)
    flagged = _flagged(work, OWNER_AWAY) if chosen.passed_over else work
    flagged = _flagged(flagged, whose.NOT_OURS) if others.contact_how in whose.THEIRS else flagged
    can = wired.capability(Kind.OPPORTUNITY)
    destination, zone = wired.destination, desk.settings.timezone
    draft, carries = compose(
        desk,
        Making(held, record_id, flagged, within=debounce(desk, work.source), record=record),
        lambda works: drafts.opportunity(
            joined(flagged, works, zone), destination, can, contact_id=contact.crm_id, owner=chosen.owner
        ),
    )
    shared = merging.is_of_another(record, record_reference(work.reference, Kind.OPPORTUNITY.value))
    step = Step(held, record_id, draft, carries, shared=shared)
    if stands and held.part == "version" and not newer:
        stopped = _tell_news(desk, held, work, step, contact)
        return stopped or _tell_left(desk, held, work, bring_up_to_date(desk, step))
    standing = ensure(desk, replace(step, record=record))
    if not isinstance(standing, Known) or held.part != "version" or newer:
        return standing
    if standing.made:
        keep_read_back(desk, step, record_id, standing.crm_id)
        return standing
    # It stood there already, perhaps from before a restored copy.
    return _tell_left(desk, held, work, bring_up_to_date(desk, step))


def _person_now(desk: Desk, held: Claim) -> Seen | Halt:
    """The contact as it stands: nothing hangs on one that people deleted, nor on one that they merged into another."""
    with desk.pool.connection() as conn:
        record = records.of_delivery(conn, "contact", event_id=held.event_id, generation=held.generation)
    return read_now(desk, record)


def _tell_news(desk: Desk, held: Claim, work: Work, step: Step, contact: Known) -> Halt | None:
    """A note, once, of what the sender changed since we wrote last.  None: it stands, or there is nothing to tell."""
    if not work.updated or step.shared or not isinstance(step.draft, OpportunityDraft):
        return None
    with desk.pool.connection() as conn:
        record = records.read(conn, step.record_id)
    if record.state != "known":
        return None
    draft = news.note(desk, work, record, step.draft, contact_left=bool(contact.left))
    if not isinstance(draft, NoteDraft):
        return draft
    noted = ensure(desk, Step(held, _name(desk, held, work, Kind.NOTE), draft, carries=()))
    return None if isinstance(noted, Known) else noted


def _flagged(work: Work, flag: str) -> Work:
    return replace(work, lead=replace(work.lead, flags=(*work.lead.flags, flag)))


def _tell_left(desk: Desk, held: Claim, work: Work, standing: Standing) -> Standing:
    """A note, once, of what this version wanted otherwise and was left because somebody changed it."""
    if not isinstance(standing, Known) or not standing.left:
        return standing
    note = _name(desk, held, work, Kind.NOTE)
    draft = drafts.left_note(work, standing.left, opportunity_id=standing.crm_id)
    noted = ensure(desk, Step(held, note, draft, carries=()))
    return standing if isinstance(noted, Known) else noted


def _task(desk: Desk, held: Claim, work: Work, opportunity: Known) -> Standing:
    """The task goes to the opportunity's owner as he is now, read just before."""
    record_id = _name(desk, held, work, Kind.TASK)
    with desk.pool.connection() as conn:
        task = records.read(conn, record_id)
        if task.state == "known":
            return opportunity
        record = records.of_delivery(conn, "opportunity", event_id=held.event_id, generation=held.generation)
    seen = read_now(desk, record)
    if not isinstance(seen, Seen):
        return seen
    wired = desk.wired[held.destination]
    draft = drafts.task(work, wired.destination, desk.settings, opportunity_id=seen.crm_id, owner=seen.owner)
    return ensure(desk, Step(held, record_id, draft, record=task))


def _name(desk: Desk, held: Claim, work: Work, kind: Kind) -> int:
    """The record of the need (or, for a note, of the event), made if it is not there, and linked to the delivery."""
    scope = desk.scope(held.destination, held.mode)
    stem = work.reference if kind is not Kind.NOTE else need_reference(work.mode, work.scope, f"event:{work.event_id}")
    # A note of a later generation says something else; every other record is made anew only where it is gone.
    generation = held.generation if kind is Kind.NOTE else 1
    reference = record_reference(stem, kind.value, generation)
    with desk.pool.connection() as conn:
        return naming.name_for(conn, held, scope, kind.value, reference)


# --- follow_up: a note ----------------------------------------------------------------------------------------------


def _follow_up(desk: Desk, held: Claim, work: Work) -> Standing:
    opportunity = _name(desk, held, work, Kind.OPPORTUNITY)
    with desk.pool.connection() as conn:
        record = records.read(conn, opportunity)
        refused = siblings.opener_refused(conn, held)
        taken_over = needs.successor(conn, held.need_id) is not None
    if record.crm_id is None and record.state in {"asked", "in_doubt"}:
        return InDoubt(opportunity, "opener_in_doubt")
    if record.crm_id is None:
        return without(desk, held, "opener_refused") if refused or taken_over else Later("opener_first", AFTER_OPENER)
    stopped = gone(desk, record) if record.state == "gone" else None
    if stopped is not None:
        return without(desk, held, "opportunity_gone") if isinstance(stopped, ForPerson) else stopped
    return _on_opportunity(desk, held, work, read_now(desk, record))


def _on_opportunity(desk: Desk, held: Claim, work: Work, seen: Seen | Halt) -> Standing:
    match seen:
        case ForPerson("opportunity_gone"):
            return without(desk, held, "opportunity_gone")
        case Seen(closed=True):
            return on_closed(desk, held) or _note(desk, held, work, seen)
        case Seen():
            return _note(desk, held, work, seen)
        case _:
            return seen


def _note(desk: Desk, held: Claim, work: Work, opportunity: Seen) -> Standing:
    note, zone = _name(desk, held, work, Kind.NOTE), desk.settings.timezone
    draft, carries = compose(
        desk, Making(held, note, work), lambda works: drafts.note(works, zone, opportunity_id=opportunity.crm_id)
    )
    return ensure(desk, Step(held, note, draft, carries))


# --- the arrow ------------------------------------------------------------------------------------------------------


def _take_arrow(desk: Desk, held: Claim, begun: Content, standing: Standing) -> None:
    with transaction(desk.pool) as conn:
        match standing:
            case Known():
                contents.confirm(desk, conn, held, begun)
            case Superseded():
                deliveries.supersede(conn, held)
            case Elsewhere():
                grouped = needs.open_again(conn, held.need_id, held.event_id)
                person_arrows.rehome_held(conn, held, need_id=grouped.need_id, part=grouped.part)
            case Interrupted():
                deliveries.give_back(conn, held)
            case ForPerson(reason, fields):
                deliveries.reject(conn, held, reason=reason, fields=fields)
            case InDoubt(record_id, reason) if siblings.wrote_unsettled(conn, held, record_id):
                deliveries.mark_uncertain(conn, held, reason=reason, blocked_on=record_id)
            case InDoubt(record_id):
                deliveries.postpone(
                    conn, held, reason="record_in_doubt", after=backoff.BEHIND_DOUBT, blocked_on=record_id
                )
            case Later(reason, after, blocked_on):
                tried = attempts.tried(conn, held)
                if tried >= backoff.MOST_TRIES and reason != ACCOUNT_PAUSED:
                    deliveries.reject(conn, held, reason="budget_used_up")
                else:
                    wait = backoff.retry(tried, after, desk.jitter)
                    deliveries.postpone(conn, held, reason=reason, after=wait, blocked_on=blocked_on)
                if reason == UNSEEN:
                    contents.hold(conn, held, begun)
            case _:
                assert_never(standing)
        deliveries.wake(conn)
