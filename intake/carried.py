"""Messages that are joined: which record carries what an event said, where that is not a record of its own.

    while it waits ─ its carrier's create is committed → carried, in the same transaction
        ▲                                                  │
        └─ the record surely does not exist, and its       ├─ the record is known → confirmed, without a call to the CRM
           carrier will not make it: it is on its own again└─ the record is in doubt → it waits

So nothing is lost with a carrier that is refused or cancelled, and nothing is said twice while there is a doubt.  Who
holds a delivery holds its need, so that no two workers ever change the rows of one need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.deliveries import Claim, LostClaim
from intake.records import Record

# One text of more messages than these would be read by nobody; the others go into the next note.
MOST = 50


class MembersMoved(Exception):
    """What the draft was made of has changed meanwhile: nothing was committed, nothing may be sent; draft it again."""


# --- whose words a record carries ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Members:
    """The events whose words a record carries, besides its maker's.

    `fixed`: it may carry no others, nor fewer.  `alone`: it carries none, and no row says that it ever did.
    """

    events: tuple[UUID, ...]
    fixed: bool
    alone: bool = False


STORED = "SELECT event_id FROM carried WHERE record_id = %(record_id)s"
# What was cancelled, corrected or handed to a person since is not sent again with a record that surely does not exist.
STORED_AND_WANTED = """
    SELECT c.event_id, d.need_id = c.need_id
                       AND (d.state = 'confirmed'
                            OR d.state IN ('received', 'waiting')
                               AND (d.approved_until IS NULL OR d.approved_until > clock_timestamp())) AS wanted
      FROM carried c
      JOIN LATERAL (SELECT * FROM deliveries WHERE event_id = c.event_id ORDER BY generation DESC LIMIT 1) d ON true
     WHERE c.record_id = %(record_id)s
"""
# Those that wait, in their order, and stand nowhere yet; not those that wait for something of their own.
WAITING = """
    SELECT d.event_id
      FROM deliveries d JOIN deliveries maker ON maker.event_id = %(event_id)s AND maker.generation = %(generation)s
     WHERE d.need_id = maker.need_id AND d.event_id <> maker.event_id
       AND d.part = 'follow_up' AND d.generation = 1 AND d.state IN ('received', 'waiting')
       AND (%(within)s::interval IS NULL OR d.received_at <= maker.received_at + %(within)s)
       AND (d.approved_until IS NULL OR d.approved_until > clock_timestamp())
       AND d.note_anyway = maker.note_anyway
       AND (d.reason IS NULL OR d.reason NOT LIKE 'fetch%%')
       AND NOT EXISTS (SELECT FROM paused_sources p WHERE p.source = d.source)
       AND NOT EXISTS (SELECT FROM records r
                        WHERE r.record_id = d.note_record AND (r.state <> 'none' OR r.write_id IS NOT NULL))
       AND NOT EXISTS (SELECT FROM carried c WHERE c.event_id = d.event_id AND c.need_id = d.need_id)
       AND (SELECT true FROM bodies b
             WHERE b.event_id = d.event_id AND b.what = 'lead' AND b.content IS NOT NULL LIMIT 1)
     ORDER BY d.position, d.received_at, d.event_id LIMIT %(most)s
"""


def members(conn: Conn, held: Claim, record: Record, *, within: timedelta | None) -> Members:
    """Whose words this record carries, or may carry, if the held delivery makes it now.

    `within`: only what came so soon after the maker's own message; None: all that waits.
    """
    with conn.cursor(row_factory=scalar_row) as cursor:
        if record.state != "none":
            return Members(tuple(cursor.execute(STORED, {"record_id": record.record_id})), fixed=True)
        stored: dict[UUID, bool] = dict(conn.execute(STORED_AND_WANTED, {"record_id": record.record_id}))
        wanted = tuple(event for event, is_wanted in stored.items() if is_wanted)
        if wanted or record.write_id is not None:
            return Members(wanted, fixed=True)
        key = {"event_id": held.event_id, "generation": held.generation}
        waiting = tuple(cursor.execute(WAITING, key | {"within": within, "most": MOST}))
        return Members(waiting, fixed=False, alone=not (stored or waiting))


# --- fixed, with the attempt that creates the record -----------------------------------------------------------------

# A person may have cancelled one of them while the draft was written: then this is fewer than were asked for.
TAKE = """
    UPDATE deliveries d
       SET note_record = %(record_id)s, opportunity_record = coalesce(%(opportunity)s, d.opportunity_record)
     WHERE d.event_id = ANY(%(members)s) AND d.need_id = %(need_id)s
       AND d.generation = (SELECT max(n.generation) FROM deliveries n WHERE n.event_id = d.event_id)
       AND (d.state = 'confirmed'
            OR d.state IN ('received', 'waiting')
               AND (d.approved_until IS NULL OR d.approved_until > clock_timestamp()))
