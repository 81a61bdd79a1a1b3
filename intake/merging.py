"""A record that people merged into another in the CRM: whoever names it means the one that was kept, from then on.

Nothing is written there.  The one that was kept is adopted as it is; if it is a record of ours already, it is that one.
"""

from __future__ import annotations

from psycopg.rows import scalar_row

from intake import naming, records, remaking
from intake.attempts import Patience
from intake.db import Conn
from intake.naming import Scope
from intake.records import Record, RecordKind

KNOWN_AS = """
    SELECT record_id FROM records
     WHERE destination = %(destination)s AND mode = %(mode)s AND kind = %(kind)s AND crm_id = %(crm_id)s
       AND state = 'known'
     ORDER BY record_id LIMIT 1
"""


def known_as(conn: Conn, scope: Scope, kind: RecordKind, crm_id: str) -> int | None:
    """The record of ours that stands in the CRM under this id; None: none does."""
    given = {"destination": scope.destination, "mode": scope.mode, "kind": kind, "crm_id": crm_id}
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(KNOWN_AS, given).fetchone()


class _Moved(Exception):
    """The record, or the one that would be adopted in its place, is no longer as it was read."""


def follow(conn: Conn, record: Record, *, into: str) -> bool:
    """Mean the record that was kept, which the caller saw alive.  False: it has moved since it was read."""
    try:
        with conn.transaction():
            _follow(conn, record, into)
    except _Moved:
        return False
    return True


def _follow(conn: Conn, record: Record, into: str) -> None:
    scope = Scope(record.destination, record.mode, Patience().lease)
    if records.read(conn, record.record_id).crm_id != record.crm_id:
        raise _Moved
    records.gone(conn, record.record_id, crm_id=record.crm_id or "")
    kept = known_as(conn, scope, record.kind, into)
    if kept is None:
        kept = naming.name(conn, scope, record.kind, remaking.next_reference(record.reference))
        # After a restore it would be looked for under the references of the one that is gone.
        records.unwritten(conn, kept)
        if not records.know(conn, kept, crm_id=into, how="adopted"):
            raise _Moved
    naming.replace(conn, record.record_id, kept)
    if record.kind == "contact":
        conn.execute(KEYS_FOLLOW, {"old": record.record_id, "kept": kept})


def is_of_another(record: Record, reference: str) -> bool:
    """Whether people merged what bears this reference, or is made anew in its place, into what bears another."""
    return remaking.first_reference(record.reference) != reference


# Each key keeps its reference: the CRM may show either under it.
KEYS_FOLLOW = "UPDATE contact_keys SET record_id = %(kept)s WHERE record_id = %(old)s"
