"""Open items: what waits for a person.  Those of deliveries are kept by a trigger; these are the others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from uuid import UUID

from psycopg.types.json import Jsonb

from intake.db import Conn
from intake.identify import Identified
from intake.received import Received

OPEN_CONFLICT = """
    INSERT INTO items (kind, reason, mode, source, event_id, receipt_id, assignee, evidence)
    SELECT 'conflict', 'other_content', %(mode)s, %(source)s, %(event_id)s, %(receipt_id)s, %(assignee)s, %(evidence)s
     WHERE NOT EXISTS (SELECT FROM items
                        WHERE kind = 'conflict' AND event_id = %(event_id)s AND receipt_id = %(receipt_id)s)
    ON CONFLICT (event_id, (evidence ->> 'fingerprint')) WHERE kind = 'conflict' AND closed_at IS NULL DO NOTHING
"""


def open_conflicts(conn: Conn, received: Received, changed: Iterable[Identified]) -> None:
    """Other content under a known identity: both are kept, nothing is overwritten.

    A receipt that is read again, after its item was closed, opens no other.
    """
    with conn.cursor() as cursor:
        for each in changed:
            if each.incoming.on_change == "conflict":
                evidence = Jsonb({"fingerprint": each.fingerprint.hex()})
                cursor.execute(OPEN_CONFLICT, _about(received) | {"event_id": each.event_id, "evidence": evidence})


def _about(received: Received) -> dict[str, object]:
    source = received.source
    return {
        "mode": received.mode,
        "source": source.name,
        "receipt_id": received.receipt_id,
        "assignee": source.assignee,
    }


QUARANTINE = """
    INSERT INTO items (kind, reason, mode, source, receipt_id, assignee, fields, evidence)
    VALUES ('quarantine', %(reason)s, %(mode)s, %(source)s, %(receipt_id)s, %(assignee)s, %(fields)s, %(evidence)s)
    ON CONFLICT (mode, source, (evidence ->> 'body')) WHERE kind = 'quarantine' AND closed_at IS NULL DO NOTHING
"""


def quarantine(conn: Conn, received: Received) -> None:
    """One open item for all that is unreadable in one delivery; the same bytes again are not a second one."""
    broken = received.reading.quarantined
    if not broken:
        return
    fields = {name: rule for each in broken for name, rule in each.fields.items()}
    evidence = {"body": hashlib.sha256(received.body).hexdigest(), "count": len(broken)}
    given = {"reason": broken[0].reason, "fields": Jsonb(fields), "evidence": Jsonb(evidence)}
    conn.execute(QUARANTINE, _about(received) | given)


OPEN_INCIDENT = """
    INSERT INTO items (kind, reason, mode, record_id, event_id, evidence)
    SELECT 'incident', %(reason)s, mode, record_id, %(event_id)s, %(evidence)s
      FROM records WHERE record_id = %(record_id)s
    ON CONFLICT (record_id, reason) WHERE kind = 'incident' AND closed_at IS NULL AND subject IS NULL
    DO UPDATE SET evidence = EXCLUDED.evidence
"""


def open_incident(
    conn: Conn, record_id: int, *, reason: str, event_id: UUID | None = None, evidence: dict[str, object]
) -> None:
    """What must not happen has happened to this record; a person must see it.  `evidence`: ids only."""
    conn.execute(OPEN_INCIDENT, {
        "record_id": record_id, "reason": reason, "event_id": event_id, "evidence": Jsonb(evidence),
    })  # fmt: skip
