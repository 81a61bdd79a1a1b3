"""Looking at a record in doubt, and what a look changes.

found, alive → known · found, in the trash → gone · several → an incident, and a person
absent: proven → none (it may be written again) · not proven → looked at again, ever more seldom
no answer → looked at again soon, at no cost
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Final, assert_never

from crm_clients.base import Absent, Found, Kind, Looked, Seen, Several, Unsure
from intake import absence, attempts, deliveries, items, looked_for, merging, records
from intake.attempts import Action, LookNote, LookOutcome
from intake.db import Conn, transaction
from intake.deliveries import Claim
from intake.looked_for import LookedFor
from intake.records import Record
from workers import backoff, calls, sentinels
from workers.calls import Sight
from workers.desk import Desk, Wired
from workers.sentinels import Control
from workers.standing import ForPerson, Later
from workers.strategy import Never, Proven, Refused, Strategy, of_update, strategy
from workers.values import is_same

# A claimed look that died with its worker is due again after this.
HOLD = timedelta(minutes=2)

# Why a delivery begins anew: a record of its was merged into another, which it is to name.
MERGED: Final = "merged"
# One may be merged into one that is merged later; a ring of them is the CRM's fault.
MOST_MERGES: Final = 5

# A create that followed a doubt is looked at again: at once, after the limit (which may be longer than this), an hour
# later, then nightly for a week.
RECHECKS = (timedelta(minutes=3), timedelta(hours=1), *(timedelta(days=1),) * 7)


def look_due(desk: Desk) -> bool:
    """Look at the next record whose look is due.  False: none is."""
    with transaction(desk.pool) as conn:
        record = records.claim_look(conn, destinations=desk.destinations, hold=HOLD)
    if record is None:
        return False
    look_into(desk, record)
    return True


def look_into(desk: Desk, record: Record, held: Claim | None = None) -> Looked:
    """One look, kept with what it means for the record and for the deliveries that wait for it."""
    wired = desk.wired[record.destination]
    known = record.crm_id is not None
    control = Control("yes") if known else sentinels.control(desk, wired, Kind(record.kind))
    sight = see(desk, wired, record)
    desk.at(f"{record.kind}.looked")
    with transaction(desk.pool) as conn:
        attempts.note_look(conn, record, note(sight, wired, record, control), held)
        _conclude(conn, record, sight, control, plan(wired, record))
        deliveries.wake(conn)
    return sight.looked


def plan(wired: Wired, record: Record) -> Strategy:
    """How this record is written once in this CRM: made, or changed where it stands already and that is in doubt."""
    kind = Kind(record.kind)
    how = of_update if record.crm_id is not None and record.state in {"asked", "in_doubt"} else strategy
    return how(kind, wired.capability(kind), wired.destination.assume_limit)


def see(desk: Desk, wired: Wired, record: Record, known: LookedFor | None = None) -> Sight:
    """By its id where it has one, else under every reference that it may bear.  `known`: if it was read just now."""
    if known is None:
        with desk.pool.connection() as conn:
            known = looked_for.read(conn, record)
    if record.crm_id is None or record.state == "known":
        return calls.find(desk, wired, Kind(record.kind), known.references, known.parent_id)
    sight = calls.read(desk, wired, Kind(record.kind), record.crm_id)
    if isinstance(sight.looked, Found) and sight.looked.seen.live and not _shows(sight.looked.seen, known.wanted):
        return Sight(Absent(), sight.answered, sight.took, sight.asked, sight.evidence | {"update": "not there"})
    return sight


def _shows(seen: Seen, wanted: bytes | None) -> bool:
    """Whether the values that our last update asked for stand there."""
    if wanted is None:
        return True
    values: dict[str, str] = json.loads(wanted)
    return all(is_same(name, seen.values.get(name), value) for name, value in values.items())


def note(sight: Sight, wired: Wired, record: Record, control: Control) -> LookNote:
    """The look as it is kept: ids, statuses and words of ours, no content."""
    outcome, reason, seen = _told(sight.looked, control)
    by_id = record.crm_id is not None and record.state != "known"
    return LookNote(
        action="read" if by_id else "find",
        outcome=outcome,
        reason=reason,
        strength=wired.capability(Kind(record.kind)).look,
        controlled=control.told == "yes",
        took=sight.took + (control.silence or timedelta(0)),
        answered=sight.answered and control.silence is None,
        evidence={"asked": list(sight.asked), "seen": list(seen), "control": control.told, **sight.evidence},
    )


def gone(desk: Desk, record: Record) -> Later | ForPerson | None:
    """Why a delivery stops at a record that was gone; None: people have taken it out of the trash since."""
    sight = calls.read(desk, desk.wired[record.destination], Kind(record.kind), record.crm_id or "")
    if isinstance(sight.looked, Found):
        seen = sight.looked.seen
        if followed(desk, record, seen):
            return Later(MERGED, timedelta(0))
        if seen.live:
            with transaction(desk.pool) as conn:
                records.back(conn, record.record_id, crm_id=seen.crm_id)
            return None
    return ForPerson(f"{record.kind}_gone")


def followed(desk: Desk, record: Record, seen: Seen) -> bool:
    """Whether people merged it into one that stands, which whoever names this record means from now on."""
    wired, kept = desk.wired[record.destination], seen
    for _ in range(MOST_MERGES):
        if kept.live or kept.merged_into is None:
            break
        looked = calls.read(desk, wired, Kind(record.kind), kept.merged_into).looked
        if not isinstance(looked, Found):
            return False
        kept = looked.seen
    if not kept.live or kept.crm_id == record.crm_id:
        return False
    with desk.pool.connection() as conn:
        return merging.follow(conn, record, into=kept.crm_id)


def note_silence(desk: Desk, record: Record, action: Action, reason: str, lasted: timedelta) -> None:
    """A call about this record got no answer.  That is kept, because no proof of absence may span it."""
    silent = LookNote(action, "unsure", reason, took=lasted, answered=False)
    with desk.pool.connection() as conn:
        attempts.note_look(conn, record, silent)


def _told(looked: Looked, control: Control) -> tuple[LookOutcome, str | None, tuple[str, ...]]:
    match looked:
        case Found(seen):
            return "found", None if seen.live else "not_live", (seen.crm_id,)
        case Several(crm_ids):
            return "several", None, crm_ids
        case Absent():
            return "absent", None if control.told == "yes" else control.reason, ()
        case Unsure(reason):
            return "unsure", reason, ()
        case _:
            assert_never(looked)


# --- what it means --------------------------------------------------------------------------------------------------


def _conclude(conn: Conn, record: Record, sight: Sight, control: Control, plan: Strategy) -> None:
    match sight.looked:
        case Found(seen) if record.state == "known":
            _recheck(conn, record, seen.crm_id, plan)
        case Found(seen):
            settle_found(conn, record, seen)
        case Several(crm_ids):
            double(conn, record, crm_ids)
        case Absent() if record.state == "known":
            _recheck(conn, record, None, plan)
        case Absent():
            _absent(conn, record, control, plan)
        case Unsure(after=after):
            records.look_again(conn, record, after=after or backoff.AFTER_UNSURE, counts=False)
        case _:
            assert_never(sight.looked)


def settle_found(conn: Conn, record: Record, seen: Seen) -> None:
    """The doubt is over: it stands there, or stood there and people removed it."""
    if not seen.live:
        records.gone(conn, record.record_id, crm_id=seen.crm_id)
        return
    if records.know(conn, record.record_id, crm_id=seen.crm_id, how="look"):
        records.settle_write(conn, record.record_id, how="look")
        attempts.forget_read_back(conn, record.record_id)
    elif records.read(conn, record.record_id).crm_id not in (None, seen.crm_id):
        double(conn, record, (seen.crm_id,))


def double(conn: Conn, record: Record, crm_ids: tuple[str, ...]) -> None:
    """Two under one reference: an incident at once, and no delivery goes on by itself."""
    evidence: dict[str, object] = {"reference": record.reference, "crm_ids": list(crm_ids)}
    items.open_incident(conn, record.record_id, reason="several", evidence=evidence)
    deliveries.give_up(conn, record.record_id, reason="several")
    records.look_again(conn, record, after=backoff.LOOKS[-1], counts=True)


def _recheck(conn: Conn, record: Record, crm_id: str | None, plan: Strategy) -> None:
    """`crm_id`: what stands under its reference, None: nothing that a search finds (it is read by its id at night)."""
    if crm_id not in (None, record.crm_id):
        double(conn, record, tuple(filter(None, (record.crm_id, crm_id))))
    elif record.looks < len(RECHECKS):
        after = max(RECHECKS[record.looks], _span(plan))
        records.look_again(conn, record, after=after, counts=True)
    else:
        records.stop_looking(conn, record.record_id)


def _absent(conn: Conn, record: Record, control: Control, plan: Strategy) -> None:
    if _is_proven(conn, record, plan):
        return
    if record.looks + 1 >= backoff.MOST_LOOKS:
        deliveries.give_up(conn, record.record_id, reason="looks_used_up")
    counts = control.told == "yes" or isinstance(plan.proof, Never)
    after = _until_next(conn, record, plan) if counts else None
    records.look_again(conn, record, after=backoff.AFTER_UNSURE if after is None else after, counts=after is not None)


def _until_next(conn: Conn, record: Record, plan: Strategy) -> timedelta | None:
    """This look is the first of a proof, also of one that a silence made begin anew: the next may end it.

    One that came too early to count (a person asked for it) is followed by one as soon as that counts.  None: it fell
    into a silence of the account, and tells nothing.
    """
    ago = record.asked_ago or timedelta(0)
    counts_after = _span(plan) if record.ruled_absent else timedelta(0)
    if ago < counts_after:
        return counts_after - ago + backoff.PAST_THE_SPAN
    if isinstance(plan.proof, Proven):
        begun = absence.absence_span(conn, record)
        return None if begun < timedelta(0) else plan.proof.span - begun + backoff.PAST_THE_SPAN
    return backoff.look(record.looks)


def _is_proven(conn: Conn, record: Record, plan: Strategy) -> bool:
    """Whether it may be written again now; a person's word replaces the strength of the look, never time."""
    if record.asked_ago is None or record.asked_ago < timedelta(0):
        return False
    if record.ruled_absent and record.asked_ago >= _span(plan):
        return records.absent(conn, record, how="person")
    match plan.proof:
        case Refused():
            return records.absent(conn, record, how="enforced")
        case Proven(span):
            begun = absence.absence_span(conn, record)
            if begun <= timedelta(0) or begun < span:
                return False  # One look is no proof, also where limit and lag are nothing.
            return records.absent(conn, record, how="absent")
        case Never():
            return False
        case _:
            assert_never(plan.proof)


def _span(plan: Strategy) -> timedelta:
    """How long the CRM may still execute what it got, as far as anybody knows."""
    match plan.proof:
        case Proven(span) | Never(span):
            return span
        case Refused():
            return timedelta(0)
        case _:
            assert_never(plan.proof)
