"""What is still to be had from a sender's own service: the answers of a lead that its webhook only names, and files.

    accept ─> ask ─claim→ under way ─ got: a new revision of the lead ─> its delivery goes on
                ▲                  │ not now ─> due again        │ gone, or tried too often ─> over, for a person
                └──────────────────┘ the credential works no more ─> the lane is parked, one fetch at a time tries it

The delivery waits meanwhile; what a person typed in before the answers came is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID, uuid4

from psycopg.rows import class_row, scalar_row

from intake.db import Conn

# --- asking ---------------------------------------------------------------------------------------------------------

# OFFSET 0 has each event looked up, also by a plan that PostgreSQL before 17 made while there were few, and keeps.
ASK = """
    INSERT INTO fetches (event_id, what, source)
    SELECT e.event_id, 'lead', e.source FROM unnest(%(events)s::uuid[]) AS asked (event_id)
           CROSS JOIN LATERAL (
           SELECT event_id, source FROM events WHERE event_id = asked.event_id OFFSET 0) AS e
    ON CONFLICT DO NOTHING
"""


def ask(conn: Conn, events: Iterable[UUID]) -> None:
    """The answers of these leads are wanted; asking again is harmless."""
    wanted = list(events)
    if wanted:
        conn.execute(ASK, {"events": wanted})


@dataclass(frozen=True, slots=True)
class Fetch:
    """How a fetch stands.  `revised`: a person corrected the lead; `decided`: one decided something since it ended."""

    pending: bool
    parked: bool
    tries: int
    reason: str | None
    revised: bool
    decided: bool


OF_LEAD = """
    SELECT f.due_at IS NOT NULL AS pending, l.source IS NOT NULL AS parked, f.tries, f.reason,
           EXISTS (SELECT FROM bodies b
                    WHERE b.event_id = f.event_id AND b.what = 'lead' AND b.revision > 1) AS revised,
           EXISTS (SELECT FROM decisions d WHERE d.event_id = f.event_id AND d.at > f.ended_at) AS decided
      FROM fetches f LEFT JOIN fetch_lanes l USING (source)
     WHERE f.event_id = %(event_id)s AND f.what = 'lead'
"""
REOPEN = """
    UPDATE fetches SET due_at = clock_timestamp(), ended_at = NULL, tries = 0, reason = NULL, claim_token = NULL
     WHERE event_id = %(event_id)s AND what = 'lead' AND ended_at IS NOT NULL AND revision IS NULL
"""


def of_lead(conn: Conn, event_id: UUID) -> Fetch:
    """The fetch of this event's answers, asked for now if nobody has."""
    given = {"event_id": event_id}
    with conn.transaction(), conn.cursor(row_factory=class_row(Fetch)) as cursor:
        found = cursor.execute(OF_LEAD, given).fetchone()
        if found is None:
            ask(conn, [event_id])
        elif found.decided and not found.revised:
            conn.execute(REOPEN, given)  # A person revived it.
        else:
            return found
        found = cursor.execute(OF_LEAD, given).fetchone()
    assert found is not None  # noqa: S101  # it was inserted just now, and fetches are not deleted
    return found


# --- claiming -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claimed:
    """A fetch that is this worker's until its lease is over."""

    event_id: UUID
    what: Literal["lead", "media"]
    token: UUID
    source: str
    tries: int


CLAIM = """
    UPDATE fetches SET due_at = clock_timestamp() + %(lease)s, claim_token = %(token)s
     WHERE (event_id, what) = (
           SELECT event_id, what FROM fetches f
            WHERE due_at <= statement_timestamp() AND source = ANY(%(sources)s)
              AND NOT EXISTS (SELECT FROM fetch_lanes l WHERE l.source = f.source)
            ORDER BY due_at FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING event_id, what, claim_token AS token, source, tries
"""

