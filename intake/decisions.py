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

from psycopg.rows import scalar_row, tuple_row
from psycopg.types.json import Jsonb

from intake import accounts, deliveries, lead_schema, ops, records, worklist
from intake.db import Conn
from intake.explain_texts import Action
from intake.ops import RecordRow
from intake.permitted import View, refusal
from intake.records import RecordKind

# A person's pause has no end of its own, so its control call is due in a hundred years.
UNTIL_RESUMED = timedelta(days=36_500)


@dataclass(frozen=True, slots=True)
class Author:
    """Who decides, and why."""

    by: str
    reason: str


class Refused(Exception):
    """Nothing was changed.  `why` is a key of REFUSALS, `state` where the delivery stands."""

    def __init__(self, why: str, state: str = "") -> None:
        super().__init__(f"{why} {state}".strip())
        self.why = why
        self.state = state


# --- what a decision is about ---------------------------------------------------------------------------------------


def view(conn: Conn, event_id: UUID) -> View:
    """The event and its records as they stand.  Raises LookupError."""
    event = ops.event(conn, event_id)
    if event is None:
        raise LookupError(f"event {event_id}")
    return View(event, ops.records(conn, event_id))


def _allowed(conn: Conn, event_id: UUID, action: Action) -> View:
    seen = view(conn, event_id)
    refused = refusal(action, seen)
    if refused is not None:
        raise Refused(refused, seen.event.state)
    return seen


NEWEST = "SELECT max(generation) FROM deliveries WHERE event_id = %(event_id)s"


def _generation(conn: Conn, event_id: UUID) -> int:
    with conn.cursor(row_factory=scalar_row) as cursor:
        newest: int | None = cursor.execute(NEWEST, {"event_id": event_id}).fetchone()
    return newest or 1


DECIDE = """
    INSERT INTO decisions (author, reason, action, event_id, generation, item_id, detail)
    VALUES (%(author)s, %(reason)s, %(action)s, %(event_id)s, %(generation)s, %(item_id)s, %(detail)s)
"""


@dataclass(frozen=True, slots=True)
class _About:
    event_id: UUID | None = None
    generation: int | None = None
    item_id: int | None = None


def _note(conn: Conn, author: Author, action: str, about: _About, **detail: object) -> None:
    """`detail`: ids and names of fields, no content."""
    given = {"author": author.by, "reason": author.reason, "action": action, "detail": Jsonb(detail)}
    key = {"event_id": about.event_id, "generation": about.generation, "item_id": about.item_id}
    conn.execute(DECIDE, given | key)


def _about(conn: Conn, seen: View) -> _About:
    return _About(seen.event.event_id, _generation(conn, seen.event.event_id), seen.event.open_item)


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
        seen = _allowed(conn, event_id, "settle applied")
        about = _about(conn, seen)
        how = "settled" if applied.verified else "settled_unverified"
        if not records.know(conn, record.record_id, crm_id=applied.crm_id, how=how):
            raise Refused("other_id", seen.event.state)
        records.settle_write(conn, record.record_id, how="person")
        if seen.event.state == "review":
            deliveries.revive(conn, event_id, about.generation or 1)
        said = {"record": record.kind, "crm_id": applied.crm_id, "verified": applied.verified}
        _note(conn, author, "settle applied", about, **said)
        deliveries.wake(conn)


def settle_not_applied(conn: Conn, author: Author, event_id: UUID, *, kind: RecordKind | None = None) -> RecordRow:
    """A person says that the write in doubt was not applied: its time must still pass, and one look find nothing.

    Returns the record it is about.  Raises Refused, NotAllowed.
    """
    with conn.transaction():
        seen = _allowed(conn, event_id, "settle not-applied")
        about = _about(conn, seen)
        record = to_settle(seen, kind, only_doubtful=True)
        if not records.rule_absent(conn, record.record_id):
            raise Refused("nothing_in_doubt", seen.event.state)
        records.look_now(conn, record.record_id)
        if seen.event.state == "review":
            deliveries.doubt_again(conn, event_id, about.generation or 1, blocked_on=record.record_id)
        _note(conn, author, "settle not-applied", about, record=record.kind)
    return record


# --- the other actions on an event ----------------------------------------------------------------------------------


def cancel(conn: Conn, author: Author, event_id: UUID, *, action: Literal["cancel", "decline"] = "cancel") -> View:
    """Stop here for good.  Returns it as it stands then: what is in the CRM stays.  Raises Refused, NotAllowed."""
    with conn.transaction():
        about = _about(conn, _allowed(conn, event_id, action))
        deliveries.cancel(conn, event_id, about.generation or 1)
        _note(conn, author, action, about)
        return view(conn, event_id)


