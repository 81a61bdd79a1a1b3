"""What goes, and what stays: contents go, rows with ids, times and states stay, and so do keyed hashes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeVar
from uuid import UUID

from intake import refused
from intake.db import Conn
from intake.forgetting.finding import Found

T = TypeVar("T")
BATCH: Final = 200
ERASED: Final = "(erased)"  # what stands where a person wrote a reason that named them

EMPTY: Final = "UPDATE bodies SET content = NULL, purged_at = clock_timestamp() WHERE content IS NOT NULL AND "
RECORDS: Final = """
    SELECT r.record_id FROM deliveries d
      JOIN records r ON r.record_id IN (d.contact_record, d.opportunity_record, d.task_record, d.note_record)
     WHERE d.event_id = ANY(%(ids)s)
"""
# Each half is looked up by its own index; with an OR, whole tables would be read for every person.
ATTEMPTS: Final = f"""
    SELECT attempt_id FROM attempts WHERE event_id = ANY(%(ids)s)
     UNION SELECT attempt_id FROM attempts WHERE record_id IN ({RECORDS})
"""  # noqa: S608  # our own words

# An id that the sender gave may hold a phone number (WhatsApp's do); identity is the event's own id, which stays.
OF_EVENTS: Final[Mapping[str, str]] = {
    "leads": EMPTY + "what = 'lead' AND event_id = ANY(%(ids)s)",
    "media": EMPTY + "what = 'media' AND event_id = ANY(%(ids)s)",
    "requests_and_answers": EMPTY + f"attempt_id IN ({ATTEMPTS})",
    "values_read_back": EMPTY + f"record_id IN ({RECORDS})",
    "request_ids": """
        UPDATE events SET request_id = 'forgotten:' || event_id
         WHERE event_id = ANY(%(ids)s) AND request_id NOT LIKE 'forgotten:%%'""",
    "delivery_fields": "UPDATE deliveries SET fields = '{}' WHERE event_id = ANY(%(ids)s) AND fields <> '{}'",
    "item_fields": "UPDATE items SET fields = '{}' WHERE event_id = ANY(%(ids)s) AND fields <> '{}'",
}
OF_RECEIPTS: Final[Mapping[str, str]] = {
    "raw_bodies": EMPTY + "what = 'raw' AND receipt_id = ANY(%(ids)s)",
    "headers": "UPDATE receipts SET headers = '{}' WHERE receipt_id = ANY(%(ids)s) AND headers <> '{}'",
    "item_fields": "UPDATE items SET fields = '{}' WHERE receipt_id = ANY(%(ids)s) AND fields <> '{}'",
}
OF_ANSWERS: Final[Mapping[str, str]] = {"requests_and_answers": EMPTY + "body_id = ANY(%(ids)s)"}
OF_DECISIONS: Final[Mapping[str, str]] = {
    "decision_texts": f"""
        UPDATE decisions SET reason = '{ERASED}', detail = '{{}}'
         WHERE decision_id = ANY(%(ids)s) AND (reason <> '{ERASED}' OR detail <> '{{}}')""",  # noqa: S608
}


def erase(conn: Conn, found: Found) -> Counter[str]:
    """How many rows of what.  In small transactions: whoever was stopped begins again."""
    counted: Counter[str] = Counter()
    works: tuple[tuple[Mapping[str, str], Sequence[UUID | int]], ...] = (
        (OF_EVENTS, sorted(found.events)),
        (OF_RECEIPTS, sorted(found.receipts)),
        (OF_ANSWERS, sorted(found.answers)),
        (OF_DECISIONS, sorted(found.decisions)),
    )
    for acts, ids in works:
        for some in _batches(ids):
            counted += _act(conn, acts, some)
    for receipts in _batches(sorted(found.refused)):
        with conn.transaction():
            refused.forget(conn, receipts)
        counted["refused_bodies"] += len(receipts)
    return counted


def _act(conn: Conn, acts: Mapping[str, str], ids: Sequence[UUID | int]) -> Counter[str]:
    with conn.transaction():
        conn.execute("SET LOCAL intake.purge = 'on'")
        return Counter({name: conn.execute(act.encode(), {"ids": list(ids)}).rowcount for name, act in acts.items()})


def _batches(ids: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(ids)
    while some := list(islice(rest, BATCH)):
        yield some
