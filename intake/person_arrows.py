"""The arrows of a delivery that only a person's word, or the end of its time, may take.

    awaiting_approval ─ approved → received
    any open but delivering ─ cancel, decline → cancelled (final)
    review ─ revived → received · corrected → awaiting_approval · not applied → uncertain
    awaiting_approval | received | waiting | review ─ other content → awaiting_approval
    received | waiting ─ approval expired → awaiting_approval
    awaiting_approval ─ newer version asks for approval → superseded
    review ─ its opportunity is another → received, as a part of another need
    confirmed ─ redelivered, or other content accepted → a new generation, which begins anew

The others stand in `intake/deliveries.py`; the database refuses every other arrow.
"""

from __future__ import annotations

from datetime import timedelta
from typing import LiteralString
from uuid import UUID

from psycopg.rows import scalar_row

from intake.db import Conn
from intake.deliveries import Claim, LostClaim

# --- a person's arrows ----------------------------------------------------------------------------------------------


class NotAllowed(Exception):
    """The delivery is not in a state that this action leaves; `state` is where it stands, None: no such delivery."""

    def __init__(self, action: str, state: str | None) -> None:
        super().__init__(f"{action} is not possible while the delivery is {state or 'unknown'}")
        self.action = action
        self.state = state


# awaiting_approval -> received
APPROVE = """
    UPDATE deliveries
       SET state = 'received', reason = NULL, due_at = clock_timestamp(),
           approved_revision = %(revision)s, approved_until = clock_timestamp() + %(lasts)s::interval
     WHERE event_id = %(event_id)s AND generation = %(generation)s AND state = 'awaiting_approval'
    RETURNING event_id
"""


def approve(
    conn: Conn, event_id: UUID, generation: int, *, revision: int | None = None, lasts: timedelta | None = None
) -> None:
    """Let this revision be delivered.  `lasts`: until when, None: for good.  Raises NotAllowed."""
    decided(conn, APPROVE, "approve", event_id, generation, revision=revision, lasts=lasts)


# review -> received
REVIVE = """
    UPDATE deliveries
       SET state = 'received', reason = NULL, fields = '{}', due_at = clock_timestamp(), blocked_on = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s AND state = 'review'
    RETURNING event_id
"""


def revive(conn: Conn, event_id: UUID, generation: int) -> None:
    """Try again from its first unconfirmed step.  Raises NotAllowed."""
    decided(conn, REVIVE, "revive", event_id, generation)


# any open state but delivering -> cancelled
CANCEL = """
    UPDATE deliveries SET state = 'cancelled', reason = 'cancelled', due_at = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state IN ('awaiting_approval', 'received', 'waiting', 'uncertain', 'review')
    RETURNING event_id
"""


def cancel(conn: Conn, event_id: UUID, generation: int) -> None:
    """Stop here.  What stands in the CRM stays there; looks at a record in doubt go on.  Raises NotAllowed."""
    decided(conn, CANCEL, "cancel", event_id, generation)


# review -> awaiting_approval
ASK_APPROVAL = """
    UPDATE deliveries
       SET state = 'awaiting_approval', reason = 'corrected', fields = '{}', due_at = NULL, blocked_on = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s AND state = 'review'
    RETURNING event_id
"""


def ask_approval(conn: Conn, event_id: UUID, generation: int) -> None:
    """It was corrected, and its source wants new content approved.  Raises NotAllowed."""
    decided(conn, ASK_APPROVAL, "correct", event_id, generation)


# review -> uncertain
DOUBT_AGAIN = """
    UPDATE deliveries SET state = 'uncertain', reason = 'settled_not_applied', blocked_on = %(blocked_on)s
     WHERE event_id = %(event_id)s AND generation = %(generation)s AND state = 'review'
    RETURNING event_id
"""


def doubt_again(conn: Conn, event_id: UUID, generation: int, *, blocked_on: int) -> None:
    """A person says that the write of this record was not applied: time and a look still apply.  Raises NotAllowed."""
    decided(conn, DOUBT_AGAIN, "settle not-applied", event_id, generation, blocked_on=blocked_on)


