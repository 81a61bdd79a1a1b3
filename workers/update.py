"""Bringing an opportunity up to date with a later version, without overwriting people.

A field is changed only if the CRM still holds the value read back after our last write; otherwise it is left, and
shown.  Owner and stage are never sent.  An update in doubt is settled by reading: the values stand there, or not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import assert_never

from crm_clients.base import (
    Absent,
    Confirmed,
    Duplicate,
    Found,
    Kind,
    OpportunityDraft,
    Rejected,
    Retry,
    Seen,
    Several,
    Uncertain,
    Unsure,
)
from crm_clients.transport import NotSent
from intake import attempts, records
from intake.attempts import LookNote, RecordMoved
from intake.db import transaction
from intake.records import Record
from workers import calls
from workers.calls import Call
from workers.desk import Desk
from workers.drafts import GUARDED, guarded
from workers.ensure import MOST_ROUNDS, Step, look_at_once, take_answer
from workers.look import is_gone, look_into, note_silence
from workers.pausing import retry, unreachable, unsure
from workers.standing import ForPerson, Halt, InDoubt, Known, Later, Standing


@dataclass(frozen=True, slots=True)
class Changes:
    """`send`: what may be changed.  `left`: what a person changed since, and so stays as it is (names only)."""

    send: Mapping[str, str]
    left: tuple[str, ...]


def bring_up_to_date(desk: Desk, step: Step) -> Standing:
    """Change what this version changes, once.  Raises LostClaim."""
    for _ in range(MOST_ROUNDS):
        with desk.pool.connection() as conn:
            record = records.read(conn, step.record_id)
        standing = _next(desk, step, record)
        if standing is not None:
            return standing
    return Later("record_busy", blocked_on=step.record_id)


def _next(desk: Desk, step: Step, record: Record) -> Standing | None:
    match record.state:
        case "known":
            return _update(desk, step, record)
        case "asked" if record.being_asked:
            return Later("record_busy", blocked_on=record.record_id)
        case "asked" | "in_doubt":
            return _look(desk, step, record)
        case "gone" if not is_gone(desk, record):
            return None
        case _:
            return ForPerson("opportunity_gone")


def _look(desk: Desk, step: Step, record: Record) -> Standing | None:
    if record.look_due:
        look_into(desk, record, step.held)
        with desk.pool.connection() as conn:
            if records.read(conn, record.record_id).state not in {"asked", "in_doubt"}:
                return None
    return InDoubt(record.record_id, "update_in_doubt")


def _update(desk: Desk, step: Step, record: Record) -> Standing | None:
    seen = look_at_opportunity(desk, record)
    if not isinstance(seen, Seen):
        return seen
    assert isinstance(step.draft, OpportunityDraft)  # noqa: S101  # only opportunities have versions
    base, wanted = _base(desk, record), guarded(step.draft)
    changes = compare(base, seen.values, wanted)
    if changes.left:
        _show_left(desk, step, record, changes)
    # What stands there as this version wants it counts as ours, also where the database has forgotten the write.
    ours = {name: seen.values[name] for name in wanted if name in seen.values and name not in changes.left}
    told = _to_tell(changes, base, wanted)
    if changes.send:
        standing = _write(desk, step, record, changes, {**base, **ours})
        return replace(standing, left=told) if isinstance(standing, Known) else standing
    with desk.pool.connection() as conn:
        attempts.keep_read_back(conn, record.record_id, json.dumps({**base, **ours}).encode())
    return Known(seen.crm_id, left=told)


def _to_tell(changes: Changes, base: Mapping[str, str], wanted: Mapping[str, str]) -> Mapping[str, str]:
    """What was left and is news: not what this version wants as our last write left it."""
    news = {name for name in changes.left if name in wanted and not alike(wanted[name], base.get(name))}
    if "amount" in news or "currency" in news:
        news |= {"amount", "currency"} & wanted.keys()
    return {name: each for name, each in wanted.items() if name in news}


def look_at_opportunity(desk: Desk, record: Record) -> Seen | Halt:
    """The opportunity as it stands now, or why the delivery stops: people deleted it, or the look told nothing."""
    wired = desk.wired[record.destination]
    sight = calls.read(desk, wired, Kind.OPPORTUNITY, record.crm_id or "")
    match sight.looked:
        case Found(seen) if seen.live:
            return seen
        case Found() | Absent():
            with transaction(desk.pool) as conn:
                records.gone(conn, record.record_id, crm_id=record.crm_id or "")
            return ForPerson("opportunity_gone")
        case Several():
            return ForPerson("several")
        case Unsure() as nothing:
            if not sight.answered:
                note_silence(desk, record, "read", nothing.reason, sight.took)
            return unsure(desk, wired, nothing)
        case _:
            assert_never(sight.looked)


def _show_left(desk: Desk, step: Step, record: Record, changes: Changes) -> None:
    left = LookNote("read", "found", "changed_by_people", evidence={"left": list(changes.left)})
    with desk.pool.connection() as conn:
        attempts.note_look(conn, record, left, step.held)


def _base(desk: Desk, record: Record) -> Mapping[str, str]:
    """What our last write left there: as read back, or, where that was not possible, as it was sent."""
    with desk.pool.connection() as conn:
        kept = attempts.read_back(conn, record.record_id) or attempts.last_sent(conn, record.record_id)
    values: dict[str, str] = json.loads(kept) if kept else {}
    return values


def compare(base: Mapping[str, str], now: Mapping[str, str], wanted: Mapping[str, str]) -> Changes:
    """Which of the wanted values may be sent: those whose field still reads as our last write left it."""
    send: dict[str, str] = {}
    left: list[str] = []
    for value in _values(now, wanted):
        if all(alike(now.get(name), each) for name, each in value.items()):
            continue
        if all(alike(now.get(name), base.get(name)) for name in value):
            send |= value
        else:
            left += value
    return Changes(send, tuple(sorted(left)))


def _values(now: Mapping[str, str], wanted: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The wanted fields, those together that are one value: an amount without its currency is another sum."""
    yield from ({name: each} for name, each in wanted.items() if name not in {"amount", "currency"})
    if "amount" in wanted:
        yield {"amount": wanted["amount"], "currency": wanted.get("currency") or now.get("currency", "")}


