"""The state machine of a delivery: one function an arrow, its SQL above it, and nothing else moves a row.

    awaiting_approval ─approve→ received ─claim→ delivering ─confirm→ confirmed (final)
        ▲ expired, corrected      ▲  ▲            │ │ │ └─ give back → received   (lease over or graceful stop)
        └─────────────────────────┘  └─ waiting ◄─┘ │ └─ reject → review          (a person must act)
                     due later, or another's doubt  └─ in doubt → uncertain
    uncertain ─ look: found or surely absent → waiting · several, or looks used up → review
    received | waiting ─ opener refused or gone → review
    review ─ corrected, revived → received | awaiting_approval · not applied → uncertain
    any open ─ cancel, decline → cancelled (final) · newer version applied → superseded (final)

The database refuses every other arrow (`is_arrow` in sql/) and writes the history of these.  What a person's word, or
the end of an approval's time, moves stands in `intake/person_arrows.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import LiteralString
from uuid import UUID, uuid4

from psycopg import errors
from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from intake.db import Conn

FINAL = ("confirmed", "cancelled", "superseded")
OPEN = ("awaiting_approval", "received", "delivering", "waiting", "uncertain", "review")


class LostClaim(Exception):
    """The lease is over or another's: whoever held it moves nothing more, and what it sent is in doubt by itself."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A lease on one delivery.  `token` fences every UPDATE of its holder."""

    event_id: UUID
    generation: int
    token: UUID
    need_id: int
    part: str  # opener, version, follow_up
    position: int
    mode: str
    source: str
    destination: str


@dataclass(frozen=True, slots=True)
class Had:
    """What a process had of a lane: how many of it are in hand, and at which of its turns (from 1) it had the last."""

    destination: str
    source: str
    in_hand: int
    last: int


# --- received | waiting -> delivering -------------------------------------------------------------------------------

# One delivery of a need at a time, in order; one in review or uncertain does not hold the next one up (the doubt of
# their common record does, when it gets there).  SKIP LOCKED: no claim waits behind another.
#
# What has a time at which it is due is received or waiting, and nothing else is (due_iff_claimable).  To ask for the
# states as well would let PostgreSQL find them by an index of all that is open, and sort what is due at each claim.
#
# The lane of which the least is in hand goes first, then the one whose turn was longest ago: were it the one that waits
# longest, two old floods would take turns for ever with each other.  A lane is only tried where those before it gave
# nothing.
CLAIM = """
    WITH turns AS (
        SELECT l.destination, l.source
          FROM lanes l
         WHERE l.due_at <= statement_timestamp() AND l.destination = ANY(%(destinations)s)
           AND NOT EXISTS (SELECT FROM accounts a WHERE a.destination = l.destination AND a.paused_at IS NOT NULL)
           AND NOT EXISTS (SELECT FROM paused_sources p WHERE p.source = l.source)
         ORDER BY (SELECT ARRAY[had.in_hand, had.last]
                     FROM unnest(%(crms)s::text[], %(sources)s::text[], %(in_hand)s::bigint[], %(last)s::bigint[])
                          AS had (destination, source, in_hand, last)
                    WHERE (had.destination, had.source) = (l.destination, l.source)) NULLS FIRST,
                  l.due_at)
    UPDATE deliveries
       SET state = 'delivering', reason = NULL, due_at = NULL, blocked_on = NULL,
           claim_token = %(token)s, claimed_until = clock_timestamp() + %(lease)s
     WHERE (event_id, generation) = (
           SELECT next.event_id, next.generation
             FROM turns, LATERAL (
                  SELECT d.event_id, d.generation
                    FROM deliveries d
                   WHERE d.destination = turns.destination AND d.source = turns.source
                     AND d.due_at <= statement_timestamp()
                     -- All in one: of each alone the planner guesses that it is rare, and would then sort all that is
                     -- due.  What may be many is looked up one row at a time, never read as a whole.
                     AND CASE
                         -- Its approval is over.  If its work is, too, only the end is left to be noted.
                         WHEN d.approved_until <= clock_timestamp()
                          AND (SELECT r.state = 'known' FROM records r
                                WHERE r.record_id = CASE d.part WHEN 'follow_up' THEN d.note_record
                                                                ELSE d.task_record END) IS NOT TRUE
                         THEN false
                         WHEN (SELECT true FROM deliveries before
                                WHERE before.need_id = d.need_id
                                  AND CASE WHEN before.state = 'delivering' THEN true
                                           WHEN before.state IN ('received', 'waiting')
                                           THEN (before.position, before.received_at, before.event_id)
                                              < (d.position, d.received_at, d.event_id)
                                           ELSE false END
                                LIMIT 1)
                         THEN false
                         ELSE true END
                   ORDER BY d.due_at
                     FOR UPDATE OF d SKIP LOCKED
                   LIMIT 1) AS next
            LIMIT 1)
    RETURNING event_id, generation, claim_token AS token, need_id, part, position, mode, source, destination
"""


