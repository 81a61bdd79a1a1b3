"""The one statement of a usual delivery stores what the long way stores, and leaves to that what is unusual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from intake import at_once, events, installation, spam
from intake.config import Settings
from intake.db import Conn
from intake.reading import Arrival, Post, Reader
from intake.received import Acceptance, Received
from tests import doorway

SOURCES = {
    "web": doorway.FORM,
    "linked": doorway.FORM + 'hold = "links"\n',
    "gated": doorway.FORM + 'approval = "required"\n',
    "quotes": doorway.QUOTE,
    "wa": doorway.WHATSAPP,
    "by-body": doorway.FORM + 'dedupe = "body"\n',
    "repeated": doorway.FORM + 'hold = "repeated"\n',
}
FORM = doorway.as_json(doorway.ANSWERS)
LINKING = doorway.as_json(doorway.ANSWERS | {"message": "Mire https://example.com"})

# Each row of everything that one event has, without ids, times and counters.
STORED = """
    SELECT e.mode, e.source, e.scope, e.kind, e.version, e.minted, e.fingerprint, e.occurred_at,
           r.content_type, r.verdict, r.counts, raw.content AS raw, lead.content AS lead, lead.revision,
           n.destination, n.key LIKE '%%' || e.event_id AS own_need, n.conversation_id,
           d.part, d.position, d.mode AS d_mode, d.source AS d_source, d.destination AS d_destination, d.state,
           d.reason, d.due_at IS NULL AS held, d.due_at <= clock_timestamp() AS due, d.assignee, d.generation,
           h.from_state, h.to_state, i.kind AS item, i.reason AS item_reason,
           d.received_at - e.received_at < interval '1 minute' AS at_the_same_time
      FROM events e
      JOIN receipts r USING (receipt_id)
      JOIN bodies raw ON raw.receipt_id = e.receipt_id
      JOIN bodies lead ON lead.event_id = e.event_id
      JOIN deliveries d ON d.event_id = e.event_id
      JOIN needs n USING (need_id)
      JOIN delivery_history h ON h.event_id = e.event_id
      LEFT JOIN items i ON i.event_id = e.event_id
     WHERE e.event_id = %(event_id)s
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return doorway.read_config(doorway.write_config(tmp_path, SOURCES))


@pytest.fixture
def conn(database_url: str) -> Iterator[Conn]:
    with psycopg.connect(database_url, autocommit=True) as made:
        yield made


def received(settings: Settings, source: str, body: bytes, delivery_id: str) -> Received:
    """An authentic delivery, read."""
    headers = doorway.signed(settings, source, body, delivery_id=delivery_id)
    lower = {name.lower(): value for name, value in headers.items()}
    post = Post(source, "live", lower["content-type"], lower, body, "")
    reader = Reader(settings, settings.sources[source], datetime.now(UTC))
    return reader.received(post, reader.read(post), Arrival(uuid4()))


def short_way(conn: Conn, delivery: Received) -> Acceptance | None:
    return at_once.take(conn, installation.read(conn).key, delivery)


def long_way(conn: Conn, delivery: Received) -> Acceptance:
    """Within somebody's transaction nothing is done at once."""
    with conn.transaction():
        return events.accept(conn, installation.read(conn).key, delivery)


def stored(conn: Conn, accepted: Acceptance | None) -> dict[str, object]:
    assert accepted is not None
    (event,) = accepted.events
    with conn.cursor(row_factory=dict_row) as cursor:
        (row,) = cursor.execute(STORED, {"event_id": event.event_id}).fetchall()
    return row


def receipts(conn: Conn) -> int:
    row = conn.execute("SELECT count(*) FROM receipts").fetchone()
    return int(row[0]) if row else 0


def quote(number: str) -> bytes:
    return doorway.as_json(doorway.quote(number=number))


@pytest.mark.parametrize(("source", "body"), [("web", FORM), ("linked", LINKING), ("linked", FORM), ("gated", FORM)])
def test_a_new_form_is_stored_alike_on_both_ways(conn: Conn, settings: Settings, source: str, body: bytes) -> None:
    short = stored(conn, short_way(conn, received(settings, source, body, "msg_1")))
    assert short == stored(conn, long_way(conn, received(settings, source, body, "msg_2")))


def test_a_new_quote_is_stored_alike_on_both_ways(conn: Conn, settings: Settings) -> None:
    short = stored(conn, short_way(conn, received(settings, "quotes", quote("COT-1"), "msg_1")))
    long = stored(conn, long_way(conn, received(settings, "quotes", quote("COT-2"), "msg_2")))
    own = {"fingerprint", "raw", "lead"}  # the number is in them
    assert {name: short[name] for name in short.keys() - own} == {name: long[name] for name in long.keys() - own}


def test_a_blocked_sender_is_held_alike_on_both_ways(conn: Conn, settings: Settings) -> None:
    first = received(settings, "web", FORM, "msg_0")
    event_id = long_way(conn, first).events[0].event_id
    for key in spam.keys_of(first.reading.events[0].lead, installation.read(conn).key):
        conn.execute(spam.BLOCK, {"mode": "live", "key": key, "event_id": event_id})
    short = stored(conn, short_way(conn, received(settings, "web", FORM, "msg_1")))
    assert short["reason"] == "held_as_spam"
    assert short == stored(conn, long_way(conn, received(settings, "web", FORM, "msg_2")))


def test_both_ways_answer_alike(conn: Conn, settings: Settings) -> None:
    short = short_way(conn, received(settings, "web", FORM, "msg_1"))
    assert short is not None
    long = long_way(conn, received(settings, "web", FORM, "msg_2"))
    nobody = UUID(int=0)
    assert replace(short, events=tuple(replace(each, event_id=nobody) for each in short.events)) == replace(
        long, events=tuple(replace(each, event_id=nobody) for each in long.events)
    )


def test_a_duplicate_adds_a_receipt_alone(conn: Conn, settings: Settings) -> None:
    first = short_way(conn, received(settings, "web", FORM, "msg_1"))
    again = short_way(conn, received(settings, "web", FORM, "msg_1"))
    assert first is not None
    assert again is not None
    assert [replace(each, duplicate=True) for each in first.events] == list(again.events)
    bodies = conn.execute("SELECT count(*) FROM bodies").fetchone()
    assert (receipts(conn), bodies) == (2, (2,))


@pytest.mark.parametrize(
    ("source", "body"),
    [("by-body", FORM), ("repeated", FORM), ("wa", doorway.whatsapp(doorway.message("wamid.1"))), ("web", b"{")],
)
def test_what_needs_more_than_one_look_is_left_to_the_long_way(
    conn: Conn, settings: Settings, source: str, body: bytes
) -> None:
    assert short_way(conn, received(settings, source, body, "msg_1")) is None
    assert receipts(conn) == 0


def test_other_content_is_left_to_the_long_way_and_nothing_is_written(conn: Conn, settings: Settings) -> None:
    short_way(conn, received(settings, "web", FORM, "msg_1"))
    assert short_way(conn, received(settings, "web", LINKING, "msg_1")) is None
    assert receipts(conn) == 1


def test_a_receipt_that_stands_already_is_left_to_the_long_way(conn: Conn, settings: Settings) -> None:
    """The connection broke after the commit, and the door tries again."""
    delivery = received(settings, "web", FORM, "msg_1")
    short_way(conn, delivery)
    assert short_way(conn, delivery) is None
    (event,) = events.accept(conn, installation.read(conn).key, delivery).events
    assert (event.duplicate, receipts(conn)) == (True, 1)
