"""Other content under a known identity, accepted by a person: a new revision of the first event.

still open ─> delivered as it is now · confirmed ─> a new generation, which changes what nobody else changed since
Where the source wants new content approved, this content waits for its own approval.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from intake import decided, identify, person_arrows, revisions
from intake.config import Settings
from intake.db import Conn
from intake.decided import About, Author, Refused
from intake.identity import Mode
from intake.lead import Lead
from intake.permitted import View, said_already
from intake.reading import Arrival, Post, Reader
from intake.worklist import ItemRow


def accept(conn: Conn, author: Author, item: ItemRow, settings: Settings) -> str:
    """Take the other content; returns the state of the delivery that goes on with it.

    Call it in the transaction that closes the item.  Raises Refused, NotAllowed.
    """
    event_id, source = item.event_id, settings.sources.get(item.source or "")
    if event_id is None or source is None:
        raise Refused("unreadable_again")
    conn.execute(decided.LOCK, {"event_id": event_id})
    seen = decided.view(conn, event_id)
    lead = other_content(conn, settings, item)
    newest = revisions.newest(conn, event_id)
    number = 1 if newest is None else newest.number + 1
    revisions.keep(conn, event_id, number, lead)
    about = About(event_id, decided.newest_generation(conn, event_id), item.item_id)
    _go_on(conn, seen, about, gated=source.approval == "required")
    decided.note(conn, author, "resolve accept", about, revision=number)
    return decided.view(conn, event_id).event.state


def _go_on(conn: Conn, seen: View, about: About, *, gated: bool) -> None:
    event_id, state = seen.event.event_id, seen.event.state
    person_arrows.become_version(conn, event_id, about.generation)
    if state != "confirmed" and (refused := said_already(seen) or being_said(conn, seen)):
        raise Refused(refused, state)
    match state:
        case "confirmed":
            person_arrows.new_generation(conn, event_id, gated=gated)
        case "awaiting_approval":
            person_arrows.ask_anew(conn, event_id, about.generation)
        case "received" | "waiting" if gated:
            person_arrows.ask_anew(conn, event_id, about.generation)
        case "received" | "waiting":
            pass  # What is claimed next is the newest revision.
        case "uncertain" if gated:
            raise Refused("in_doubt_first", state)
        case "uncertain":
            pass
        case "review":
            move = person_arrows.ask_approval if gated else person_arrows.revive
            move(conn, event_id, about.generation)
        case "delivering":
            raise Refused("in_hand", state)
        case _:
            raise Refused("not_open", state)


# While another message of its need is delivered, its words may be on their way in the same note.
NEED_IN_HAND = """
    SELECT EXISTS (SELECT FROM deliveries d JOIN deliveries other USING (need_id)
                    WHERE d.event_id = %(event_id)s AND other.state = 'delivering')
"""


def being_said(conn: Conn, seen: View) -> str | None:
    """Why a message of a conversation cannot be another now; None: nobody is writing it."""
    if seen.part != "follow_up":
        return None
    with conn.cursor(row_factory=scalar_row) as cursor:
        in_hand = cursor.execute(NEED_IN_HAND, {"event_id": seen.event.event_id}).fetchone()
    return "in_hand" if in_hand else None


# --- the other content ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Receipt:
    receipt_id: UUID
    received_at: datetime
    mode: Mode
    content_type: str
    headers: dict[str, str] = field(repr=False)
    content: bytes = field(repr=False)


RECEIPT = """
    SELECT r.receipt_id, r.received_at, r.mode, r.content_type, r.headers, b.content
      FROM receipts r JOIN bodies b ON b.receipt_id = r.receipt_id AND b.what = 'raw'
     WHERE r.receipt_id = %(receipt_id)s AND b.content IS NOT NULL
"""


def other_content(conn: Conn, settings: Settings, item: ItemRow) -> Lead:
    """What the item's receipt says under the event's identity, by today's reader.  Raises Refused."""
    source = settings.sources.get(item.source or "")
    if source is None or not source.available:
        raise Refused("unreadable_again")
    with conn.cursor(row_factory=class_row(_Receipt)) as cursor:
        found = cursor.execute(RECEIPT, {"receipt_id": item.receipt_id}).fetchone()
    if found is None:
        raise Refused("unreadable_again")
    post = Post(source.name, found.mode, found.content_type, found.headers, found.content, url="")
    reader = Reader(settings, source, found.received_at)
    received = reader.received(post, reader.read(post), Arrival(found.receipt_id, found.received_at))
    leads = [incoming.lead for identity, incoming in identify.foretold(received) if identity == item.event_id]
    if not leads:
        raise Refused("unreadable_again")
    return leads[-1]
