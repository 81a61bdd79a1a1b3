"""Finding an event by what a person has in hand: a phone number, an e-mail, an id of ours or of the CRM, a reference.

Whoever knows a whole number or address finds its person, by keyed hashes.  Of a part of it only what lists show is
searched: what is masked there cannot be found out by trying.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from psycopg.rows import scalar_row, tuple_row

from intake import contacts, emails, installation, masked, ops, phones
from intake.db import Conn
from intake.lead import Contact

MOST: Final = 200
# A masked person is made of what the lead says, so of a list no more than the first so many are looked through.
LOOKED_THROUGH: Final = 1000
SHORTEST: Final = 2
# Whoever knows a whole number finds its person; trying out numbers until one is found would take weeks.
PER_MINUTE: Final = 60
# The beginning of a reference of ours; with fewer characters it would be that of too many.
BEGINNING: Final = re.compile(r"(t-)?[ncw][a-z2-7-]{5,63}")
ID: Final = re.compile(r"[0-9a-fA-F]{6,8}(?:-?[0-9a-fA-F-]{0,28})?")

BY_KEY: Final = """
    WITH people AS (SELECT record_id FROM contact_keys WHERE key = ANY(%(keys)s))
    SELECT DISTINCT event_id FROM deliveries WHERE contact_record IN (SELECT record_id FROM people) LIMIT %(most)s
"""
# Each way to a record is an index of its own; an OR of them would read all records, and all deliveries.
BY_RECORD: Final = """
    WITH found AS ((SELECT record_id FROM records WHERE crm_id = %(text)s LIMIT 20)
                   UNION (SELECT record_id FROM records WHERE reference = %(text)s LIMIT 20)
                   UNION (SELECT record_id FROM records WHERE reference LIKE %(beginning)s LIMIT 20))
    SELECT event_id FROM deliveries WHERE contact_record IN (SELECT record_id FROM found)
    UNION
    SELECT event_id FROM deliveries WHERE opportunity_record IN (SELECT record_id FROM found)
    UNION
    SELECT event_id FROM deliveries WHERE task_record IN (SELECT record_id FROM found)
    UNION
    SELECT event_id FROM deliveries WHERE note_record IN (SELECT record_id FROM found)
    UNION
    SELECT event_id FROM events WHERE request_id = %(text)s
     LIMIT %(most)s
"""


def find(conn: Conn, text: str, region: str) -> list[UUID]:
    """The events that it may mean.  `region`: of phone numbers typed without a country."""
    text = text.replace("\x00", "").strip()[:200]
    if not text:
        return []
    found = list(_by_id(conn, text))
    with conn.cursor(row_factory=scalar_row) as cursor:
        key = installation.read(conn).key
        person = _person(text, region)
        keys = [each.key for mode in ("live", "test") for each in contacts.keys_of(person, mode, key)]
        if keys:
            found += cursor.execute(BY_KEY, {"keys": keys, "most": MOST}).fetchall()
        beginning = f"{text}%" if BEGINNING.fullmatch(text) else None
        found += cursor.execute(BY_RECORD, {"text": text, "beginning": beginning, "most": MOST}).fetchall()
    return list(dict.fromkeys(found))


def _by_id(conn: Conn, text: str) -> list[UUID]:
    if not ID.fullmatch(text):
        return []
    try:
        return ops.begin_with(conn, text)
    except ValueError:
        return []


def _person(text: str, region: str) -> Contact:
    if emails.is_address(text):
        return Contact(email=emails.read(text))
    return Contact(phone=phones.read(text, region))


# --- by a part of what lists show ---------------------------------------------------------------------------------

# A LATERAL with an OFFSET is done for each id, by indexes.  For ANY of so many ids PostgreSQL reads all needs, and
# before 17 all deliveries too, until there are some hundred thousand.
STEMS: Final = """
    SELECT DISTINCT stem.event_id, stem.reference
      FROM unnest(%(events)s::uuid[]) AS listed (event_id)
     CROSS JOIN LATERAL (
           SELECT d.event_id, n.reference FROM deliveries d JOIN needs n USING (need_id)
            WHERE d.event_id = listed.event_id OFFSET 0
           ) AS stem
"""


def among(conn: Conn, text: str, events: Sequence[UUID]) -> list[UUID]:
    """Those of these events whose masked person, or the reference of whose need, holds this text."""
    wanted = _plain(text.replace("\x00", ""))
    if len(wanted) < SHORTEST:
        return []
    shown = [*masked.contacts(conn, events).items(), *_stems(conn, events)]
    found = {event_id for event_id, holds in shown if wanted in _plain(holds)}
    return [each for each in events if each in found][:MOST]


def _stems(conn: Conn, events: Sequence[UUID]) -> list[tuple[UUID, str]]:
    with conn.cursor(row_factory=tuple_row) as cursor:
        return cursor.execute(STEMS, {"events": list(events)}).fetchall()


def _plain(text: str) -> str:
    """Without the marks of what is hidden, which nobody types."""
    return " ".join(text.casefold().replace("\u00b7", "").replace(".", "").split())
