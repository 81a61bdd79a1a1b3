"""A message whose opportunity takes no more: what its source's rule, or a person, wants done with it.

closed (won or lost): note · new · review     gone, or never opened: new · review
The need that took a conversation over takes what follows, too, whatever the rule says.
"""

from __future__ import annotations

from typing import Literal

from intake import needs, records, siblings
from intake.deliveries import Claim
from workers.desk import Desk
from workers.standing import Elsewhere, ForPerson

Gone = Literal["opportunity_gone", "opener_refused"]


def without(desk: Desk, held: Claim, reason: Gone) -> Elsewhere | ForPerson:
    """There is no opportunity that could take a note."""
    return Elsewhere() if _taken_over(desk, held) or _rule(desk, held) == "new" else ForPerson(reason)


def on_closed(desk: Desk, held: Claim) -> Elsewhere | ForPerson | None:
    """There is one, and it is won or lost; None: the note goes on it all the same."""
    if _taken_over(desk, held):
        return Elsewhere()
    with desk.pool.connection() as conn:
        # What was written before the opportunity was closed needs nobody's word any more.
        linked = siblings.links(conn, held).note
        written = linked is not None and records.read(conn, linked).state != "none"
        wanted = siblings.wants_note_anyway(conn, held)
    if written or wanted or _rule(desk, held) == "note":
        return None
    return Elsewhere() if _rule(desk, held) == "new" else ForPerson("opportunity_closed")


def _taken_over(desk: Desk, held: Claim) -> bool:
    with desk.pool.connection() as conn:
        return needs.successor(conn, held.need_id) is not None


def _rule(desk: Desk, held: Claim) -> Literal["note", "new", "review"]:
    source = desk.settings.sources.get(held.source)
    return source.when_closed if source else "review"
