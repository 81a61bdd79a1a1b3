"""Among very many events every list is found by indexes: no filter makes the database read all events.

MANY_EVENTS=1000000 takes so many; by default they are few enough for every run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from psycopg.abc import Params, Query

from intake import masked, ops, picking, worklist
from intake.db import Conn, Row
from intake.desk import inbox, searching
from intake.desk.inbox import Filter
from intake.desk.tools import DESK_OPTIONS
from intake.ops import Wanted
from intake.picking import Picking
from tests.conftest import fresh_database

MANY: Final = int(os.environ.get("MANY_EVENTS", "30000"))
MIDNIGHT: Final = datetime.now(UTC) - timedelta(days=1)
BIG: Final = {"receipts", "events", "deliveries", "records", "needs"}

# Thirty days of them, the last now.  Of 1000 events 950 are confirmed, 20 cancelled, 20 superseded, 10 open; one of
# 5000 came by `rare`.  Triggers and foreign keys are left out: they take ten times as long as the rows.
FILL: Final = (
    "SET session_replication_role = replica",
    """
    CREATE TEMP TABLE made AS
    SELECT n, md5(n::text)::uuid AS event_id,
           clock_timestamp() - (%(many)s - n) * (interval '30 days' / %(many)s) AS at,
           CASE WHEN n %% 5000 = 7 THEN 'rare' ELSE (ARRAY['web', 'wa', 'shop'])[1 + n %% 3] END AS source,
           CASE WHEN n %% 3 = 1 THEN 'whatsapp' ELSE 'form' END AS kind,
           CASE WHEN n %% 50 = 0 THEN 'test' ELSE 'live' END AS mode,
           CASE WHEN n %% 1000 < 950 THEN 'confirmed' WHEN n %% 1000 < 970 THEN 'cancelled'
                WHEN n %% 1000 < 990 THEN 'superseded'
                ELSE (ARRAY['awaiting_approval', 'review', 'received'])[1 + n %% 3] END AS state
      FROM generate_series(1, %(many)s::integer) AS n
    """,
    """
    INSERT INTO receipts (receipt_id, received_at, mode, source, content_type, verdict)
    SELECT event_id, at, mode, source, '', CASE WHEN n %% 10 = 0 THEN 'refused' ELSE 'accepted' END FROM made
    """,
    """
    INSERT INTO events (event_id, mode, source, scope, kind, request_id, minted, fingerprint, receipt_id, received_at)
    SELECT event_id, mode, source, source, kind, 'r-' || n, false, '', event_id, at FROM made
    """,
    """
    INSERT INTO needs (mode, scope, key, destination, reference, first_at, last_at)
    SELECT mode, source, 'k-' || n, 'crm', 'l-' || n, at, at FROM made ORDER BY n
    """,
    """
    INSERT INTO records (destination, mode, kind, reference, state, crm_id, how)
    SELECT 'crm', mode, 'contact', 'c-' || n, 'known', 'crm-' || n, 'answer' FROM made
    """,
    """
    INSERT INTO deliveries (event_id, need_id, part, position, mode, source, destination, received_at, state, reason,
                            due_at, changed_at, contact_record)
    SELECT event_id, n, 'opener', n, mode, source, CASE WHEN n <= %(many)s / 5 THEN 'old' ELSE 'crm' END, at, state,
           'why',
           CASE WHEN state = 'received' THEN at END, at + interval '1 second', n FROM made
    """,
    """
    INSERT INTO items (kind, reason, mode, source, event_id, generation, assignee, opened_at, closed_at,
                       resolution)
    SELECT 'delivery', 'why', mode, source, event_id, 1, CASE WHEN n %% 7 = 0 THEN 'rosa' END, at,
           CASE WHEN state = 'confirmed' THEN at END, CASE WHEN state = 'confirmed' THEN state END
      FROM made WHERE state IN ('awaiting_approval', 'review') OR n %% 20 = 0 AND state = 'confirmed'
    """,
    "VACUUM ANALYZE receipts, events, deliveries, items, records, needs",
)  # fmt: skip


Asked = list[tuple[str, Params | None]]


class Watched(psycopg.Cursor[Any]):
    """Remembers what it was asked."""

    asked: Asked

    def execute(
        self, query: Query, params: Params | None = None, *, prepare: bool | None = None, binary: bool | None = None
    ) -> Watched:
        """As psycopg does."""
        assert isinstance(query, str)
        self.asked.append((query, params))
        return super().execute(query, params, prepare=prepare, binary=binary)


@pytest.fixture(scope="module")
def many(postgres_server: str, migrated_template: str) -> Iterator[Conn]:
    """A database with very many events, by a connection as the desk has them."""
    with fresh_database(postgres_server, template=migrated_template) as (_, url):
        with psycopg.connect(url, autocommit=True) as conn:
            for statement in FILL:
                conn.execute(sql.SQL(statement), {"many": MANY})
        with psycopg.connect(url, autocommit=True, options=DESK_OPTIONS) as conn:
            yield conn


@pytest.fixture
def watched(many: Conn) -> Iterator[Asked]:
    """What is asked on that connection from now on."""
    asked: Asked = []
    many.cursor_factory = type("Watching", (Watched,), {"asked": asked})
    yield asked
    many.cursor_factory = psycopg.Cursor


def read_whole(conn: Conn, asked: Asked) -> set[str]:
    """The big tables that the plan of a query reads from their beginning to their end."""
    conn.cursor_factory = psycopg.Cursor
    found: set[str] = set()
    for query, params in asked:
        (plan,) = conn.execute("EXPLAIN (FORMAT JSON) " + query, params).fetchall()
        found |= set(_sequential(plan[0]))
    return found


def _sequential(plan: object) -> Iterator[str]:
    match plan:
        case list():
            for each in plan:
                yield from _sequential(each)
        case dict():
            if plan.get("Node Type") == "Seq Scan" and plan["Relation Name"] in BIG:
                yield str(plan["Relation Name"])
            for each in plan.values():
                yield from _sequential(each)


def filters() -> Iterator[Filter]:
    """One of each combination."""
    known = [UUID(int=0), UUID(int=1)]
    for source, kind, state, mode, assignee, events in product(
        (None, "web", "rare"), (None, "quote"),
        (None, "review", "confirmed", "cancelled"), (None, "test"), (None, "rosa", "-"), (None, known),
    ):  # fmt: skip
        yield Filter(source, kind, state, None, assignee, mode, events)
    for since, until, state in product((None, MIDNIGHT), (None, MIDNIGHT), (None, "confirmed", "superseded")):
        yield Filter(state=state, since=since, until=until, destination="crm")
    for source, kind, state, assignee, destination in product(
        (None, "web", "rare"), (None, "quote"), (None, "review", "confirmed", "cancelled"), (None, "rosa", "-"),
        ("old", "none"),
    ):  # fmt: skip
        yield Filter(source, kind, state, None, assignee, destination=destination)


# --- plans ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", inbox.LISTS)
def test_no_filter_of_a_list_reads_all_events(many: Conn, watched: Asked, which: inbox.List) -> None:
    for wanted in filters():
        inbox.page(many, which, wanted, midnight=MIDNIGHT)
    assert len(watched) == len(list(filters()))  # Each list opens in one query.
    assert read_whole(many, watched) == set()


def test_no_later_page_reads_all_events(many: Conn, watched: Asked) -> None:
    for which in inbox.LISTS:
        first = inbox.page(many, which, Filter(limit=5), midnight=MIDNIGHT)
        inbox.page(many, which, Filter(limit=5, cursor=first.next_cursor), midnight=MIDNIGHT)
    assert read_whole(many, watched) == set()


def test_what_stands_beside_a_list_reads_no_events(many: Conn, watched: Asked) -> None:
    inbox.counts(many, midnight=MIDNIGHT)
    masked.contacts(many, [UUID(int=0)])
    worklist.items(many)
    last = worklist.last_deliveries(many, ["web", "rare", "none"])
    assert (last["web"].live is None, last["none"].live) == (False, None)
    assert read_whole(many, watched) == set()


def test_no_search_reads_all_events(many: Conn, watched: Asked) -> None:
    for text in ("r-77", "crm-77", "c-77", "951000001", "nobody@example.com", "0123456", "c-77777", "nabcdef"):
        searching.find(many, text, "PE")
    for which in inbox.LISTS:
        listed = inbox.events(many, which, Filter(limit=searching.LOOKED_THROUGH), midnight=MIDNIGHT)
        searching.among(many, "\u00b7\u00b7\u00b7001", listed)
    assert read_whole(many, watched) == set()


def test_no_filter_of_the_api_reads_all_events(many: Conn, watched: Asked) -> None:
    states = (None, "pending", "review", "confirmed", "superseded")
    for state, source, since in product(states, (None, "web", "rare", "nothing"), (None, MIDNIGHT)):
        ops.events(many, Wanted(state, source, since))
    for state, destination, assignee in product(states, ("crm", "nowhere", None), (None, "-", "ventas")):
        ops.events(many, Wanted(state, destination=destination, assignee=assignee))
    ops.event(many, UUID(int=0))
    assert read_whole(many, watched) == set()


# --- what they find ---------------------------------------------------------------------------------------------------

PLAIN: Final = """
    SELECT e.event_id FROM events e JOIN deliveries d USING (event_id)
      LEFT JOIN items i ON i.event_id = e.event_id AND i.closed_at IS NULL
     WHERE (%(states)s::text[] IS NULL OR d.state = ANY(%(states)s))
       AND (%(source)s::text IS NULL OR e.source = %(source)s) AND (%(kind)s::text IS NULL OR e.kind = %(kind)s)
       AND (%(mode)s::text IS NULL OR e.mode = %(mode)s)
       AND (%(destination)s::text IS NULL OR d.destination = %(destination)s)
       AND (%(assignee)s::text IS NULL OR coalesce(i.assignee, '-') = %(assignee)s)
       AND (%(since)s::timestamptz IS NULL OR e.received_at >= %(since)s)
       AND (%(until)s::timestamptz IS NULL OR e.received_at < %(until)s)
       AND (%(at)s::timestamptz IS NULL OR (e.received_at, e.event_id) < (%(at)s, %(key)s::uuid))
     ORDER BY e.received_at DESC, e.event_id DESC LIMIT %(limit)s
