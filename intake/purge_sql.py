"""What may be purged, and how it goes: the SQL of `intake.purge`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# An event e at rest: nobody will deliver it or another of its need, look for its records, or decide about it.
# Asked of all deliveries of its need, so that the planner does not begin at all that are pending; and what is open is
# listed once for a statement, and not once for each event.
AT_REST: Final = """
    coalesce((SELECT bool_and(d.state IN ('confirmed', 'cancelled', 'superseded'))
                FROM deliveries mine JOIN deliveries d USING (need_id) WHERE mine.event_id = e.event_id), true)
    AND e.event_id NOT IN (SELECT event_id FROM items WHERE closed_at IS NULL AND event_id IS NOT NULL)
    AND e.receipt_id NOT IN (SELECT receipt_id FROM items WHERE closed_at IS NULL AND receipt_id IS NOT NULL)
    AND NOT EXISTS (SELECT FROM deliveries d
                      JOIN records r ON r.record_id IN (d.contact_record, d.opportunity_record, d.task_record,
                                                        d.note_record)
                     WHERE d.event_id = e.event_id
                       AND (r.state IN ('asked', 'in_doubt')
                            OR EXISTS (SELECT FROM items i WHERE i.record_id = r.record_id AND i.closed_at IS NULL)))
    AND NOT EXISTS (SELECT FROM fetches f WHERE f.event_id = e.event_id AND f.due_at IS NOT NULL)
"""
LIMIT: Final = "coalesce(%(now)s::timestamptz, clock_timestamp()) - %(age)s"

# How far one statement looks, by an index: most of what is old was purged on earlier days, and there may be millions.
EVENTS_AHEAD: Final = f"""
    SELECT max(at) FROM (SELECT received_at AS at FROM events WHERE received_at > %(at)s AND received_at < {LIMIT}
                          ORDER BY received_at LIMIT %(ahead)s) AS next
"""  # noqa: S608  # our own words
RECEIPTS_AHEAD: Final = f"""
    SELECT min(last) FROM unnest(%(names)s::text[]) AS s (source), unnest(ARRAY['live', 'test']) AS m (mode),
        LATERAL (SELECT max(at) AS last
                   FROM (SELECT r.received_at AS at FROM receipts r
                          WHERE r.source = s.source AND r.mode = m.mode AND r.received_at > %(at)s
                            AND r.received_at < {LIMIT}
                          ORDER BY r.received_at LIMIT %(ahead)s) AS next) AS each
"""  # noqa: S608

# Locked, so that nobody makes a new delivery of one while it goes; what another has in hand is left for the next time.
OLD_EVENTS: Final = f"""
    SELECT e.received_at AS at, e.event_id AS id FROM events e
     WHERE e.source = ANY(%(names)s) AND e.received_at <= %(end)s AND (e.received_at, e.event_id) > (%(at)s, %(id)s)
       AND {AT_REST}
"""  # noqa: S608
NEXT_EVENTS: Final = " ORDER BY e.received_at, e.event_id LIMIT %(batch)s FOR UPDATE OF e SKIP LOCKED"

WITH_CONTENTS: Final = f"""{OLD_EVENTS}
       AND (EXISTS (SELECT FROM bodies b WHERE b.event_id = e.event_id AND b.content IS NOT NULL)
            OR EXISTS (SELECT FROM attempts a JOIN bodies b USING (attempt_id)
                        WHERE a.event_id = e.event_id AND b.content IS NOT NULL))
    {NEXT_EVENTS}"""  # noqa: S608
WITH_ATTEMPTS: Final = f"""{OLD_EVENTS}
       AND EXISTS (SELECT FROM attempts a WHERE a.event_id = e.event_id)
    {NEXT_EVENTS}"""
WITH_DECISIONS: Final = f"""{OLD_EVENTS}
       AND (EXISTS (SELECT FROM decisions d WHERE d.event_id = e.event_id)
            OR EXISTS (SELECT FROM items i JOIN decisions d USING (item_id) WHERE i.event_id = e.event_id))
    {NEXT_EVENTS}"""  # noqa: S608

# Raw bytes, also of what could not be read, was other content, or only told of a later state.  Those that an open
# quarantine stands for stay: one item stands for all receipts with the same bytes.
OLD_RECEIPTS: Final = f"""
    SELECT r.received_at AS at, r.receipt_id AS id FROM receipts r JOIN bodies b USING (receipt_id)
     WHERE r.source = ANY(%(names)s) AND r.verdict <> 'refused' AND r.received_at <= %(end)s
       AND (r.received_at, r.receipt_id) > (%(at)s, %(id)s) AND b.content IS NOT NULL
       AND r.receipt_id NOT IN (SELECT receipt_id FROM items WHERE closed_at IS NULL AND receipt_id IS NOT NULL)
       AND NOT ((r.counts ->> 'quarantined') <> '0'
                AND sha256(b.content) IN (SELECT sha256(waits.content)
                                            FROM items i JOIN bodies waits USING (receipt_id)
                                           WHERE i.kind = 'quarantine' AND i.closed_at IS NULL
                                             AND waits.content IS NOT NULL))
       AND NOT EXISTS (SELECT FROM events e WHERE e.receipt_id = r.receipt_id AND NOT ({AT_REST}))
     ORDER BY r.received_at, r.receipt_id LIMIT %(batch)s
       FOR UPDATE OF r SKIP LOCKED