# --- approvals ------------------------------------------------------------------------------------------------------

# received | waiting -> awaiting_approval.  Where everything that it stands for is in the CRM, there is nothing left to
# approve: it goes on to its end.
EXPIRE = """
    UPDATE deliveries d
       SET state = 'awaiting_approval', reason = 'approval_expired', due_at = NULL, blocked_on = NULL,
           approved_revision = NULL, approved_until = NULL
     WHERE (d.event_id, d.generation) IN (
           SELECT e.event_id, e.generation FROM deliveries e
            WHERE e.state IN ('received', 'waiting') AND e.approved_until <= clock_timestamp()
              AND NOT EXISTS (SELECT FROM records r
                               WHERE r.record_id = CASE e.part WHEN 'follow_up' THEN e.note_record
                                                               ELSE e.task_record END
                                 AND r.state = 'known')
              FOR UPDATE OF e SKIP LOCKED)
"""


def expire(conn: Conn) -> int:
    """Ask again where an approval is over before anything was delivered by it; returns how many."""
    return conn.execute(EXPIRE).rowcount


# awaiting_approval | received | waiting | review -> awaiting_approval
ASK_ANEW = """
    UPDATE deliveries
       SET state = 'awaiting_approval', reason = 'corrected', due_at = NULL, blocked_on = NULL,
           approved_revision = NULL, approved_until = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state IN ('awaiting_approval', 'received', 'waiting', 'review')
"""


def ask_anew(conn: Conn, event_id: UUID, generation: int) -> None:
    """Its content is another now, and its source wants new content approved.  Raises NotAllowed."""
    decided(conn, ASK_ANEW, "resolve accept", event_id, generation)


# received | waiting -> awaiting_approval
HOLD_COMPLETED = """
    UPDATE deliveries
       SET state = 'awaiting_approval', reason = coalesce(%(hold)s, 'content_came'), due_at = NULL, blocked_on = NULL,
           approved_revision = NULL, approved_until = NULL
     WHERE event_id = %(event_id)s AND state IN ('received', 'waiting')
       AND (%(hold)s::text IS NOT NULL OR approved_revision < %(revision)s)
"""


def hold_completed(conn: Conn, event_id: UUID, *, revision: int, hold: str | None) -> None:
    """The rest of its content came: a rule of its source holds it (`hold`), or what was approved was less than this."""
    conn.execute(HOLD_COMPLETED, {"event_id": event_id, "revision": revision, "hold": hold})


# awaiting_approval -> superseded.  One that wrote already (corrected, or expired halfway) is no mere draft.
SUPERSEDE_WAITING = """
    UPDATE deliveries d SET state = 'superseded', reason = 'newer_version'
     WHERE d.need_id = ANY(%(need_ids)s) AND d.state = 'awaiting_approval' AND d.part = 'version'
       AND EXISTS (SELECT FROM deliveries newer
                    WHERE newer.need_id = d.need_id AND newer.position > d.position AND newer.state <> 'cancelled')
       AND NOT EXISTS (SELECT FROM attempts a
                        WHERE a.event_id = d.event_id AND a.record_id = d.opportunity_record AND a.kind = 'write'
                          AND (a.outcome IS NULL OR a.outcome IN ('confirmed', 'uncertain'))
                          AND a.settled_how IS DISTINCT FROM 'absent')
"""


def supersede_waiting(conn: Conn, need_ids: list[int]) -> int:
    """A version that waits for approval gives way to a newer one, which needs its own.  Returns how many did."""
    return conn.execute(SUPERSEDE_WAITING, {"need_ids": need_ids}).rowcount


# --- a new generation -----------------------------------------------------------------------------------------------

# What stands in the CRM is passed over; so it is a version, which brings what stands up to date.
NEW_GENERATION = """
    INSERT INTO deliveries (event_id, generation, need_id, part, position, mode, source, destination, assignee,
                            state, reason, due_at)
    SELECT event_id, generation + 1, need_id, CASE part WHEN 'opener' THEN 'version' ELSE part END, position, mode,
           source, destination, assignee, CASE WHEN %(gated)s THEN 'awaiting_approval' ELSE 'received' END,
           CASE WHEN %(gated)s THEN 'corrected' END, CASE WHEN NOT %(gated)s THEN clock_timestamp() END
      FROM deliveries WHERE event_id = %(event_id)s ORDER BY generation DESC LIMIT 1
    RETURNING generation
"""


