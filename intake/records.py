"""Records: the things in a CRM that we want to exist once, and the doubt about them.

    none ─write committed→ asked ─answer: yes→ known ─deleted, merged by people→ gone ─restored by people→ known
      ▲                     │ │
      │  surely not executed│ └─ no answer, doubtful answer → in_doubt
      └─────────────────────┘        │ found → known · absence proven → none
                                     └─ not proven: stays, and is looked at again

An update of a record that is known goes the same way, with its crm_id kept.  While a record is asked, its row is the
lock: nobody else writes it, and no lock is held over a call.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.identity import Mode

RecordKind = Literal["contact", "opportunity", "task", "note"]


@dataclass(frozen=True, slots=True)
class Record:
    """A row of `records`.  `write_id` is the last write asked of it, None: never."""

    record_id: int
    destination: str
    mode: Mode
    kind: RecordKind
    reference: str
    parent_record_id: int | None
    state: Literal["none", "asked", "in_doubt", "known", "gone"]
    asked_until: datetime | None
    crm_id: str | None
    how: str | None
    write_id: int | None
    after_doubt: bool
    ruled_absent: bool
    look_at: datetime | None
    looks: int
    # By the database's clock, when the row was read: a write may still leave; a look is due; since when none may leave.
    being_asked: bool
    look_due: bool
    asked_ago: timedelta | None


READ = "SELECT * FROM records_now WHERE record_id = %(record_id)s"


def read(conn: Conn, record_id: int) -> Record:
    """One record as it stands now.  Raises LookupError."""
    with conn.cursor(row_factory=class_row(Record)) as cursor:
        found = cursor.execute(READ, {"record_id": record_id}).fetchone()
    if found is None:
        raise LookupError(f"record {record_id}")
    return found


# A join would read all records, where it was planned while there were few.
OF_DELIVERY = """
    SELECT * FROM records_now
     WHERE record_id = (SELECT CASE %(kind)s WHEN 'contact' THEN contact_record
                                             WHEN 'opportunity' THEN opportunity_record END
                          FROM deliveries WHERE event_id = %(event_id)s AND generation = %(generation)s)
"""


def of_delivery(conn: Conn, kind: Literal["contact", "opportunity"], *, event_id: UUID, generation: int) -> Record:
    """The record that a delivery is linked to, as it stands now.  Raises LookupError: it is linked to none."""
    with conn.cursor(row_factory=class_row(Record)) as cursor:
        given = {"kind": kind, "event_id": event_id, "generation": generation}
        found = cursor.execute(OF_DELIVERY, given).fetchone()
    if found is None:
        raise LookupError(f"{kind} of delivery {event_id}")
    return found


# --- none | known -> asked ------------------------------------------------------------------------------------------

# No crm_id for a create, and the same id as read for an update: anything else has moved meanwhile.
WRITABLE = """
    record_id = %(record_id)s AND state IN ('none', 'known') AND crm_id IS NOT DISTINCT FROM %(crm_id)s
"""
# Part of `attempts.PREPARE`, which locks the record and commits its write.  What a person said of an earlier write says
# nothing of this one.
ASK = """
    UPDATE records SET state = 'asked', asked_until = lease.claimed_until, look_at = lease.claimed_until, looks = 0,
                       write_id = attempt_id, ruled_absent = false
      FROM attempt, lease WHERE record_id = %(record_id)s
"""


# --- asked | in_doubt | none -> known -------------------------------------------------------------------------------

# Also from none: an answer that comes after its absence was proven, before anything else was written, is good news.
KNOW = """
    UPDATE records
       SET state = 'known', crm_id = %(crm_id)s, how = coalesce(how, %(how)s), asked_until = NULL, looks = 0,
           look_at = CASE WHEN after_doubt THEN clock_timestamp() END, ruled_absent = false
     WHERE record_id = %(record_id)s
       AND (crm_id IS NULL AND state IN ('none', 'asked', 'in_doubt')
            OR crm_id = %(crm_id)s AND state IN ('known', 'asked', 'in_doubt'))
       AND (%(write_id)s::bigint IS NULL OR state = 'none' OR write_id = %(write_id)s)
       AND (%(write_id)s::bigint IS NOT NULL OR %(how)s <> 'adopted' OR state = 'none')
    RETURNING record_id
