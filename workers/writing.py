"""One write of one record, whatever it writes: committed, sent, its answer taken, and how the delivery stands then.

Two ways lead here: a record is made (ensure.py), or an opportunity is brought up to date (update.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never
from uuid import UUID

from crm_clients.base import (
    Absent,
    Confirmed,
    Draft,
    Duplicate,
    Found,
    Kind,
    Rejected,
    Request,
    Response,
    Retry,
    Several,
    Uncertain,
    Unsure,
    Written,
    kind_of,
)
from crm_clients.transport import NotSent
from intake import attempts, items, records
from intake.attempts import Answer, RecordMoved
from intake.db import Conn, transaction
from intake.deliveries import Claim
from intake.records import Record
from workers import calls, quoted, sending
from workers.calls import Call
from workers.desk import Desk, Wired
from workers.look import double, note, see, settle_found
from workers.pausing import retry, unreachable
from workers.sending import RATE_LIMITED, NoRoom
from workers.sentinels import Control
from workers.standing import ForPerson, InDoubt, Interrupted, Known, Later, Standing

# Each round takes one arrow of a record; more than these would be a quarrel with another worker.
MOST_ROUNDS = 6

# For so long an answer waits for a connection, in seconds: as long as PostgreSQL itself may take for it.  What is only
# asked is asked again by another worker, but a write whose answer is lost is in doubt, and a person's in some CRMs.
ANSWERS_TURN = 30.0


@dataclass(frozen=True, slots=True)
class Whose:
    """How a contact that stands in the CRM may be recognised as a lead's person.

    `name` None: names tell nothing, as that of a WhatsApp profile.  `by_phone` False: the telephone is another's.
    """

    name: str | None = field(default=None, repr=False)
    by_phone: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """One record that a held delivery wants to exist.  `carries`: as of `attempts.Draft`.

    `shared`: people merged it into the record of another need, so that nothing that stands there is this one's.
    `record`: as it was read just now, None: it was not.  What it is by the time of a write the write finds out itself.
    """

    held: Claim
    record_id: int
    draft: Draft = field(repr=False)
    carries: tuple[UUID, ...] | None = None
    whose: Whose = Whose()
    shared: bool = False
    record: Record | None = None

    @property
    def kind(self) -> Kind:
        return kind_of(self.draft)


@dataclass(frozen=True, slots=True)
class Writing:
    """A request that changes a record.  `boundary` names the points that it passes; `read`: what its answer means."""

    boundary: str
    request: Request
    draft: attempts.Draft
    read: Callable[[Response], Written]


def settle(desk: Desk, step: Step, arrow: Callable[[Desk, Step, Record], Standing | None]) -> Standing:
    """Take a record from arrow to arrow until it stands as wanted, or the delivery must stop.

    `arrow` answers None where the record has moved and is to be read again.  A stop does not leave a doubt that can be
    looked at.  Raises LostClaim, MembersMoved.
    """
    record = step.record
    for _ in range(MOST_ROUNDS):
        if record is None:
            with desk.pool.connection() as conn:
                record = records.read(conn, step.record_id)
        stopped = interrupted(desk) if record.state not in {"asked", "in_doubt"} else None
        standing = stopped or arrow(desk, step, record)
        if standing is not None:
            return standing
        record = None
    return Later("record_busy", blocked_on=step.record_id)


def interrupted(desk: Desk) -> Interrupted | None:
    """Asked between two calls, where nothing is in doubt: a look before a create is several, and each may be slow."""
    return Interrupted() if desk.stopping() else None


def busy(record: Record) -> Later:
    """Another is asking for this record just now, at the longest until its lease is over."""
    return Later("record_busy", after=-record.asked_ago if record.asked_ago else None, blocked_on=record.record_id)


def write(desk: Desk, step: Step, record: Record, writing: Writing) -> Call | None:
    """Commit the attempt, send it, and let it take its answer; None: the record moved first, and nothing was sent.

    Where the account has no room for a call, nothing is committed either.
    """
    wired = desk.wired[record.destination]
    full = sending.room(desk, wired, writing.request)
    if full is not None:
        return Call(full, Answer("not_sent", full.reason))
    desk.at(f"{writing.boundary}.before_commit")
    try:
        with desk.pool.connection() as conn:
            # Not before: to wait for a connection takes nothing of the time to send.
            prepared = desk.clock()
            write_id = attempts.prepare(conn, step.held, record, writing.draft, desk.patience)
    except RecordMoved:
        return None
    desk.at(f"{writing.boundary}.committed")
    call = calls.write(desk, wired, writing.request, prepared=prepared, read=writing.read)
    desk.at(f"{writing.boundary}.answered")
    _take_answer(desk, record, write_id, call)
    desk.at(f"{writing.boundary}.noted")
    return call


def _take_answer(desk: Desk, record: Record, write_id: int, call: Call) -> None:
    """An attempt takes its own answer, however late, and commits it together with what it means for the record."""
    with desk.pool.connection(timeout=ANSWERS_TURN) as conn:
        match call.means:
            case Confirmed(crm_id) if attempts.confirm(conn, record.record_id, write_id, call.answer, crm_id=crm_id):
                return
            case _:
                _conclude(conn, record, write_id, call)


def _conclude(conn: Conn, record: Record, write_id: int, call: Call) -> None:
    """The record comes first, as in every transaction that settles both: the other order was seen to deadlock."""
    with conn.transaction():
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


def after_write(
    desk: Desk, step: Step, record: Record, call: Call, *, duplicate: Callable[[Duplicate], Standing | None]
) -> Standing | None:
    """What the answer means for the delivery; `duplicate` says it where such a record exists already."""
    wired = desk.wired[record.destination]
    match call.means:
        case Confirmed(crm_id):
            return Known(crm_id, made=True)
        case NotSent():
            return _not_sent(desk, wired, call.means)
        case Retry() as again:
            return retry(desk, wired, again)
        case Rejected(reason, fields):
            return ForPerson(reason, quoted.rules(fields, step.draft))
        case Duplicate():
            return duplicate(call.means)
        case Uncertain(reason):
            return _look_at_once(desk, step, record, reason)
        case _:
            assert_never(call.means)


def _not_sent(desk: Desk, wired: Wired, means: NotSent) -> Later:
    if isinstance(means, NoRoom):
        return Later(RATE_LIMITED, means.after)
    return unreachable(desk, wired, f"not_sent_{means.reason}")


def _look_at_once(desk: Desk, step: Step, record: Record, reason: str) -> Standing | None:
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
