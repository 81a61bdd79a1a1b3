"""Finding an event by what a person has in hand: a phone number, an e-mail, an id of ours or of the CRM, a reference.

People are known by keyed hashes, so that no text is searched, and nothing is shown that was not asked for.
"""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID

from psycopg.rows import scalar_row

from intake import contacts, emails, installation, ops, phones
from intake.db import Conn
from intake.lead import Contact

MOST: Final = 200
ID: Final = re.compile(r"[0-9a-fA-F]{6,8}(?:-?[0-9a-fA-F-]{0,28})?")

BY_KEY: Final = """
    WITH people AS (SELECT record_id FROM contact_keys WHERE key = ANY(%(keys)s))
    SELECT DISTINCT event_id FROM deliveries WHERE contact_record IN (SELECT record_id FROM people) LIMIT %(most)s
"""
# Each way to a record is an index of its own; an OR of them would read all deliveries.
BY_RECORD: Final = """
    WITH found AS (SELECT record_id FROM records WHERE crm_id = %(text)s OR reference = %(text)s LIMIT 20)
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
        found += cursor.execute(BY_RECORD, {"text": text, "most": MOST}).fetchall()
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
