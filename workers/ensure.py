"""Making one record exist once: read where it stands, take the next arrow, until it is known or the delivery must stop.

known → done · gone → a person · asked by another → later · in doubt → look, or wait for the next look
none → look first (where the CRM does not refuse a double) → commit the write → send → read the answer
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import assert_never
from uuid import UUID

from crm_clients.base import (
    Absent,
    Confirmed,
    ContactDraft,
    Draft,
    Duplicate,
    Found,
    Kind,
    Rejected,
    Retry,
    Seen,
    Several,
    Uncertain,
    Unsure,
    kind_of,
)
from crm_clients.transport import NotSent
from intake import attempts, contacts, items, records
from intake.attempts import RecordMoved
from intake.db import Conn, transaction
from intake.deliveries import Claim
from intake.identity import is_test
from intake.records import Record
from workers import backoff, calls, sentinels
from workers.calls import Call
from workers.desk import Desk, Wired
from workers.drafts import guarded_values
from workers.look import double, is_gone, look_into, note, note_silence, plan, see, settle_found
from workers.pausing import retry, unreachable, unsure
from workers.sentinels import Control
from workers.standing import ACCOUNT_PAUSED, ForPerson, InDoubt, Known, Later, Standing

# Each round takes one arrow of a record; more than these would be a quarrel with another worker.
MOST_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Step:
    """One record that a held delivery wants to exist.  `carries`: the other events whose words the draft holds."""

    held: Claim
    record_id: int
    draft: Draft = field(repr=False)
    carries: tuple[UUID, ...] = ()

    @property
    def kind(self) -> Kind:
        return kind_of(self.draft)


def ensure(desk: Desk, step: Step) -> Standing:
    """Bring the record into being, once.  Raises LostClaim, MembersMoved."""
    for _ in range(MOST_ROUNDS):
        with desk.pool.connection() as conn:
            record = records.read(conn, step.record_id)
        standing = _next(desk, step, record)
        if standing is not None:
            return standing
    return Later("record_busy", blocked_on=step.record_id)


def _next(desk: Desk, step: Step, record: Record) -> Standing | None:
    """One arrow on; None: the record has moved, read it again."""
    if record.crm_id is not None and record.state != "gone":
        return Known(record.crm_id)
    match record.state:
        case "gone":
            return ForPerson(f"{record.kind}_gone") if is_gone(desk, record) else None
        case "asked" if record.being_asked:
            return Later(
                "record_busy", after=-record.asked_ago if record.asked_ago else None, blocked_on=record.record_id
            )
        case "asked" | "in_doubt":
            return _look(desk, step, record)
        case _:
            return _first_look(desk, step, record) or _create(desk, step, record)


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
        control = sentinels.control(desk, wired, step.kind, may_be_old=True)
        if control.told != "yes":
            return _without_control(desk, wired, control, record)
        standing = _see_first(desk, step, record, control)
        if standing is not None:
            return standing
    return _match(desk, wired, step, record)


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


def _see_first(desk: Desk, step: Step, record: Record, control: Control) -> Standing | None:
    wired = desk.wired[record.destination]
    sight = see(desk, wired, record)
    desk.at(f"{record.kind}.seen_first")
    with transaction(desk.pool) as conn:
        attempts.note_look(conn, record, note(sight, wired, record, control), step.held)
        match sight.looked:
            case Absent():
                return None
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
    asked = desk.clock()
    matched = calls.matches(desk, wired, step.draft)
    if not isinstance(matched, Unsure):
        matched = tuple(each for each in matched if _is_of(record, each))
    match matched:
        case Unsure(reason):
            if reason != calls.UNREADABLE_MATCH:
                note_silence(desk, record, "match", reason, timedelta(seconds=desk.clock() - asked))
            return unsure(desk, wired, matched)
        case ():
            return None
        case (seen,):
            return _adopt(desk, record, seen)
        case _:
            return ForPerson("contact_ambiguous")


def _is_of(record: Record, seen: Seen) -> bool:
    """A contact that a test made is nobody to a live lead, nor the other way round."""
    return seen.reference is None or is_test(seen.reference) == (record.mode == "test")


def _adopt(desk: Desk, record: Record, seen: Seen) -> Standing | None:
    with transaction(desk.pool) as conn:
        known = records.know(conn, record.record_id, crm_id=seen.crm_id, how="adopted")
    return Known(seen.crm_id) if known else None


# --- none -> asked -> ... -------------------------------------------------------------------------------------------


def _create(desk: Desk, step: Step, record: Record) -> Standing | None:
    wired = desk.wired[record.destination]
    client, kind = wired.client, step.kind
    request = client.create(step.draft, record.reference)
    draft = attempts.Draft("create", request.body or b"", guarded_values(step.draft), step.carries)
    prepared = desk.clock()
    desk.at(f"{kind}.before_commit")
    try:
        with desk.pool.connection() as conn:
            write_id = attempts.prepare(conn, step.held, record, draft, desk.patience)
    except RecordMoved:
        return None
    desk.at(f"{kind}.committed")
    call = calls.write(desk, wired, request, prepared=prepared, read=lambda answer: client.created(kind, answer))
    desk.at(f"{kind}.answered")
    take_answer(desk, record, write_id, call)
    desk.at(f"{kind}.noted")
    return _after_create(desk, step, record, call)


def take_answer(desk: Desk, record: Record, write_id: int, call: Call) -> None:
    """An attempt takes its own answer, however late, in one transaction with what it means for the record.

    The record comes first, as in every transaction that settles both: the other order was seen to deadlock with a look.
    """
    with transaction(desk.pool) as conn:
        match call.means:
            case Confirmed(crm_id, how):
                known = records.know(conn, record.record_id, crm_id=crm_id, how=how, write_id=write_id)
                attempts.forget_read_back(conn, record.record_id)
                if not known and records.read(conn, record.record_id).crm_id != crm_id:
                    late: dict[str, object] = {"reference": record.reference, "crm_ids": [crm_id], "write": write_id}
                    items.open_incident(conn, record.record_id, reason="late_success", evidence=late)
            case Uncertain():
                records.doubt(conn, record.record_id, write_id=write_id)
            case NotSent() | Retry() | Rejected() | Duplicate():
                records.not_executed(conn, record.record_id, write_id=write_id)
            case _:
                assert_never(call.means)
        attempts.close(conn, write_id, call.answer)


def _after_create(desk: Desk, step: Step, record: Record, call: Call) -> Standing | None:
    match call.means:
        case Confirmed(crm_id):
            return Known(crm_id, made=True)
        case NotSent(reason):
            return unreachable(desk, desk.wired[record.destination], f"not_sent_{reason}")
        case Retry() as again:
            return retry(desk, desk.wired[record.destination], again)
        case Rejected(reason, fields):
            return ForPerson(reason, dict(fields))
        case Duplicate() as duplicate:
            return _after_duplicate(desk, step, record, duplicate)
        case Uncertain(reason):
            return look_at_once(desk, step, record, reason)
        case _:
            assert_never(call.means)


def look_at_once(desk: Desk, step: Step, record: Record, reason: str) -> Standing | None:
    """A doubt is looked up once, at once, within the same claim: found is confirmed, and nobody is troubled."""
    with desk.pool.connection() as conn:
        doubtful = records.read(conn, record.record_id)
    if doubtful.state not in {"asked", "in_doubt"}:
        return None
    wired = desk.wired[record.destination]
    sight = see(desk, wired, doubtful)
    with transaction(desk.pool) as conn:
        attempts.note_look(conn, doubtful, note(sight, wired, doubtful, Control("no", "too_early")), step.held)
        match sight.looked:
            case Found(seen):
                settle_found(conn, doubtful, seen)
                return None
            case Several(crm_ids):
                double(conn, doubtful, crm_ids)
                return ForPerson("several", blocked_on=record.record_id)
            case Absent() | Unsure():
                return InDoubt(record.record_id, reason)
            case _:
                assert_never(sight.looked)


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
