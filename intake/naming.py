"""Naming records: each is known by one reference, whoever wants it first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import LiteralString

from psycopg.rows import scalar_row, tuple_row

from intake import siblings
from intake.db import Conn
from intake.deliveries import Claim, LostClaim
from intake.identity import Mode
from intake.records import RecordKind


@dataclass(frozen=True, slots=True)
class Scope:
    """Where records live: a CRM account and a mode.  `lease`: how long what was asked before a new epoch may linger."""

    destination: str
    mode: Mode
    lease: timedelta


def _upsert(parent: LiteralString, where: LiteralString = "") -> LiteralString:
    """In a later epoch the database may have forgotten what it wrote: every record is born in doubt."""
    return f"""
        INSERT INTO records (destination, mode, kind, reference, parent_record_id, state, asked_until, look_at)
        SELECT %(destination)s, %(mode)s, %(kind)s, %(reference)s, {parent},
               CASE WHEN epoch > 1 THEN 'in_doubt' ELSE 'none' END,
               CASE WHEN epoch > 1 THEN epoch_opened_at + %(lease)s END,
               CASE WHEN epoch > 1 THEN greatest(clock_timestamp(), epoch_opened_at + %(lease)s) END
          FROM installation {where}
        ON CONFLICT (destination, mode, kind, reference) DO UPDATE
           SET parent_record_id = CASE records.state
               WHEN 'none' THEN coalesce(EXCLUDED.parent_record_id, records.parent_record_id)
               ELSE coalesce(records.parent_record_id, EXCLUDED.parent_record_id) END
        RETURNING record_id, replaced_by
    """  # noqa: S608  # parts of ours


NAME = _upsert("%(parent)s")


def name(conn: Conn, scope: Scope, kind: RecordKind, reference: str, *, parent: int | None = None) -> int:
    """The record of this reference, made if it is not there, or the one made anew in its place; its record_id."""
    given = _given(scope, kind, reference)
    with conn.cursor(row_factory=tuple_row) as cursor:
        found = cursor.execute(NAME, given | {"parent": parent}).fetchone()
    assert found is not None  # noqa: S101  # the upsert returns a row
    return newest(conn, int(found[0])) if found[1] is not None else int(found[0])


HELD: LiteralString = """
    event_id = %(event_id)s AND generation = %(generation)s AND state = 'delivering' AND claim_token = %(token)s
"""
PARENT: LiteralString = (
    "(SELECT CASE %(kind)s WHEN 'opportunity' THEN contact_record ELSE opportunity_record END FROM held)"
)
NAME_FOR = f"""
    WITH held AS (SELECT contact_record, opportunity_record FROM deliveries WHERE {HELD} FOR NO KEY UPDATE),
    named AS ({_upsert(PARENT, "WHERE EXISTS (SELECT FROM held)")}),
    linked AS (
        UPDATE deliveries
           SET opportunity_record = CASE %(kind)s WHEN 'opportunity' THEN record_id ELSE opportunity_record END,
               task_record = CASE %(kind)s WHEN 'task' THEN record_id ELSE task_record END,
               note_record = CASE %(kind)s WHEN 'note' THEN record_id ELSE note_record END
          FROM named WHERE {HELD} AND replaced_by IS NULL)
    SELECT record_id, replaced_by FROM named
"""  # noqa: S608  # parts of ours


def name_for(conn: Conn, held: Claim, scope: Scope, kind: RecordKind, reference: str) -> int:
    """As `name`, for an opportunity, task or note of a held delivery, which is linked to it.  Raises LostClaim."""
    key = {"event_id": held.event_id, "generation": held.generation, "token": held.token}
    with conn.cursor(row_factory=tuple_row) as cursor:
        found = cursor.execute(NAME_FOR, _given(scope, kind, reference) | key).fetchone()
    if found is None:
        raise LostClaim(f"delivery {held.event_id}")
    if found[1] is None:
        return int(found[0])
    record_id = newest(conn, int(found[0]))
    siblings.link(conn, held, kind, record_id)
    return record_id


def _given(scope: Scope, kind: RecordKind, reference: str) -> dict[str, object]:
    return {
        "destination": scope.destination,
        "mode": scope.mode,
        "lease": scope.lease,
        "kind": kind,
        "reference": reference,
    }


# --- made anew ------------------------------------------------------------------------------------------------------

NEWEST = """
    WITH RECURSIVE chain AS (
        SELECT record_id, replaced_by FROM records WHERE record_id = %(record_id)s
        UNION ALL SELECT r.record_id, r.replaced_by FROM records r JOIN chain c ON r.record_id = c.replaced_by)
    SELECT record_id FROM chain WHERE replaced_by IS NULL
"""


def newest(conn: Conn, record_id: int) -> int:
    """The record that was made anew in place of this one, else itself.  Raises LookupError."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        found: int | None = cursor.execute(NEWEST, {"record_id": record_id}).fetchone()
    if found is None:
        raise LookupError(f"record {record_id}")
    return found


REPLACE = """
    UPDATE records SET replaced_by = %(new)s WHERE record_id = %(old)s AND state = 'gone' AND replaced_by IS NULL
"""
CARRY_ON = "UPDATE carried SET record_id = %(new)s WHERE record_id = %(old)s"


def replace(conn: Conn, old: int, new: int) -> None:
    """Who names a record that is gone means this one from now on, which is to carry what that one carried.

    Nothing to do if it was replaced already.
    """
    if conn.execute(REPLACE, {"old": old, "new": new}).rowcount == 1:
        conn.execute(CARRY_ON, {"old": old, "new": new})
