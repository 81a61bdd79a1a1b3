"""What an operator settles: each decision is one transaction of what it changes and a row that says who and why.

Records are changed before deliveries, in the order in which a look does it, so that the two cannot deadlock.  Whether
something is allowed is asked of `permitted`, and again of the arrow's own WHERE: a worker may have been quicker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal
from uuid import UUID

from intake import decided, deliveries, lead_schema, needs, person_arrows, records, revisions
from intake.db import Conn
from intake.decided import Author, Refused, view
from intake.permitted import View
from intake.records import RecordKind
from intake.trail import RecordRow

__all__ = ["Applied", "Approval", "Author", "Correction", "Refused", "view"]

# --- settle ---------------------------------------------------------------------------------------------------------


def to_settle(seen: View, kind: RecordKind | None, *, only_doubtful: bool) -> RecordRow:
    """The record that a settlement is about: the one in doubt, or the one of this kind.  Raises Refused."""
    open_states = {"asked", "in_doubt"} if only_doubtful else {"none", "asked", "in_doubt"}
    candidates = [each for each in seen.records if each.state in open_states]
    if kind is not None:
        candidates = [each for each in candidates if each.kind == kind]
    else:
        doubtful = [each for each in candidates if each.in_doubt]
        candidates = [each for each in doubtful if each.blocks] or doubtful or candidates
    if not candidates:
        raise Refused("no_such_record" if kind else "everything_known", seen.event.state)
    if len(candidates) > 1:
        raise Refused("several_in_doubt", seen.event.state)
    if candidates[0].being_asked:  # By another event of the same contact or need: what it will do nobody knows yet.
        raise Refused("in_hand", seen.event.state)
    return candidates[0]


@dataclass(frozen=True, slots=True)
class Applied:
    """The id that a person names.  `verified`: it was read back from the CRM and bears our reference."""

    crm_id: str
    verified: bool


def settle_applied(conn: Conn, author: Author, event_id: UUID, record: RecordRow, applied: Applied) -> None:
    """A person says that this record stands in the CRM; the delivery goes on with its next step.

    Raises Refused, NotAllowed.
    """
    with conn.transaction():
        seen = decided.allowed(conn, event_id, "settle applied")
        if any(each.record_id == record.record_id and each.being_asked for each in seen.records):
            raise Refused("in_hand", seen.event.state)
        about = decided.about(conn, seen)
        how = "settled" if applied.verified else "settled_unverified"
        if not records.know(conn, record.record_id, crm_id=applied.crm_id, how=how):
            raise Refused("other_id", seen.event.state)
        records.settle_write(conn, record.record_id, how="person")
        if seen.event.state == "review":
            person_arrows.revive(conn, event_id, about.generation)
        said = {"record": record.kind, "crm_id": applied.crm_id, "verified": applied.verified}
        decided.note(conn, author, "settle applied", about, **said)
        deliveries.wake(conn)


def settle_not_applied(conn: Conn, author: Author, event_id: UUID, *, kind: RecordKind | None = None) -> RecordRow:
    """A person says that the write in doubt was not applied: its time must still pass, and one look find nothing.

    Returns the record it is about.  Raises Refused, NotAllowed.
    """
    with conn.transaction():
        seen = decided.allowed(conn, event_id, "settle not-applied")
        about = decided.about(conn, seen)
        record = to_settle(seen, kind, only_doubtful=True)
        if not records.rule_absent(conn, record.record_id):
            raise Refused("nothing_in_doubt", seen.event.state)
        records.look_now(conn, record.record_id)
        if seen.event.state == "review":
            person_arrows.doubt_again(conn, event_id, about.generation, blocked_on=record.record_id)
        decided.note(conn, author, "settle not-applied", about, record=record.kind)
    return record


def settle_note(conn: Conn, author: Author, event_id: UUID) -> None:
    """A person wants the note though the opportunity is closed.  Raises Refused, NotAllowed."""
    with conn.transaction():
        about = decided.about(conn, decided.allowed(conn, event_id, "settle note", lock=True))
        person_arrows.note_anyway(conn, event_id, about.generation)
        decided.note(conn, author, "settle note", about)


def settle_new(conn: Conn, author: Author, event_id: UUID) -> None:
    """Another opportunity for this message and those of its conversation that follow.  Raises Refused, NotAllowed."""
    with conn.transaction():
        seen = decided.allowed(conn, event_id, "settle new", lock=True)
        about = decided.about(conn, seen)
        grouped = needs.open_again(conn, needs.of_delivery(conn, event_id, about.generation), event_id)
        person_arrows.rehome(conn, event_id, about.generation, need_id=grouped.need_id, part=grouped.part)
        decided.note(conn, author, "settle new", about, need=grouped.need_id, part=grouped.part)


# --- the other actions on an event ----------------------------------------------------------------------------------


def cancel(conn: Conn, author: Author, event_id: UUID, *, action: Literal["cancel", "decline"] = "cancel") -> View:
    """Stop here for good.  Returns it as it stands then: what is in the CRM stays.  Raises Refused, NotAllowed."""
    with conn.transaction():
        seen = decided.allowed(conn, event_id, action)
        about = decided.about(conn, seen)
        person_arrows.cancel(conn, event_id, about.generation)
        standing = {each.kind: each.crm_id for each in seen.records if each.crm_id}
        doubtful = {each.kind: each.reference for each in seen.in_doubt}
        decided.note(conn, author, action, about, standing=standing, in_doubt=doubtful)
        return view(conn, event_id)


def revive(conn: Conn, author: Author, event_id: UUID) -> None:
    """Try again from the first unconfirmed step, with a new budget.  Raises Refused, NotAllowed."""
    with conn.transaction():
        about = decided.about(conn, decided.allowed(conn, event_id, "revive"))
        person_arrows.revive(conn, event_id, about.generation)
        decided.note(conn, author, "revive", about)


@dataclass(frozen=True, slots=True)
class Approval:
    """`revision` and `fingerprint`: the content that the person saw, None: the newest.  `lasts` None: for good."""

    revision: int | None = None
    fingerprint: str | None = None
    lasts: timedelta | None = None


ANY = Approval()


def approve(conn: Conn, author: Author, event_id: UUID, wanted: Approval = ANY) -> revisions.Named:
    """Let exactly this content be delivered, which is returned.  Raises Refused, NotAllowed."""
    with conn.transaction():
        # Locked, so that no other content takes its place between what is approved and what is delivered.
        seen = decided.allowed(conn, event_id, "approve", lock=True)
        about = decided.about(conn, seen)
        content = revisions.named(conn, event_id)
        if content is None:
            raise Refused("purged", seen.event.state)
        if content.fingerprint is None:
            raise Refused("illegible", seen.event.state)
        if wanted.revision not in {None, content.revision} or wanted.fingerprint not in {None, content.fingerprint}:
            raise Refused("older_content", seen.event.state)
        person_arrows.approve(conn, event_id, about.generation, revision=content.revision, lasts=wanted.lasts)
        said = {"revision": content.revision, "fingerprint": content.fingerprint}
        decided.note(conn, author, "approve", about, **said)
    return content


def look(conn: Conn, author: Author, event_id: UUID) -> int:
    """Make the looks of its records in doubt due now; returns how many.  Raises Refused."""
    with conn.transaction():
        seen = decided.allowed(conn, event_id, "look")
        for each in seen.in_doubt:
            records.look_now(conn, each.record_id)
        decided.note(conn, author, "look", decided.about(conn, seen), records=[each.kind for each in seen.in_doubt])
        return len(seen.in_doubt)


@dataclass(frozen=True, slots=True)
class Correction:
    """`changes`: field -> new value.  `region`: of phone numbers typed without a country.

    `gated`: the source wants new content approved.
    """

    changes: Mapping[str, str] = field(repr=False)
    region: str
    gated: bool


def correct(conn: Conn, author: Author, event_id: UUID, wanted: Correction) -> int:
    """Deliver other values; the original is kept.  Returns the new revision.

    Raises Refused, NotAllowed, InvalidCorrection.
    """
    with conn.transaction():
        seen = decided.allowed(conn, event_id, "correct", lock=True)
        about = decided.about(conn, seen)
        newest = revisions.newest(conn, event_id)
        if newest is None or newest.lead is None:
            raise Refused("purged", seen.event.state)
        lead = lead_schema.correct(newest.lead, wanted.changes, region=wanted.region)
        revisions.keep(conn, event_id, newest.number + 1, lead)
        person_arrows.become_version(conn, event_id, about.generation)
        if seen.event.state == "review":
            move = person_arrows.ask_approval if wanted.gated else person_arrows.revive
            move(conn, event_id, about.generation)
        decided.note(conn, author, "correct", about, fields=sorted(wanted.changes), revision=newest.number + 1)
    return newest.number + 1