def claim(
    conn: Conn,
    *,
    destinations: Sequence[str],
    lease: timedelta,
    had: Sequence[Had] = (),
    token: UUID | None = None,
) -> Claim | None:
    """Take the next due delivery for one of these accounts; None: none is due now, or another was faster.

    `had`: what the caller had so far, each lane once; lanes of which it has less in hand go first.
    """
    parameters = {
        "token": token or uuid4(), "lease": lease, "destinations": list(destinations),
        "crms": [each.destination for each in had], "sources": [each.source for each in had],
        "in_hand": [each.in_hand for each in had], "last": [each.last for each in had],
    }  # fmt: skip
    try:
        with conn.cursor(row_factory=class_row(Claim)) as cursor:
            return cursor.execute(CLAIM, parameters).fetchone()
    except errors.UniqueViolation:
        return None  # Two deliveries of one need were claimed at once; the other one goes first.


EXTEND = """
    UPDATE deliveries SET claimed_until = clock_timestamp() + %(lease)s
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state = 'delivering' AND claim_token = %(token)s AND claimed_until > clock_timestamp()
    RETURNING claimed_until
"""


def extend(conn: Conn, held: Claim, *, lease: timedelta) -> datetime:
    """Check the lease and make it last from now; returns its new end.  Raises LostClaim."""
    return _held(conn, EXTEND, held, lease=lease)


# --- delivering -> confirmed ----------------------------------------------------------------------------------------

CONFIRM = """
    UPDATE deliveries SET state = 'confirmed', reason = NULL, claim_token = NULL, claimed_until = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state = 'delivering' AND claim_token = %(token)s
    RETURNING event_id
"""


def confirm(conn: Conn, held: Claim) -> None:
    """Everything it stands for is in the CRM.  Raises LostClaim."""
    _held(conn, CONFIRM, held)


# --- delivering -> waiting ------------------------------------------------------------------------------------------

POSTPONE = """
    UPDATE deliveries
       SET state = 'waiting', reason = %(reason)s, due_at = clock_timestamp() + %(after)s, blocked_on = %(blocked_on)s,
           claim_token = NULL, claimed_until = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state = 'delivering' AND claim_token = %(token)s
    RETURNING event_id
"""


def postpone(conn: Conn, held: Claim, *, reason: str, after: timedelta, blocked_on: int | None = None) -> None:
    """Try again later, or when record `blocked_on` is in doubt no longer.  Raises LostClaim."""
    _held(conn, POSTPONE, held, reason=reason, after=after, blocked_on=blocked_on)


# --- delivering -> uncertain ----------------------------------------------------------------------------------------

MARK_UNCERTAIN = """
    UPDATE deliveries
       SET state = 'uncertain', reason = %(reason)s, blocked_on = %(blocked_on)s,
           claim_token = NULL, claimed_until = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state = 'delivering' AND claim_token = %(token)s
    RETURNING event_id
"""


def mark_uncertain(conn: Conn, held: Claim, *, reason: str, blocked_on: int) -> None:
    """Leave the outcome open until a look at the record, or a person, settles it.  Raises LostClaim."""
    _held(conn, MARK_UNCERTAIN, held, reason=reason, blocked_on=blocked_on)


# --- delivering -> review -------------------------------------------------------------------------------------------

REJECT = """
    UPDATE deliveries
       SET state = 'review', reason = %(reason)s, fields = %(fields)s, claim_token = NULL, claimed_until = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state = 'delivering' AND claim_token = %(token)s
    RETURNING event_id
"""


def reject(conn: Conn, held: Claim, *, reason: str, fields: Mapping[str, str] | None = None) -> None:
    """A person must act.  `fields`: field -> the rule it breaks (no values).  Raises LostClaim."""
    _held(conn, REJECT, held, reason=reason, fields=Jsonb(dict(fields or {})))


# --- delivering -> superseded ---------------------------------------------------------------------------------------

SUPERSEDE = """
    UPDATE deliveries SET state = 'superseded', reason = 'newer_version', claim_token = NULL, claimed_until = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state = 'delivering' AND claim_token = %(token)s
    RETURNING event_id
"""


def supersede(conn: Conn, held: Claim) -> None:
    """A newer version stands in the CRM, and this one never wrote there.  Raises LostClaim."""
    _held(conn, SUPERSEDE, held)


