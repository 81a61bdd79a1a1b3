"""By what a record is looked for in its CRM, and whether an "absent" would count."""

from __future__ import annotations

from dataclasses import dataclass, field

from psycopg.rows import class_row

from intake.accounts import CONTROL_SERVES
from intake.contacts import REFERENCES
from intake.db import Conn
from intake.records import Record

# The values stand with the last write, if that was an update.
READ = f"""
    SELECT ARRAY({REFERENCES}) AS references,
           (SELECT crm_id FROM records WHERE record_id = %(parent_record_id)s) AS parent_id,
           (SELECT b.content FROM bodies b JOIN attempts a USING (attempt_id)
             WHERE a.attempt_id = %(write_id)s AND a.action = 'update' AND b.what = 'values') AS wanted,
           EXISTS (SELECT FROM sentinels
                    WHERE destination = %(destination)s AND kind = %(kind)s
                      AND seen_at > clock_timestamp() - %(serves)s::interval) AS controlled
"""  # noqa: S608  # a statement of ours


@dataclass(frozen=True, slots=True)
class LookedFor:
    """`references`: every one that it may bear.  `parent_id`: the CRM's id of the record that it hangs on, if any.

    `wanted`: the values that its last update asked for, as JSON; None: its last write was a create, or is purged.
    `controlled`: the sentinel of its kind was found some minutes ago, which serves the look before a first create.
    """

    references: list[str]
    parent_id: str | None
    wanted: bytes | None = field(repr=False)
    controlled: bool


def read(conn: Conn, record: Record) -> LookedFor:
    """All that a look must know, in one question to the database."""
    given = {
        "record_id": record.record_id,
        "parent_record_id": record.parent_record_id,
        "write_id": record.write_id,
        "destination": record.destination,
        "kind": record.kind,
        "serves": CONTROL_SERVES,
    }
    with conn.cursor(row_factory=class_row(LookedFor)) as cursor:
        (found,) = cursor.execute(READ, given).fetchall()
    return found