"""


@pytest.mark.parametrize(
    "wanted",
    [
        Picking(limit=20),
        Picking(source="rare", limit=20),
        Picking(kind="form", mode="test", limit=20),
        Picking(("cancelled",), "web", limit=20),
        Picking(("review", "received"), kind="whatsapp", limit=20),
        Picking(("confirmed",), "rare", limit=20),
        Picking(assignee="rosa", limit=20),
        Picking(("review",), assignee="-", limit=20),
        Picking(until=MIDNIGHT - timedelta(days=2), limit=20),
        Picking(("cancelled",), since=MIDNIGHT - timedelta(days=9), until=MIDNIGHT, limit=20),
        Picking(destination="old", limit=20),
        Picking(("confirmed",), "rare", destination="old", limit=20),
        Picking(("review", "confirmed"), kind="form", assignee="-", destination="crm", limit=20),
        Picking(mode="test", destination="crm", until=MIDNIGHT - timedelta(days=2), limit=20),
        Picking(destination="old", at=MIDNIGHT - timedelta(days=25), key=UUID(int=7), limit=20),
        Picking(kind="whatsapp", at=MIDNIGHT - timedelta(days=3), key=UUID(int=7), limit=20),
    ],
)
def test_what_indexes_lead_to_is_what_a_plain_query_finds(many: Conn, wanted: Picking) -> None:
    text = picking.query(wanted, "SELECT event_id FROM picked ORDER BY received_at DESC, event_id DESC")
    found: list[Row] = many.execute(text, wanted.given).fetchall()
    with many.transaction():
        many.execute("SET LOCAL statement_timeout = 0")
        plain: list[Row] = many.execute(PLAIN, wanted.given).fetchall()
    assert found
    assert found == plain