def revive(conn: Conn, author: Author, event_id: UUID) -> None:
    """Try again from the first unconfirmed step, with a new budget.  Raises Refused, NotAllowed."""
    with conn.transaction():
        about = _about(conn, _allowed(conn, event_id, "revive"))
        deliveries.revive(conn, event_id, about.generation or 1)
        _note(conn, author, "revive", about)


def approve(conn: Conn, author: Author, event_id: UUID) -> None:
    """Let it be delivered.  Raises Refused, NotAllowed."""
    with conn.transaction():
        about = _about(conn, _allowed(conn, event_id, "approve"))
        deliveries.approve(conn, event_id, about.generation or 1)
        _note(conn, author, "approve", about)


def look(conn: Conn, author: Author, event_id: UUID) -> int:
    """Make the looks of its records in doubt due now; returns how many.  Raises Refused."""
    with conn.transaction():
        seen = _allowed(conn, event_id, "look")
        for each in seen.in_doubt:
            records.look_now(conn, each.record_id)
        _note(conn, author, "look", _about(conn, seen), records=[each.kind for each in seen.in_doubt])
        return len(seen.in_doubt)


NEWEST_LEAD = """
    SELECT revision, content FROM bodies WHERE event_id = %(event_id)s AND what = 'lead' ORDER BY revision DESC LIMIT 1
"""
KEEP_REVISION = """
    INSERT INTO bodies (what, event_id, revision, content) VALUES ('lead', %(event_id)s, %(revision)s, %(lead)s)
"""


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
        seen = _allowed(conn, event_id, "correct")
        about = _about(conn, seen)
        with conn.cursor(row_factory=tuple_row) as cursor:
            newest = cursor.execute(NEWEST_LEAD, {"event_id": event_id}).fetchone()
        if newest is None or newest[1] is None:
            raise Refused("purged", seen.event.state)
        lead = lead_schema.correct(lead_schema.load(newest[1]), wanted.changes, region=wanted.region)
        revision = int(newest[0]) + 1
        conn.execute(KEEP_REVISION, {"event_id": event_id, "revision": revision, "lead": lead_schema.dump(lead)})
        if seen.event.state == "review":
            move = deliveries.ask_approval if wanted.gated else deliveries.revive
            move(conn, event_id, about.generation or 1)
        _note(conn, author, "correct", about, fields=sorted(wanted.changes), revision=revision)
    return revision


# --- items and accounts ---------------------------------------------------------------------------------------------

CLOSE_ITEM = """
    UPDATE items SET closed_at = clock_timestamp(), resolution = %(resolution)s
     WHERE item_id = %(item_id)s AND closed_at IS NULL
"""
ASSIGN_ITEM = "UPDATE items SET assignee = %(assignee)s WHERE item_id = %(item_id)s AND closed_at IS NULL"

# What each resolution may close.
RESOLVES: Mapping[str, tuple[worklist.ItemKind, ...]] = {"keep": ("conflict",), "accept": ("incident",)}


class NotInThisVersion(Exception):
    """What was asked for is planned, and not there yet."""


def resolve(conn: Conn, author: Author, item_id: int, resolution: Literal["keep", "accept", "release"]) -> None:
    """Close a conflict (keep what stands) or an incident (accept that it was seen to).

    Raises LookupError, Refused, NotInThisVersion.
    """
    with conn.transaction():
        found = worklist.item(conn, item_id)
        if found is None:
            raise LookupError(f"item {item_id}")
        if found.kind == "delivery":
            raise Refused("item_of_delivery")
        if found.kind not in RESOLVES.get(resolution, ()):
            raise NotInThisVersion(f"resolve {resolution} of a {found.kind}")
        if conn.execute(CLOSE_ITEM, {"item_id": item_id, "resolution": resolution}).rowcount != 1:
            raise Refused("item_closed")
        _note(conn, author, f"resolve {resolution}", _About(event_id=found.event_id, item_id=item_id))


def assign(conn: Conn, author: Author, item_id: int, assignee: str) -> None:
    """Give an open item to a person.  Raises LookupError, Refused."""
    with conn.transaction():
        found = worklist.item(conn, item_id)
        if found is None:
            raise LookupError(f"item {item_id}")
        if conn.execute(ASSIGN_ITEM, {"item_id": item_id, "assignee": assignee}).rowcount != 1:
            raise Refused("item_closed")
        _note(conn, author, "assign", _About(event_id=found.event_id, item_id=item_id), assignee=assignee)


def pause(conn: Conn, author: Author, destination: str) -> None:
    """Deliver nothing to this account until a person resumes it."""
    with conn.transaction():
        accounts.pause(conn, destination, reason="paused_by_person", again=UNTIL_RESUMED)
        _note(conn, author, "pause", _About(), destination=destination)


def resume(conn: Conn, author: Author, destination: str) -> bool:
    """Deliver again.  False: it was not paused, and nothing was changed."""
    with conn.transaction():
        if not accounts.resume(conn, destination):
            return False
        _note(conn, author, "resume", _About(), destination=destination)
        return True