# --- delivering -> received -----------------------------------------------------------------------------------------

GIVE_BACK = """
    UPDATE deliveries
       SET state = 'received', reason = NULL, due_at = clock_timestamp(), claim_token = NULL, claimed_until = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state = 'delivering' AND claim_token = %(token)s
    RETURNING event_id
"""


def give_back(conn: Conn, held: Claim) -> None:
    """Stop gracefully before anything of it is in doubt.  Raises LostClaim."""
    _held(conn, GIVE_BACK, held)


# --- lease over: delivering -> received | uncertain -----------------------------------------------------------------

# A crash needs no code of its own: what was in flight is an unsettled write, and its record is in doubt by time.
RELEASE_EXPIRED = """
    WITH expired AS (
        SELECT d.event_id, d.generation,
               (SELECT a.record_id
                  FROM attempts a
                 WHERE a.event_id = d.event_id AND a.generation = d.generation
                   AND a.kind = 'write' AND a.settled_at IS NULL
                 ORDER BY a.attempt_id DESC LIMIT 1) AS doubtful
          FROM deliveries d
         WHERE d.state = 'delivering' AND d.claimed_until < clock_timestamp()
           FOR UPDATE OF d SKIP LOCKED)
    UPDATE deliveries d
       SET state = CASE WHEN doubtful IS NULL THEN 'received' ELSE 'uncertain' END,
           reason = CASE WHEN doubtful IS NULL THEN NULL ELSE 'worker_lost' END,
           due_at = CASE WHEN doubtful IS NULL THEN clock_timestamp() END,
           blocked_on = doubtful, claim_token = NULL, claimed_until = NULL
      FROM expired
     WHERE d.event_id = expired.event_id AND d.generation = expired.generation
    RETURNING d.event_id
"""


def release_expired(conn: Conn) -> int:
    """Take the deliveries back whose worker is lost; returns how many."""
    return conn.execute(RELEASE_EXPIRED).rowcount


# --- uncertain | waiting -> waiting, due now ------------------------------------------------------------------------

# Found, or surely absent: it goes on where it stood.  `asked` counts as doubt until its time is over and a look told.
# Asked at the end of each delivery, so it must find what waits for a record without passing all that is open: the CASE
# lets no index of states be thought of.
WAKE = """
    UPDATE deliveries d
       SET state = 'waiting', reason = 'looked', due_at = clock_timestamp(), blocked_on = NULL
     WHERE (d.event_id, d.generation) IN (
           SELECT w.event_id, w.generation
             FROM deliveries w JOIN records r ON r.record_id = w.blocked_on
            WHERE w.blocked_on IS NOT NULL
              AND CASE w.state WHEN 'uncertain' THEN true WHEN 'waiting' THEN true ELSE false END
              AND r.state NOT IN ('asked', 'in_doubt')
              FOR UPDATE OF w SKIP LOCKED)
"""


def wake(conn: Conn) -> int:
    """Let the deliveries go on whose record is in doubt no longer; returns how many.  Any time, by anyone, again."""
    return conn.execute(WAKE).rowcount


# --- uncertain | waiting -> review ----------------------------------------------------------------------------------

# What the record only carries (see `intake/carried.py`) goes on waiting, as long as its carrier is there to be settled.
GIVE_UP = """
    UPDATE deliveries d SET state = 'review', reason = %(reason)s, due_at = NULL
     WHERE blocked_on = %(record_id)s AND state IN ('uncertain', 'waiting')
       AND NOT EXISTS (SELECT FROM carried c JOIN deliveries k ON k.event_id = c.carrier AND k.need_id = c.need_id
                        WHERE c.event_id = d.event_id AND c.record_id = %(record_id)s
                          AND k.state NOT IN ('confirmed', 'cancelled', 'superseded'))
    RETURNING event_id
"""


def give_up(conn: Conn, record_id: int, *, reason: str) -> int:
    """Hand all that this record's doubt holds to a person: several found, or looks used up.  Returns how many."""
    return conn.execute(GIVE_UP, {"record_id": record_id, "reason": reason}).rowcount


# ---------------------------------------------------------------------------------------------------------------------


def _held(conn: Conn, statement: LiteralString, held: Claim, **parameters: object) -> datetime:
    key = {"event_id": held.event_id, "generation": held.generation, "token": held.token}
    with conn.cursor(row_factory=scalar_row) as cursor:
        moved = cursor.execute(statement, key | parameters).fetchone()
    if moved is None:
        raise LostClaim(f"delivery {held.event_id}")
    value: datetime = moved
    return value