"""


def know(conn: Conn, record_id: int, *, crm_id: str, how: str, write_id: int | None = None) -> bool:
    """It stands in the CRM under this id.  `write_id`: whose answer says so, None: a look or a person.

    A create that followed a doubt is looked at again.  What is not ours is adopted only while nobody writes the record.
    False: the record stands under another id already, or another write is under way: the caller makes it an incident.
    """
    parameters = {"record_id": record_id, "crm_id": crm_id, "how": how, "write_id": write_id}
    return conn.execute(KNOW, parameters).rowcount == 1


# --- asked -> none | known ------------------------------------------------------------------------------------------

NOT_EXECUTED = """
    UPDATE records
       SET state = CASE WHEN crm_id IS NULL THEN 'none' ELSE 'known' END, asked_until = NULL, look_at = NULL,
           ruled_absent = false
     WHERE record_id = %(record_id)s AND write_id = %(write_id)s AND state IN ('asked', 'in_doubt')
"""


def not_executed(conn: Conn, record_id: int, *, write_id: int) -> None:
    """This write surely did nothing; the record stands where it stood.  Nothing to do if it has moved on since."""
    conn.execute(NOT_EXECUTED, {"record_id": record_id, "write_id": write_id})


# --- asked -> in_doubt ----------------------------------------------------------------------------------------------

DOUBT = """
    UPDATE records SET state = 'in_doubt'
     WHERE record_id = %(record_id)s AND write_id = %(write_id)s AND state = 'asked'
"""


def doubt(conn: Conn, record_id: int, *, write_id: int) -> None:
    """The answer to this write does not say whether it was executed."""
    conn.execute(DOUBT, {"record_id": record_id, "write_id": write_id})


# --- in doubt -> none | known ---------------------------------------------------------------------------------------

ABSENT = """
    UPDATE records
       SET state = CASE WHEN crm_id IS NULL THEN 'none' ELSE 'known' END,
           asked_until = NULL, look_at = NULL, looks = 0, after_doubt = true, ruled_absent = false
     WHERE record_id = %(record_id)s AND state IN ('asked', 'in_doubt') AND asked_until <= clock_timestamp()
       AND write_id IS NOT DISTINCT FROM %(write_id)s
"""
SETTLE_WRITE = """
    UPDATE attempts SET settled_at = clock_timestamp(), settled_how = %(how)s,
                        confirmed_at = CASE WHEN %(how)s = 'look' THEN clock_timestamp() END
     WHERE record_id = %(record_id)s AND kind = 'write' AND settled_at IS NULL
"""


def absent(conn: Conn, record: Record, *, how: Literal["absent", "enforced", "person"]) -> bool:
    """Its last write surely did nothing and never will: it may be written again.  False: it has moved meanwhile."""
    key = {"record_id": record.record_id, "write_id": record.write_id}
    with conn.transaction():
        if conn.execute(ABSENT, key).rowcount != 1:
            return False
        settle_write(conn, record.record_id, how=how)
    return True


UNWRITTEN = """
    UPDATE records SET state = 'none', asked_until = NULL, look_at = NULL
     WHERE record_id = %(record_id)s AND state = 'in_doubt' AND crm_id IS NULL AND write_id IS NULL
"""


def unwritten(conn: Conn, record_id: int) -> None:
    """Whoever calls this knows better of a record that a later epoch made in doubt, and that nothing was asked of."""
    conn.execute(UNWRITTEN, {"record_id": record_id})


def settle_write(conn: Conn, record_id: int, *, how: str) -> None:
    """The doubt about the record's unsettled write is over; nothing to do if there is none."""
    conn.execute(SETTLE_WRITE, {"record_id": record_id, "how": how})


# --- known -> gone --------------------------------------------------------------------------------------------------

GONE = """
    UPDATE records
       SET state = 'gone', crm_id = %(crm_id)s, how = coalesce(how, 'look'), asked_until = NULL, look_at = NULL,
           ruled_absent = false
     WHERE record_id = %(record_id)s AND (crm_id IS NULL OR crm_id = %(crm_id)s)
"""