"""  # noqa: S608

# Events whose whole need is old, none of which blocks a sender of spam or was the model of another.
OLD_NEEDS: Final = f"""{OLD_EVENTS}
       AND NOT EXISTS (SELECT FROM deliveries mine JOIN deliveries d USING (need_id)
                         JOIN events other ON other.event_id = d.event_id
                        WHERE mine.event_id = e.event_id AND other.received_at >= {LIMIT})
       AND NOT EXISTS (SELECT FROM blocked_keys k WHERE k.event_id = e.event_id)
       AND NOT EXISTS (SELECT FROM events other WHERE other.reissue_of = e.event_id)
       AND NOT EXISTS (SELECT FROM bulk_items b WHERE b.event_id = e.event_id AND b.result IS NULL)
    {NEXT_EVENTS}"""  # noqa: S608

EMPTY: Final = "UPDATE bodies SET content = NULL, purged_at = clock_timestamp() WHERE content IS NOT NULL AND "

EMPTY_RAW: Final[Mapping[str, str]] = {"raw_bodies": EMPTY + "what = 'raw' AND receipt_id = ANY(%(ids)s)"}

# What a CRM was sent and answered holds the same contents.  What was read back is kept while a younger event may want
# to compare with it.
EMPTY_LEADS: Final[Mapping[str, str]] = {
    "leads": EMPTY + "what = 'lead' AND event_id = ANY(%(ids)s)",
    "media": EMPTY + "what = 'media' AND event_id = ANY(%(ids)s)",
    "requests_and_answers": EMPTY  # noqa: S608
    + "attempt_id IN (SELECT attempt_id FROM attempts WHERE event_id = ANY(%(ids)s) AND closed_at IS NOT NULL)",
    "values_read_back": EMPTY  # noqa: S608
    + f"""record_id IN (
        SELECT r.record_id FROM deliveries d
          JOIN records r ON r.record_id IN (d.contact_record, d.opportunity_record, d.task_record, d.note_record)
         WHERE d.event_id = ANY(%(ids)s)
           AND NOT EXISTS (SELECT FROM deliveries o JOIN events e USING (event_id)
                            WHERE r.record_id IN (o.contact_record, o.opportunity_record, o.task_record, o.note_record)
                              AND e.received_at >= {LIMIT}))""",  # noqa: S608
}

# Of records that stand, no proof of absence is asked any more.
OLD_ATTEMPTS: Final = """
    SELECT a.attempt_id FROM attempts a JOIN records r USING (record_id)
     WHERE a.event_id = ANY(%(ids)s) AND a.closed_at IS NOT NULL AND (a.kind = 'look' OR a.settled_at IS NOT NULL)
       AND r.state IN ('known', 'gone')
"""
DROP_ATTEMPTS: Final[Mapping[str, str]] = {
    "_bodies": f"DELETE FROM bodies WHERE attempt_id IN ({OLD_ATTEMPTS})",  # noqa: S608
    "attempts": f"DELETE FROM attempts WHERE attempt_id IN ({OLD_ATTEMPTS})",  # noqa: S608
}

DROP_DECISIONS: Final[Mapping[str, str]] = {
    "decisions": """
        DELETE FROM decisions
         WHERE event_id = ANY(%(ids)s) OR item_id IN (SELECT item_id FROM items WHERE event_id = ANY(%(ids)s))""",
}

ITEMS_OF: Final = "item_id IN (SELECT item_id FROM items WHERE event_id = ANY(%(ids)s))"

# Needs, records and the keys of people stay: they hold no content, and what stands in the CRM stays known.
DROP_IDENTITIES: Final[Mapping[str, str]] = {
    # Two statements, since an OR of both reads all bodies.
    "_answers": """
        DELETE FROM bodies WHERE attempt_id IN (SELECT attempt_id FROM attempts WHERE event_id = ANY(%(ids)s))""",
    "_bodies": "DELETE FROM bodies WHERE event_id = ANY(%(ids)s)",
    "attempts": "DELETE FROM attempts WHERE event_id = ANY(%(ids)s)",
    **DROP_DECISIONS,
    "_shown": f"DELETE FROM shown WHERE event_id = ANY(%(ids)s) OR {ITEMS_OF}",  # noqa: S608
    "items": "DELETE FROM items WHERE event_id = ANY(%(ids)s)",
    "_carried": "DELETE FROM carried WHERE event_id = ANY(%(ids)s) OR carrier = ANY(%(ids)s)",
    "_fetches": "DELETE FROM fetches WHERE event_id = ANY(%(ids)s)",
    "_aliases": "DELETE FROM event_aliases WHERE event_id = ANY(%(ids)s)",
    "_windows": "DELETE FROM identity_windows WHERE event_id = ANY(%(ids)s)",
    "_bulk": "DELETE FROM bulk_items WHERE event_id = ANY(%(ids)s)",
    "_records": """
        UPDATE records SET purged_at = clock_timestamp()
         WHERE record_id IN (SELECT unnest(ARRAY[contact_record, opportunity_record, task_record, note_record])
                               FROM deliveries WHERE event_id = ANY(%(ids)s))""",
    "history": "DELETE FROM delivery_history WHERE event_id = ANY(%(ids)s)",
    "_deliveries": "DELETE FROM deliveries WHERE event_id = ANY(%(ids)s)",
    # A receipt tells how many events it gave; it is not accused of those that went.
    "_receipts": """
        UPDATE receipts r SET counts = jsonb_set(counts, '{new}', to_jsonb((
               SELECT count(*) FROM events e WHERE e.receipt_id = r.receipt_id AND NOT e.event_id = ANY(%(ids)s))))
         WHERE receipt_id IN (SELECT receipt_id FROM events WHERE event_id = ANY(%(ids)s))""",
    "identities": "DELETE FROM events WHERE event_id = ANY(%(ids)s)",
}
