"""What a delivery must know of the others of its need, and of its own records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.deliveries import Claim, LostClaim

# OFFSET 0 has the need looked up: a plan made while none was confirmed would read all that are, for good.
OTHERS = """
    SELECT EXISTS (SELECT FROM (SELECT state FROM deliveries
                                 WHERE need_id = %(need_id)s AND position > %(position)s OFFSET 0) AS newer
                    WHERE state = 'confirmed') AS newer_applied,
           EXISTS (SELECT FROM attempts
                    WHERE event_id = %(event_id)s AND record_id = %(record_id)s AND kind = 'write'
                      AND (outcome IS NULL OR outcome IN ('confirmed', 'uncertain'))
                      AND settled_how IS DISTINCT FROM 'absent') AS wrote,
           (SELECT how FROM records
             WHERE record_id = (SELECT contact_record FROM deliveries
                                 WHERE event_id = %(event_id)s AND generation = %(generation)s)) AS contact_how
"""


@dataclass(frozen=True, slots=True)
class Others:
    """`newer_applied`: a later version of the same need stands in the CRM.  `wrote`: this event wrote to the record, or
    may have.  `contact_how`: how we came to know its contact, None: not yet."""

    newer_applied: bool
    wrote: bool
    contact_how: str | None


def others(conn: Conn, held: Claim, record_id: int) -> Others:
    """How this delivery stands among those of its need, as to one record."""
    given = {
        "need_id": held.need_id,
        "position": held.position,
        "event_id": held.event_id,
        "generation": held.generation,
        "record_id": record_id,
    }
    with conn.cursor(row_factory=class_row(Others)) as cursor:
        (found,) = cursor.execute(OTHERS, given).fetchall()
    return found


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


# What is known of the contact that an event is of.  `said`: whose it is was said already, in this delivery or in one
# before it; `settled`: by a person.  Part of `contacts.MET`.
WHOSE = """
    SELECT EXISTS (SELECT FROM deliveries WHERE event_id = %(event_id)s AND contact_record IS NOT NULL) AS said,
           EXISTS (SELECT FROM decisions WHERE event_id = %(event_id)s AND action = 'settle contact') AS settled
"""


NOTE_ANYWAY = """
    SELECT note_anyway FROM deliveries WHERE event_id = %(event_id)s AND generation = %(generation)s
"""


def wants_note_anyway(conn: Conn, held: Claim) -> bool:
    """A person said that its note goes on the opportunity though that is closed."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        given = {"event_id": held.event_id, "generation": held.generation}
        return bool(cursor.execute(NOTE_ANYWAY, given).fetchone())


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
