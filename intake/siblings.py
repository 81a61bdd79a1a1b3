"""What a delivery must know of the others of its need, and of its own records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.deliveries import Claim, LostClaim

NEWER_APPLIED = """
    SELECT EXISTS (SELECT FROM deliveries
                    WHERE need_id = %(need_id)s AND position > %(position)s AND state = 'confirmed')
"""
WROTE = """
    SELECT EXISTS (SELECT FROM attempts
                    WHERE event_id = %(event_id)s AND record_id = %(record_id)s AND kind = 'write'
                      AND (outcome IS NULL OR outcome IN ('confirmed', 'uncertain'))
                      AND settled_how IS DISTINCT FROM 'absent')
"""


def newer_applied(conn: Conn, held: Claim) -> bool:
    """A later version of the same need stands in the CRM."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        given = {"need_id": held.need_id, "position": held.position}
        return bool(cursor.execute(NEWER_APPLIED, given).fetchone())


def wrote(conn: Conn, held: Claim, record_id: int) -> bool:
    """This event wrote to that record, or may have."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        given = {"event_id": held.event_id, "record_id": record_id}
        return bool(cursor.execute(WROTE, given).fetchone())


WROTE_UNSETTLED = """
    SELECT EXISTS (SELECT FROM attempts
                    WHERE event_id = %(event_id)s AND record_id = %(record_id)s
                      AND kind = 'write' AND settled_at IS NULL)
"""


def wrote_unsettled(conn: Conn, held: Claim, record_id: int) -> bool:
    """The doubt about that record is this event's own."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        given = {"event_id": held.event_id, "record_id": record_id}
        return bool(cursor.execute(WROTE_UNSETTLED, given).fetchone())


# A follow-up waits for its opener; one that was refused or cancelled hands the others to a person.
OPENER_REFUSED = """
    SELECT EXISTS (SELECT FROM deliveries
                    WHERE need_id = %(need_id)s AND part <> 'follow_up' AND state IN ('review', 'cancelled'))
"""


def opener_refused(conn: Conn, held: Claim) -> bool:
    """The delivery that would open the opportunity will not do so by itself."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return bool(cursor.execute(OPENER_REFUSED, {"need_id": held.need_id}).fetchone())


LINKS = """
    SELECT contact_record AS contact, opportunity_record AS opportunity, note_record AS note FROM deliveries
     WHERE event_id = %(event_id)s AND generation = %(generation)s
"""


@dataclass(frozen=True, slots=True)
class Links:
    """The records that a delivery is linked to so far."""

    contact: int | None
    opportunity: int | None
    note: int | None


def links(conn: Conn, held: Claim) -> Links:
    """Raises LostClaim if there is no such delivery."""
    with conn.cursor(row_factory=class_row(Links)) as cursor:
        found = cursor.execute(LINKS, {"event_id": held.event_id, "generation": held.generation}).fetchone()
    if found is None:
        raise LostClaim(f"delivery {held.event_id}")
    return found


HAD_CONTACT = """
    SELECT EXISTS (SELECT FROM deliveries WHERE event_id = %(event_id)s AND contact_record IS NOT NULL)
"""


def had_contact(conn: Conn, held: Claim) -> bool:
    """Whose it is was said already, in this delivery or in one before it."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return bool(cursor.execute(HAD_CONTACT, {"event_id": held.event_id}).fetchone())


NOTE_ANYWAY = """
    SELECT note_anyway FROM deliveries WHERE event_id = %(event_id)s AND generation = %(generation)s
"""


def wants_note_anyway(conn: Conn, held: Claim) -> bool:
    """A person said that its note goes on the opportunity though that is closed."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        given = {"event_id": held.event_id, "generation": held.generation}
        return bool(cursor.execute(NOTE_ANYWAY, given).fetchone())


CONTACT_SETTLED = """
    SELECT EXISTS (SELECT FROM decisions WHERE event_id = %(event_id)s AND action = 'settle contact')
"""


def contact_settled(conn: Conn, held: Claim) -> bool:
    """A person said which contact it is."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return bool(cursor.execute(CONTACT_SETTLED, {"event_id": held.event_id}).fetchone())


LINK = """
    UPDATE deliveries
       SET contact_record = coalesce(%(contact)s, contact_record),
           opportunity_record = coalesce(%(opportunity)s, opportunity_record),
           task_record = coalesce(%(task)s, task_record),
           note_record = coalesce(%(note)s, note_record)
     WHERE event_id = %(event_id)s AND generation = %(generation)s
       AND state = 'delivering' AND claim_token = %(token)s
    RETURNING event_id
"""


def link(conn: Conn, held: Claim, kind: Literal["contact", "opportunity", "task", "note"], record_id: int) -> None:
    """Note which record this delivery is about.  Raises LostClaim."""
    given = dict.fromkeys(("contact", "opportunity", "task", "note")) | {kind: record_id}
    key = {"event_id": held.event_id, "generation": held.generation, "token": held.token}
    if conn.execute(LINK, given | key).rowcount != 1:
        raise LostClaim(f"delivery {held.event_id}")
