"""Making one record exist once: read where it stands, take the next arrow, until it is known or the delivery must stop.

known → done · gone → a person · asked by another → later · in doubt → look, or wait for the next look
none → look first (where the CRM does not refuse a double) → commit the write → send → read the answer
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import assert_never

from crm_clients.base import (
    Absent,
    ContactDraft,
    Duplicate,
    Found,
    Kind,
    Seen,
    Several,
    Unsure,
)
from intake import attempts, contacts, looked_for, records
from intake.db import Conn, transaction
from intake.identity import is_test
from intake.looked_for import LookedFor
from intake.records import Record
from workers import backoff, calls, sentinels, whose
from workers.desk import Desk, Wired
from workers.drafts import guarded_values
from workers.look import double, gone, look_into, note, note_silence, plan, see, settle_found
from workers.pausing import unsure
from workers.sending import RATE_LIMITED
from workers.sentinels import Control
from workers.standing import ACCOUNT_PAUSED, ForPerson, InDoubt, Known, Later, Standing
from workers.writing import Step, Writing, after_write, busy, interrupted, settle, write


def ensure(desk: Desk, step: Step) -> Standing:
    """Bring the record into being, once.  Raises LostClaim, MembersMoved."""
    return settle(desk, step, _next)


def _next(desk: Desk, step: Step, record: Record) -> Standing | None:
    """One arrow on; None: the record has moved, read it again."""
    if record.crm_id is not None and record.state != "gone":
        return Known(record.crm_id)
    match record.state:
        case "gone":
            return gone(desk, record)
        case "asked" if record.being_asked:
            return busy(record)
        case "asked" | "in_doubt":
            return _look(desk, step, record)
        case _:
            return _first_look(desk, step, record) or interrupted(desk) or _create(desk, step, record)


def _look(desk: Desk, step: Step, record: Record) -> Standing | None:
    wired = desk.wired[record.destination]
    if not record.look_due:
        return InDoubt(record.record_id, "in_doubt")
    looked = look_into(desk, record, step.held)
    if isinstance(looked, Unsure):
        unsure(desk, wired, looked)  # May pause the account; the doubt stays a doubt.
    with desk.pool.connection() as conn:
        after = records.read(conn, record.record_id)
    return InDoubt(record.record_id, "in_doubt") if after.state in {"asked", "in_doubt"} else None


# --- none: look before the first create -------------------------------------------------------------------------------


def _first_look(desk: Desk, step: Step, record: Record) -> Standing | None:
    """None: nothing stands there, as far as can be seen, so that it may be created."""
    wired = desk.wired[record.destination]
    if plan(wired, record).look_first:
        with desk.pool.connection() as conn:
            known = looked_for.read(conn, record)
        control = Control("yes") if known.controlled else sentinels.control(desk, wired, step.kind, may_be_old=True)
        if control.told != "yes":
            return _without_control(desk, wired, control, record)
        if stopped := interrupted(desk):
            return stopped
        # A control that had to be asked for took its time: what is known may be older than that.
        standing = _see_first(desk, step, record, control, known if known.controlled else None)
        if standing is not None:
            return standing
    return interrupted(desk) or _match(desk, wired, step, record)


def _without_control(desk: Desk, wired: Wired, control: Control, record: Record) -> Standing:
    match control.told:
        case "unsure" if control.unsure:
            if control.silence is not None:
                note_silence(desk, record, "find", control.reason, control.silence)
            return unsure(desk, wired, control.unsure)
        case "foreign":
            return Later(ACCOUNT_PAUSED, after=backoff.CONTROL_AGAIN)
        case _:
            return Later("no_control", after=backoff.NO_CONTROL)


def _see_first(
    desk: Desk, step: Step, record: Record, control: Control, known: LookedFor | None = None
) -> Standing | None:
    wired = desk.wired[record.destination]
    sight = see(desk, wired, record, known)
    desk.at(f"{record.kind}.seen_first")
    seen_so = attempts.noting(record, note(sight, wired, record, control), step.held)
    if isinstance(sight.looked, Absent):
        with desk.pool.connection() as conn:
            # Nothing follows from it, so that the statement is a transaction by itself.
            conn.execute(attempts.NOTE_LOOK, seen_so)
        return None
    with transaction(desk.pool) as conn:
        conn.execute(attempts.NOTE_LOOK, seen_so)
        match sight.looked:
            case Found(seen):
                settle_found(conn, record, seen)
            case Several(crm_ids):
                double(conn, record, crm_ids)
                return ForPerson("several")
            case Unsure():
                pass
            case _:
                assert_never(sight.looked)
    if isinstance(sight.looked, Unsure):
        return unsure(desk, wired, sight.looked)
    return Known(sight.looked.seen.crm_id) if sight.looked.seen.live else ForPerson(f"{record.kind}_gone")


def _match(desk: Desk, wired: Wired, step: Step, record: Record) -> Standing | None:
    """A contact that stands there without our reference is adopted, if it is the only one."""
    if not isinstance(step.draft, ContactDraft):
        return None
    draft = step.draft if step.whose.by_phone else replace(step.draft, phone=None)
    asked = desk.clock()
    matched = calls.matches(desk, wired, draft)
    if not isinstance(matched, Unsure):
        matched = tuple(each for each in matched if _is_of(record, each))
    match matched:
        case Unsure(reason):
            if reason not in {calls.UNREADABLE_MATCH, RATE_LIMITED}:
                note_silence(desk, record, "match", reason, timedelta(seconds=desk.clock() - asked))
            return unsure(desk, wired, matched)
        case ():
            return None
        case (seen,):
            taken = whose.adopts(desk, replace(step, draft=draft), record, seen)
            return _adopt(desk, record, seen) if taken is True else taken or None
        case _:
            return whose.of_several(desk, step, record, matched)


def _is_of(record: Record, seen: Seen) -> bool:
    """A contact that a test made is nobody to a live lead, nor the other way round."""
    return seen.reference is None or is_test(seen.reference) == (record.mode == "test")


def _adopt(desk: Desk, record: Record, seen: Seen) -> Standing | None:
    with transaction(desk.pool) as conn:
        known = records.know(conn, record.record_id, crm_id=seen.crm_id, how="adopted")
    return Known(seen.crm_id) if known else None


# --- none -> asked -> ... -------------------------------------------------------------------------------------------


def _create(desk: Desk, step: Step, record: Record) -> Standing | None:
    client, kind = desk.wired[record.destination].client, step.kind
    request = client.create(step.draft, record.reference)
    draft = attempts.Draft("create", request.body or b"", guarded_values(step.draft), step.carries)
    call = write(desk, step, record, Writing(kind.value, request, draft, lambda answer: client.created(kind, answer)))
    if call is None:
        return None
    return after_write(desk, step, record, call, duplicate=lambda told: _after_duplicate(desk, step, record, told))


def _after_duplicate(desk: Desk, step: Step, record: Record, duplicate: Duplicate) -> Standing | None:
    """What is ours is adopted; a duplicate of something else is not ours, except that a person may be the same one."""
    wired = desk.wired[record.destination]
    standing = _see_named(desk, record, duplicate) or _see_first(desk, step, record, Control("no", "after_duplicate"))
    if standing is None and duplicate.by != "reference":
        standing = _match(desk, wired, step, record)
    return standing or ForPerson(f"duplicate_{duplicate.by}")


def _see_named(desk: Desk, record: Record, duplicate: Duplicate) -> Standing | None:
    """The record that the CRM names is ours if it bears our reference; a search may not find it yet."""
    if duplicate.crm_id is None:
        return None
    sight = calls.read(desk, desk.wired[record.destination], Kind(record.kind), duplicate.crm_id)
    with transaction(desk.pool) as conn:
        if not isinstance(sight.looked, Found) or not _is_ours(conn, record, sight.looked.seen):
            return None
        settle_found(conn, record, sight.looked.seen)
    return Known(duplicate.crm_id) if sight.looked.seen.live else ForPerson(f"{record.kind}_gone")


def _is_ours(conn: Conn, record: Record, seen: Seen) -> bool:
    return seen.reference is not None and seen.reference in contacts.references(conn, record.record_id)