# Of a parked lane one at a time, the least tried first, so that a single odd one does not keep it parked.
CLAIM_CONTROL = """
    UPDATE fetch_lanes SET control_at = clock_timestamp() + %(again)s
     WHERE source = (SELECT source FROM fetch_lanes
                      WHERE control_at <= statement_timestamp() AND source = ANY(%(sources)s)
                      ORDER BY control_at FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING source
"""
CLAIM_PARKED = """
    UPDATE fetches SET due_at = clock_timestamp() + %(lease)s, claim_token = %(token)s
     WHERE (event_id, what) = (
           SELECT event_id, what FROM fetches
            WHERE due_at IS NOT NULL AND source = %(source)s
            ORDER BY tries, asked_at FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING event_id, what, claim_token AS token, source, tries
"""


def claim(conn: Conn, *, sources: list[str], lease: timedelta, again: timedelta) -> Claimed | None:
    """The next due fetch of these sources, or one that tries a parked lane; None: none is due."""
    given = {"sources": sources, "lease": lease, "token": uuid4(), "again": again}
    with conn.transaction(), conn.cursor(row_factory=class_row(Claimed)) as cursor:
        found = cursor.execute(CLAIM, given).fetchone()
        if found is not None:
            return found
        with conn.cursor(row_factory=scalar_row) as lanes:
            parked: str | None = lanes.execute(CLAIM_CONTROL, given).fetchone()
        return cursor.execute(CLAIM_PARKED, given | {"source": parked}).fetchone() if parked else None


# --- what became of it ----------------------------------------------------------------------------------------------

# A worker whose lease is over changes nothing; what it read, another reads too.
END = """
    UPDATE fetches SET due_at = NULL, ended_at = clock_timestamp(), reason = %(reason)s, revision = %(revision)s
     WHERE event_id = %(event_id)s AND what = %(what)s AND claim_token = %(token)s AND due_at IS NOT NULL
    RETURNING event_id
"""
AGAIN = """
    UPDATE fetches
       SET due_at = clock_timestamp() + %(after)s, reason = %(reason)s, tries = tries + %(tried)s, claim_token = NULL
     WHERE event_id = %(event_id)s AND what = %(what)s AND claim_token = %(token)s AND due_at IS NOT NULL
"""


def end(conn: Conn, held: Claimed, *, revision: int | None = None, reason: str | None = None) -> bool:
    """It is over: in this revision, or in vain.  False: it was another worker's by now."""
    given = {"event_id": held.event_id, "what": held.what, "token": held.token, "revision": revision, "reason": reason}
    return conn.execute(END, given).rowcount == 1


def again(conn: Conn, held: Claimed, *, reason: str, after: timedelta, counts: bool = True) -> None:
    """Not now.  `counts`: by its own fault, so that it is one of its tries."""
    given = {"event_id": held.event_id, "what": held.what, "token": held.token, "reason": reason, "after": after}
    conn.execute(AGAIN, given | {"tried": int(counts)})
    if counts and held.what == "lead":
        conn.execute(TELL, {"reason": "fetch_failed", "event_id": held.event_id, "source": held.source})


# --- the lane of a source -------------------------------------------------------------------------------------------

PARK = """
    INSERT INTO fetch_lanes (source, what, parked_reason, control_at)
    VALUES (%(source)s, %(what)s, %(reason)s, clock_timestamp() + %(again)s)
    ON CONFLICT (source) DO UPDATE SET parked_reason = EXCLUDED.parked_reason, control_at = EXCLUDED.control_at
"""
RESUME = "DELETE FROM fetch_lanes WHERE source = %(source)s"
HURRY = "UPDATE fetches SET due_at = clock_timestamp() WHERE source = %(source)s AND due_at > statement_timestamp()"

# A source that is not configured any more, or without the token that its fetches need.  Another host may know better,
# and then its control finds out; else the lane is put off like any other that is tried in vain.
PARK_UNKNOWN = """
    INSERT INTO fetch_lanes (source, what, parked_reason, control_at)
    SELECT source, min(what), 'source_unknown', clock_timestamp() + %(again)s FROM fetches f
     WHERE due_at <= statement_timestamp() AND source <> ALL(%(sources)s)
       AND NOT EXISTS (SELECT FROM fetch_lanes l WHERE l.source = f.source)
     GROUP BY source
    ON CONFLICT DO NOTHING
    RETURNING source
"""
PUT_OFF_UNKNOWN = """
    UPDATE fetch_lanes SET control_at = clock_timestamp() + %(again)s
     WHERE control_at <= statement_timestamp() AND source <> ALL(%(sources)s)
"""