def alike(one: str | None, other: str | None) -> bool:
    """The same value, though a CRM may write 1200.5 as "1200.50" or lose white space at the ends."""
    if one is None or other is None:
        return not one and not other
    try:
        return Decimal(one) == Decimal(other)
    except InvalidOperation:
        return one.strip() == other.strip()


def _write(desk: Desk, step: Step, record: Record, changes: Changes, base: Mapping[str, str]) -> Standing | None:
    client = desk.wired[record.destination].client
    crm_id = record.crm_id or ""
    request = client.update(Kind.OPPORTUNITY, crm_id, changes.send)
    draft = attempts.Draft("update", request.body or b"", json.dumps(dict(changes.send)).encode())
    prepared = desk.clock()
    desk.at("opportunity.update.before_commit")
    try:
        with desk.pool.connection() as conn:
            write_id = attempts.prepare(conn, step.held, record, draft, desk.patience)
    except RecordMoved:
        return None
    desk.at("opportunity.update.committed")
    call = calls.write(
        desk,
        desk.wired[record.destination],
        request,
        prepared=prepared,
        read=lambda answer: client.updated(Kind.OPPORTUNITY, crm_id, answer),
    )
    desk.at("opportunity.update.answered")
    take_answer(desk, record, write_id, call)
    desk.at("opportunity.update.noted")
    if isinstance(call.means, Confirmed):
        others = {name: base.get(name, "") for name in GUARDED if name not in changes.send}
        keep_read_back(desk, step, record.record_id, crm_id, others)
    return _after(desk, step, record, call)


def _after(desk: Desk, step: Step, record: Record, call: Call) -> Standing | None:
    match call.means:
        case Confirmed(crm_id):
            return Known(crm_id, made=True)
        case NotSent(reason):
            return unreachable(desk, desk.wired[record.destination], f"not_sent_{reason}")
        case Retry() as again:
            return retry(desk, desk.wired[record.destination], again)
        case Rejected(reason, fields):
            return ForPerson(reason, dict(fields))
        case Duplicate(by):
            return ForPerson(f"duplicate_{by}")
        case Uncertain(reason):
            return look_at_once(desk, step, record, reason)
        case _:
            assert_never(call.means)


def keep_read_back(
    desk: Desk, step: Step, record_id: int, crm_id: str, others: Mapping[str, str] | None = None
) -> None:
    """Keep the values as the CRM writes them; where it does not answer, what was sent stands in for them.

    `others`: what an earlier write left in the fields that this one did not send, since those may be people's by now.
    """
    wired = desk.wired[step.held.destination]
    sight = calls.read(desk, wired, Kind.OPPORTUNITY, crm_id)
    with transaction(desk.pool) as conn:
        record = records.read(conn, record_id)
        match sight.looked:
            case Found(seen):
                kept = dict(seen.values) | dict(others or {})
                attempts.keep_read_back(conn, record_id, json.dumps(kept).encode())
                found = LookNote("read", "found", "read_back", evidence={"seen": [crm_id]}, took=sight.took)
                attempts.note_look(conn, record, found, step.held)
            case _:
                attempts.forget_read_back(conn, record_id)