"""
KEEP = """
    INSERT INTO carried (event_id, need_id, record_id, carrier)
    SELECT member, %(need_id)s, %(record_id)s, %(carrier)s FROM unnest(%(members)s::uuid[]) AS member
    ON CONFLICT (event_id) DO UPDATE
       SET need_id = EXCLUDED.need_id, record_id = EXCLUDED.record_id, carrier = EXCLUDED.carrier
     WHERE carried.record_id = EXCLUDED.record_id OR carried.need_id <> EXCLUDED.need_id
"""
LEAVE_OUT = """
    WITH others AS (
        DELETE FROM carried WHERE record_id = %(record_id)s AND event_id <> ALL(%(members)s::uuid[])
        RETURNING event_id)
    UPDATE deliveries d SET note_record = NULL FROM others o
     WHERE d.event_id = o.event_id AND d.note_record = %(record_id)s
"""


def fix(conn: Conn, held: Claim, record: Record, carries: Sequence[UUID]) -> None:
    """From now on exactly these stand in the record.  Belongs in the transaction that commits its create.

    Raises MembersMoved.
    """
    given = {
        "record_id": record.record_id,
        "opportunity": record.record_id if record.kind == "opportunity" else record.parent_record_id,
        "need_id": held.need_id,
        "carrier": held.event_id,
        "members": list(carries),
    }
    conn.execute(LEAVE_OUT, given)
    if not carries:
        return
    if conn.execute(TAKE, given).rowcount != len(carries) or conn.execute(KEEP, given).rowcount != len(carries):
        raise MembersMoved(f"record {record.record_id}")


# --- carried, and on its own again -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Carried:
    """Where the words of an event stand.  `will_be_made`: if that is not there yet, its carrier goes on to make it."""

    record_id: int
    carrier: UUID
    will_be_made: bool


CARRIED = """
    SELECT c.record_id, c.carrier,
           EXISTS (SELECT FROM deliveries d
                    WHERE d.event_id = c.carrier AND d.need_id = c.need_id
                      AND d.state IN ('received', 'delivering', 'waiting', 'uncertain')) AS will_be_made
      FROM carried c WHERE c.event_id = %(event_id)s AND c.need_id = %(need_id)s
"""


def of_event(conn: Conn, held: Claim) -> Carried | None:
    """None: what it says goes into a record of its own."""
    with conn.cursor(row_factory=class_row(Carried)) as cursor:
        return cursor.execute(CARRIED, {"event_id": held.event_id, "need_id": held.need_id}).fetchone()


UNLINK = """
    UPDATE deliveries SET note_record = NULL
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state = 'delivering' AND claim_token = %(token)s
"""
# The others that wait for the same record, too, so that they go into one note again.
FREE = """
    WITH freed AS (
        DELETE FROM carried c
         WHERE c.event_id = %(event_id)s
            OR c.record_id = %(record_id)s
               AND EXISTS (SELECT FROM deliveries d
                            WHERE d.event_id = c.event_id AND d.state IN ('received', 'waiting'))
        RETURNING c.event_id)
    UPDATE deliveries d SET note_record = NULL FROM freed f
     WHERE d.event_id = f.event_id AND d.note_record = %(record_id)s
"""


def free(conn: Conn, held: Claim, record_id: int) -> None:
    """The record that was to carry it surely does not exist, and is not made any more.  Raises LostClaim."""
    key = {"event_id": held.event_id, "generation": held.generation, "token": held.token}
    with conn.transaction():
        if conn.execute(UNLINK, key).rowcount != 1:
            raise LostClaim(f"delivery {held.event_id}")
        conn.execute(FREE, key | {"record_id": record_id})


# --- for those who read ----------------------------------------------------------------------------------------------

CARRIED_BY = """
    SELECT c.carrier FROM carried c JOIN deliveries d USING (event_id, need_id)
     WHERE c.event_id = %(event_id)s ORDER BY d.generation DESC LIMIT 1
"""
CARRIES = "SELECT event_id FROM carried WHERE carrier = %(event_id)s ORDER BY carried_at, event_id"


def carrier_of(conn: Conn, event_id: UUID) -> UUID | None:
    """The event whose record carries this one's words; None: they have a record of their own, or none yet."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(CARRIED_BY, {"event_id": event_id}).fetchone()


def carried_with(conn: Conn, event_id: UUID) -> list[UUID]:
    """The events whose words stand in a record of this one."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(CARRIES, {"event_id": event_id}).fetchall()