# What deliveries wait for is told anew; they wait as before.
TELL = """
    UPDATE deliveries SET reason = %(reason)s
     WHERE state = 'waiting' AND reason IN ('fetch_pending', 'fetch_failed', 'fetch_parked') AND reason <> %(reason)s
       AND source = %(source)s AND (%(event_id)s::uuid IS NULL OR event_id = %(event_id)s)
"""


def park(conn: Conn, held: Claimed, *, reason: str, again: timedelta) -> None:
    """The source's credential works no more: one fetch tries it, every now and then."""
    conn.execute(PARK, {"source": held.source, "what": held.what, "reason": reason, "again": again})
    conn.execute(TELL, {"reason": "fetch_parked", "event_id": None, "source": held.source})


def park_unknown(conn: Conn, *, sources: list[str], again: timedelta) -> list[str]:
    """Park what is due of other sources than these, so that it is seen, and hinted at no more; returns whose it is."""
    given = {"sources": sources, "again": again}
    with conn.cursor(row_factory=scalar_row) as cursor:
        parked: list[str] = cursor.execute(PARK_UNKNOWN, given).fetchall()
    for source in parked:
        conn.execute(TELL, {"reason": "fetch_parked", "event_id": None, "source": source})
    conn.execute(PUT_OFF_UNKNOWN, given)
    return parked


def resume(conn: Conn, source: str) -> bool:
    """It works again.  False: it was not parked."""
    if conn.execute(RESUME, {"source": source}).rowcount == 0:
        return False
    conn.execute(HURRY, {"source": source})
    conn.execute(TELL, {"reason": "fetch_pending", "event_id": None, "source": source})
    return True


# --- waiting -> waiting, due now ------------------------------------------------------------------------------------

WAKE = """
    UPDATE deliveries d SET due_at = clock_timestamp()
     WHERE (d.event_id, d.generation) IN (
           SELECT w.event_id, w.generation FROM deliveries w
            WHERE w.state = 'waiting' AND w.reason IN ('fetch_pending', 'fetch_failed', 'fetch_parked')
              AND w.due_at > statement_timestamp()
              AND NOT EXISTS (SELECT FROM fetches f
                               WHERE f.event_id = w.event_id AND f.what = 'lead' AND f.due_at IS NOT NULL)
              FOR UPDATE OF w SKIP LOCKED)
"""


def wake(conn: Conn) -> int:
    """Let the deliveries go on whose fetch is over; returns how many.  Any time, by anyone, again."""
    return conn.execute(WAKE).rowcount


# --- what people see ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FetchRow:
    """A fetch as it is shown.  `size` in bytes, null until the file is here."""

    what: Literal["lead", "media"]
    reference: str | None
    asked_at: datetime
    due_at: datetime | None
    ended_at: datetime | None
    tries: int
    reason: str | None
    mime_type: str | None
    size: int | None

    @property
    def told(self) -> str:
        """In one line."""
        name = f"file {self.reference}" if self.what == "media" else "answers"
        if self.ended_at is None:
            why = f" ({self.reason})" if self.reason else ""
            return f"{name}: being fetched, {self.tries} tries came to nothing{why}"
        if self.reason:
            return f"{name}: not here ({self.reason})"
        return f"{name}: {self.mime_type}, {self.size} bytes" if self.what == "media" else f"{name}: fetched"


OF_EVENT = """
    SELECT what, reference, asked_at, due_at, ended_at, tries, reason, mime_type, size
      FROM fetches WHERE event_id = %(event_id)s ORDER BY what
"""


def of_event(conn: Conn, event_id: UUID) -> list[FetchRow]:
    """What was asked for at the sender's for this event."""
    with conn.cursor(row_factory=class_row(FetchRow)) as cursor:
        return cursor.execute(OF_EVENT, {"event_id": event_id}).fetchall()
