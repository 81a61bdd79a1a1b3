"""Files that came with messages (voice notes, photos, documents): wanted at acceptance, sealed when they are here.

The lead never waits for them.  The texts in the CRM name a file by its reference, and `intake media` brings it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from intake.config import Source
from intake.db import Conn
from intake.fetches import Claimed
from intake.identity import short
from intake.lead import Lead, Media

# --- wanting --------------------------------------------------------------------------------------------------------


def referenced(source: Source, lead: Lead) -> Lead:
    """The lead with a reference for each of its files, if the source keeps them."""
    if not source.media_token or not lead.enquiry.media:
        return lead
    reference = _reference(source, lead.enquiry.media)
    media = tuple(replace(each, reference=reference) if each.id else each for each in lead.enquiry.media)
    return replace(lead, enquiry=replace(lead.enquiry, media=media))


def _reference(source: Source, files: Iterable[Media]) -> str:
    """One for all files of a message, which are kept together: the same for the same ones, and telling nothing."""
    named = ":".join((source.name, *(each.id for each in files if each.id)))
    return f"m-{short(hashlib.sha256(named.encode('utf-8', 'surrogatepass')).digest())[:12]}"


ASK = """
    INSERT INTO fetches (event_id, what, source, reference)
    SELECT event_id, 'media', source, reference
      FROM jsonb_to_recordset(%(wanted)s) AS w (event_id uuid, reference text) JOIN events USING (event_id)
    ON CONFLICT DO NOTHING
"""


def ask(conn: Conn, leads: Mapping[UUID, Lead]) -> None:
    """Have the files fetched that these leads refer to."""
    wanted = [
        {"event_id": str(event_id), "reference": reference}
        for event_id, lead in leads.items()
        if (reference := next((each.reference for each in lead.enquiry.media if each.reference), None))
    ]
    if wanted:
        conn.execute(ASK, {"wanted": Jsonb(wanted)})


# --- keeping --------------------------------------------------------------------------------------------------------

END = """
    UPDATE fetches SET due_at = NULL, ended_at = clock_timestamp(), reason = NULL, mime_type = %(mime_type)s,
                       size = %(size)s
     WHERE event_id = %(event_id)s AND what = 'media' AND claim_token = %(token)s AND due_at IS NOT NULL
"""
KEEP = """
    INSERT INTO bodies (what, event_id, content) VALUES ('media', %(event_id)s, %(sealed)s) ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was fetched; `sealed` is what is stored, `size` what it is without the seal, in bytes."""

    mime_type: str
    size: int
    sealed: bytes = field(repr=False)


def keep(conn: Conn, held: Claimed, file: File) -> bool:
    """False: it was another worker's by now."""
    given = {"event_id": held.event_id, "token": held.token, "mime_type": file.mime_type, "size": file.size}
    if conn.execute(END, given).rowcount != 1:
        return False
    conn.execute(KEEP, {"event_id": held.event_id, "sealed": file.sealed})
    return True


# --- reading --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that is here.  `sealed` None: it was purged."""

    event_id: UUID
    reference: str
    mime_type: str
    size: int
    sealed: bytes | None = field(repr=False)


OF_EVENT = """
    SELECT event_id, f.reference, f.mime_type, f.size, b.content AS sealed
      FROM fetches f LEFT JOIN bodies b USING (event_id)
     WHERE f.what = 'media' AND f.size IS NOT NULL AND b.what = 'media' AND event_id = %(event_id)s
"""
BY_REFERENCE = "SELECT event_id FROM fetches WHERE reference = %(reference)s ORDER BY asked_at LIMIT 1"


def of_event(conn: Conn, event_id: UUID) -> Kept | None:
    """None: there is none, or it is not here yet."""
    with conn.cursor(row_factory=class_row(Kept)) as cursor:
        return cursor.execute(OF_EVENT, {"event_id": event_id}).fetchone()


def event_of(conn: Conn, reference: str) -> UUID | None:
    """The event whose file the CRM's texts name so; None: no such reference."""
    row = conn.execute(BY_REFERENCE, {"reference": reference}).fetchone()
    return row[0] if row else None
