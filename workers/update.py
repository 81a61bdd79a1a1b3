"""Bringing an opportunity up to date with a later version, and a contact with its new number; people's values stay.

A field is changed only if the CRM still holds the value read back after our last write; otherwise it is left, and
shown.  Owner and stage are never sent.  An update in doubt is settled by reading: the values stand there, or not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import assert_never

from crm_clients.base import (
    Absent,
    Confirmed,
    ContactDraft,
    Found,
    Kind,
    OpportunityDraft,
    Seen,
    Several,
    Unsure,
)
from intake import attempts, records
from intake.attempts import LookNote
from intake.db import transaction
from intake.records import Record
from workers import calls
from workers.desk import Desk
from workers.drafts import GUARDED, guarded
from workers.look import MERGED, followed, gone, look_into, note_silence
from workers.pausing import unsure
from workers.standing import ForPerson, Halt, InDoubt, Known, Later, Standing
from workers.values import Changes, alike, compare
from workers.writing import Step, Writing, after_write, busy, interrupted, settle, write


def bring_up_to_date(desk: Desk, step: Step) -> Standing:
    """Change what this version changes, once.  Raises LostClaim."""
    return settle(desk, step, _next)


def _next(desk: Desk, step: Step, record: Record) -> Standing | None:
    match record.state:
        case "known":
            return _update(desk, step, record)
        case "asked" if record.being_asked:
            return busy(record)
        case "asked" | "in_doubt":
            return _look(desk, step, record)
        case "gone":
            return gone(desk, record)
        case _:
            return ForPerson(f"{record.kind}_gone")


def _look(desk: Desk, step: Step, record: Record) -> Standing | None:
    if record.look_due:
        look_into(desk, record, step.held)
        with desk.pool.connection() as conn:
            if records.read(conn, record.record_id).state not in {"asked", "in_doubt"}:
                return None
    return InDoubt(record.record_id, "update_in_doubt")


def _update(desk: Desk, step: Step, record: Record) -> Standing | None:
    seen = read_now(desk, record)
    if not isinstance(seen, Seen):
        return seen
    if stopped := interrupted(desk):
        return stopped
    assert isinstance(step.draft, OpportunityDraft | ContactDraft)  # noqa: S101  # nothing else is brought up to date
    if step.shared:
        return _leave(desk, step, record, seen, guarded(step.draft))
    base, wanted = written(desk, record), guarded(step.draft)
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


def _leave(desk: Desk, step: Step, record: Record, seen: Seen, wanted: Mapping[str, str]) -> Known:
    """All that reads otherwise is told, and what our last write of the other left stays what it was."""
    changes = compare({}, seen.values, wanted)
    left = Changes({}, tuple(sorted({*changes.left, *changes.send})))
    if left.left:
        _show_left(desk, step, record, left)
    return Known(seen.crm_id, left=_to_tell(left, {}, wanted))


def _to_tell(changes: Changes, base: Mapping[str, str], wanted: Mapping[str, str]) -> Mapping[str, str]:
    """What was left and is news: not what this version wants as our last write left it."""
    news = {name for name in changes.left if name in wanted and not alike(wanted[name], base.get(name))}
    if "amount" in news or "currency" in news:
        news |= {"amount", "currency"} & wanted.keys()
    return {name: each for name, each in wanted.items() if name in news}


def read_now(desk: Desk, record: Record) -> Seen | Halt:
    """The record as it stands now, or why the delivery stops: people deleted it, or the look told nothing."""
    wired = desk.wired[record.destination]
    sight = calls.read(desk, wired, Kind(record.kind), record.crm_id or "")
    match sight.looked:
        case Found(seen) if seen.live:
            return seen
        case Found(seen) if followed(desk, record, seen):
            return Later(MERGED, timedelta(0))
        case Found() | Absent():
            with transaction(desk.pool) as conn:
                records.gone(conn, record.record_id, crm_id=record.crm_id or "")
            return ForPerson(f"{record.kind}_gone")
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


def written(desk: Desk, record: Record) -> Mapping[str, str]:
    """What our last write left there: as read back, or, where that was not possible, as it was sent."""
    with desk.pool.connection() as conn:
        kept = attempts.read_back(conn, record.record_id) or attempts.last_sent(conn, record.record_id)
    values: dict[str, str] = json.loads(kept) if kept else {}
    return values


def _write(desk: Desk, step: Step, record: Record, changes: Changes, base: Mapping[str, str]) -> Standing | None:
    client, kind = desk.wired[record.destination].client, step.kind
    crm_id = record.crm_id or ""
    request = client.update(kind, crm_id, changes.send)
    draft = attempts.Draft("update", request.body or b"", json.dumps(dict(changes.send)).encode())
    writing = Writing(f"{kind}.update", request, draft, lambda answer: client.updated(kind, crm_id, answer))
    call = write(desk, step, record, writing)
    if call is None:
        return None
    if isinstance(call.means, Confirmed):
        others = {name: base.get(name, "") for name in GUARDED[kind] if name not in changes.send}
        keep_read_back(desk, step, record.record_id, crm_id, others)
    return after_write(desk, step, record, call, duplicate=lambda told: ForPerson(f"duplicate_{told.by}"))


def keep_read_back(
    desk: Desk, step: Step, record_id: int, crm_id: str, others: Mapping[str, str] | None = None
) -> None:
    """Keep the values as the CRM writes them; where it does not answer, what was sent stands in for them.

    `others`: what an earlier write left in the fields that this one did not send, since those may be people's by now.
    """
    wired = desk.wired[step.held.destination]
    sight = calls.read(desk, wired, step.kind, crm_id)
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
