"""Which content of an event a delivery says: its sender may change that while it is under way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from psycopg.rows import class_row

from intake import deliveries, person_arrows, revisions
from intake.db import Conn
from intake.deliveries import Claim
from intake.lead import UPDATED
from workers.desk import Desk
from workers.standing import Later
from workers.work import Work

# The reason of a delivery whose content a person has not seen, though it approved an earlier one.
UNSEEN = "content_came"


@dataclass(frozen=True, slots=True)
class Content:
    """`revision`: the newest when the delivery began.  `approved`: which a person let pass, None: none was asked."""

    revision: int
    approved: int | None


OF_DELIVERY = """
    SELECT d.approved_revision AS approved,
           coalesce((SELECT max(revision) FROM bodies b WHERE b.event_id = d.event_id AND what = 'lead'), 0) AS revision
      FROM deliveries d WHERE d.event_id = %(event_id)s AND d.generation = %(generation)s
"""


def begun(desk: Desk, held: Claim) -> Content:
    """Read it before the lead itself: what comes between the two is at worst delivered twice, and told once."""
    given = {"event_id": held.event_id, "generation": held.generation}
    with desk.pool.connection() as conn, conn.cursor(row_factory=class_row(Content)) as cursor:
        found = cursor.execute(OF_DELIVERY, given).fetchone()
    return found or Content(0, None)


def unseen(begun: Content, work: Work) -> Later | None:
    """Why it goes no further: a doubt or a fault lay between its approval and what the sender said since."""
    seen = begun.approved is None or begun.approved >= begun.revision or not work.updated
    return None if seen else Later(UNSEEN, timedelta(0))


def hold(conn: Conn, held: Claim, begun: Content) -> None:
    """Ask for an approval of the newest content.  Call it where the delivery waits, in the same transaction."""
    person_arrows.hold_completed(conn, held.event_id, revision=begun.revision, hold=None)


def confirm(desk: Desk, conn: Conn, held: Claim, begun: Content) -> None:
    """This content is in the CRM; what its sender said meanwhile is another delivery's.  Raises LostClaim."""
    deliveries.confirm(conn, held)
    # The arrow holds the delivery's row, as whoever adds a revision does.
    newest = revisions.newest(conn, held.event_id)
    if newest is None or newest.number <= begun.revision or newest.lead is None or UPDATED not in newest.lead.flags:
        return
    source = desk.settings.sources.get(held.source)
    person_arrows.new_generation(conn, held.event_id, gated=source is not None and source.approval == "required")
