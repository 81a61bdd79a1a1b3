"""A person as a table may show them: enough to recognise a lead, too little to copy one."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from psycopg.rows import tuple_row

from intake import at_rest, lead_schema
from intake.db import Conn
from intake.lead import Contact

LEADS = """
    SELECT DISTINCT ON (event_id) event_id, content FROM bodies
     WHERE event_id = ANY(%(ids)s) AND what = 'lead' AND content IS NOT NULL
     ORDER BY event_id, revision DESC
"""
NOBODY = "-"
SHOWN_DIGITS = 3  # at the end of a phone number


def contacts(conn: Conn, event_ids: Sequence[UUID]) -> dict[UUID, str]:
    """The masked person of each event, a dash where it cannot be read; events whose payload was purged are missing."""
    with conn.cursor(row_factory=tuple_row) as cursor:
        at_rest.sparing(cursor)
        rows = cursor.execute(LEADS, {"ids": list(event_ids)}).fetchall()
    return {event_id: _masked(content) for event_id, content in rows}


def _masked(content: bytes) -> str:
    lead = lead_schema.legible(content)
    return NOBODY if lead is None else mask(lead.contact)


def mask(contact: Contact) -> str:
    """Initials, and the last digits of a phone number or the domain of an address."""
    own = initials(contact.name or "")
    phone = (contact.phone and contact.phone.e164) or contact.wa_id
    if phone:
        reach = f"···{phone[-SHOWN_DIGITS:]}"
    else:
        reach = f"···@{contact.email.rpartition('@')[2]}" if contact.email else ""
    return " ".join(part for part in (own, reach) if part) or NOBODY


def initials(name: str) -> str:
    """Of the first two words."""
    return " ".join(f"{word[0]}." for word in name.split()[:2])