def new_generation(conn: Conn, event_id: UUID, *, gated: bool) -> int:
    """Deliver a final event again; returns the new generation.  `gated`: its content must be approved first."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        generation: int | None = cursor.execute(NEW_GENERATION, {"event_id": event_id, "gated": gated}).fetchone()
    if generation is None:
        raise LookupError(f"delivery of event {event_id}")
    return generation


# An opener whose opportunity stands is a version from now on: it brings that up to date instead of passing it over.
BECOME_VERSION = """
    UPDATE deliveries d SET part = 'version'
     WHERE event_id = %(event_id)s AND generation = %(generation)s AND part = 'opener'
       AND EXISTS (SELECT FROM records r WHERE r.record_id = d.opportunity_record AND r.state <> 'none')
"""


def become_version(conn: Conn, event_id: UUID, generation: int) -> None:
    """What takes the place of its first content also changes the opportunity that this made, if it did."""
    conn.execute(BECOME_VERSION, {"event_id": event_id, "generation": generation})


# --- a part of another need ------------------------------------------------------------------------------------------

# review -> received
REHOME = """
    UPDATE deliveries
       SET state = 'received', reason = NULL, fields = '{}', due_at = clock_timestamp(), blocked_on = NULL,
           need_id = %(need_id)s, part = %(part)s, opportunity_record = NULL, task_record = NULL, note_record = NULL,
           claim_token = NULL, claimed_until = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s AND state = 'review'
"""
# delivering -> received
REHOME_HELD = """
    UPDATE deliveries
       SET state = 'received', reason = NULL, due_at = clock_timestamp(), blocked_on = NULL,
           need_id = %(need_id)s, part = %(part)s, opportunity_record = NULL, task_record = NULL, note_record = NULL,
           claim_token = NULL, claimed_until = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state = 'delivering' AND claim_token = %(token)s
"""


def rehome(conn: Conn, event_id: UUID, generation: int, *, need_id: int, part: str) -> None:
    """A person gives it another need: its opportunity is another one.  Raises NotAllowed."""
    decided(conn, REHOME, "settle new", event_id, generation, need_id=need_id, part=part)


def rehome_held(conn: Conn, held: Claim, *, need_id: int, part: str) -> None:
    """The rule of its source does so.  Raises LostClaim."""
    key = {"event_id": held.event_id, "generation": held.generation, "token": held.token}
    if conn.execute(REHOME_HELD, key | {"need_id": need_id, "part": part}).rowcount != 1:
        raise LostClaim(f"delivery {held.event_id}")


# review -> received
NOTE_ANYWAY = """
    UPDATE deliveries
       SET state = 'received', reason = NULL, fields = '{}', due_at = clock_timestamp(), blocked_on = NULL,
           note_anyway = true
     WHERE event_id = %(event_id)s AND generation = %(generation)s AND state = 'review'
"""


def note_anyway(conn: Conn, event_id: UUID, generation: int) -> None:
    """A person wants its note on the opportunity, though that is closed.  Raises NotAllowed."""
    decided(conn, NOTE_ANYWAY, "settle note", event_id, generation)


# ----------------------------------------------------------------------------------------------------------------------

STATE_OF = "SELECT state FROM deliveries WHERE event_id = %(event_id)s AND generation = %(generation)s"


def decided(
    conn: Conn, statement: LiteralString, action: str, event_id: UUID, generation: int, **parameters: object
) -> None:
    """Take a person's arrow.  Raises NotAllowed where it does not lead from there."""
    key = {"event_id": event_id, "generation": generation, **parameters}
    if conn.execute(statement, key).rowcount == 1:
        return
    with conn.cursor(row_factory=scalar_row) as cursor:
        raise NotAllowed(action, cursor.execute(STATE_OF, key).fetchone())