def gone(conn: Conn, record_id: int, *, crm_id: str) -> None:
    """It stands in the trash, or people merged or deleted it: never made again under this reference."""
    with conn.transaction():
        if conn.execute(GONE, {"record_id": record_id, "crm_id": crm_id}).rowcount == 1:
            settle_write(conn, record_id, how="look")


# --- gone -> known --------------------------------------------------------------------------------------------------

BACK = """
    UPDATE records SET state = 'known' WHERE record_id = %(record_id)s AND state = 'gone' AND crm_id = %(crm_id)s
"""


def back(conn: Conn, record_id: int, *, crm_id: str) -> None:
    """People took it out of the trash again, or the CRM had shown it gone by mistake."""
    conn.execute(BACK, {"record_id": record_id, "crm_id": crm_id})


# --- when to look ---------------------------------------------------------------------------------------------------

# Claiming a look moves its due time: two workers do not look at once, and a worker that dies delays one look, no more.
CLAIM_LOOK = """
    UPDATE records SET look_at = clock_timestamp() + %(hold)s
     WHERE record_id = (
           SELECT record_id FROM records r
            WHERE look_at <= statement_timestamp() AND destination = ANY(%(destinations)s)
              AND (%(record_id)s::bigint IS NULL OR record_id = %(record_id)s)
              AND NOT EXISTS (SELECT FROM accounts a
                               WHERE a.destination = r.destination AND a.paused_at IS NOT NULL)
            ORDER BY look_at FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING record_id
"""


def claim_look(conn: Conn, *, destinations: list[str], hold: timedelta, record_id: int | None = None) -> Record | None:
    """Take the next record whose look is due (or this one, if it is); None: none is."""
    parameters = {"destinations": destinations, "hold": hold, "record_id": record_id}
    with conn.cursor(row_factory=scalar_row) as cursor:
        claimed = cursor.execute(CLAIM_LOOK, parameters).fetchone()
    return None if claimed is None else read(conn, claimed)


# What a person said of it meanwhile changes what the next look means, so that one is due at once.
LOOK_AGAIN = """
    UPDATE records
       SET look_at = clock_timestamp() + CASE WHEN ruled_absent = %(ruled_absent)s THEN %(after)s ELSE interval '0' END,
           looks = looks + %(counts)s
     WHERE record_id = %(record_id)s AND state = %(state)s AND write_id IS NOT DISTINCT FROM %(write_id)s
"""


def look_again(conn: Conn, record: Record, *, after: timedelta, counts: bool) -> None:
    """Plan the next look.  `counts` False: this one told nothing and costs no budget."""
    conn.execute(LOOK_AGAIN, {
        "record_id": record.record_id, "state": record.state, "write_id": record.write_id,
        "ruled_absent": record.ruled_absent, "after": after, "counts": int(counts),
    })  # fmt: skip


STOP_LOOKING = "UPDATE records SET look_at = NULL WHERE record_id = %(record_id)s AND state = 'known'"


def stop_looking(conn: Conn, record_id: int) -> None:
    """A known record that was looked at again stands alone, as it should."""
    conn.execute(STOP_LOOKING, {"record_id": record_id})


LOOK_NOW = """
    UPDATE records SET look_at = greatest(clock_timestamp(), CASE WHEN state = 'asked' THEN asked_until END)
     WHERE record_id = %(record_id)s AND state IN ('asked', 'in_doubt')
"""


def look_now(conn: Conn, record_id: int) -> None:
    """Make the look of a record in doubt due at once (not before its write can no longer leave)."""
    conn.execute(LOOK_NOW, {"record_id": record_id})


# Nobody can say of a write that may still leave whether it was applied.
RULE_ABSENT = """
    UPDATE records SET ruled_absent = true
     WHERE record_id = %(record_id)s
       AND (state = 'in_doubt' OR state = 'asked' AND asked_until <= clock_timestamp())
"""


def rule_absent(conn: Conn, record_id: int) -> bool:
    """A person says that its write was not applied.  False: it is not in doubt, or its write may still leave."""
    return conn.execute(RULE_ABSENT, {"record_id": record_id}).rowcount == 1
