"""The statements of every delivery find their rows by keys, also where their plans were made on empty tables."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from intake import attempts, carried, contacts, deliveries, looked_for, naming, records, siblings
from tests.plans import plan, read_whole
from workers import clock, contents, work

STATEMENTS = {
    "load": work.LOAD,
    "contents": contents.OF_DELIVERY,
    "contact_keys": contacts.BOUND_TO,
    "met": contacts.MET,
    "name_for": naming.NAME_FOR,
    "record": records.READ,
    "record_of_delivery": records.OF_DELIVERY,
    "looked_for": looked_for.READ,
    "prepare": attempts.PREPARE,
    "confirm_attempt": attempts.CONFIRM,
    "others": siblings.OTHERS,
    "carried": carried.STORED_AND_WANTED,
    "waiting": carried.WAITING,
    "confirm": deliveries.CONFIRM,
}
# One row each, or a handful, whatever was stored.
SMALL = ("installation", "sentinels", "accounts", "paused_sources")


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_of_a_delivery_reads_a_whole_table(database_url: str, name: str) -> None:
    found = plan(database_url, STATEMENTS[name])
    assert read_whole(found) <= set(SMALL), found


def test_a_contact_is_looked_up_by_its_whole_key(database_url: str) -> None:
    found = plan(database_url, contacts.BOUND_TO)
    assert "Index Cond: ((destination = $2) AND (mode = $3) AND (key = wanted.key))" in found


STOCK = Path(__file__).parents[1] / "bench" / "stock.sql"
BURST = """
    SET session_replication_role = replica;
    UPDATE deliveries SET state = 'received', due_at = clock_timestamp() WHERE need_id > 2000;
    SET session_replication_role = origin;
"""


@pytest.fixture(params=["", "ANALYZE", "VACUUM (ANALYZE)"])
def known(request: pytest.FixtureRequest) -> str:
    """What the planner was told of its tables."""
    return str(request.param)


@pytest.fixture(params=["before", "after"])
def full_day(request: pytest.FixtureRequest, database_url: str, known: str) -> str:
    """A database on a day when a thousand deliveries are due.  The planner was told before they came, or after."""
    stock = STOCK.read_text("utf-8").replace("%(stored)s", "3000").replace("%(pending)s", "0")
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute(stock.encode())
        for step in (known, BURST) if request.param == "before" else (BURST, known):
            conn.execute(step.encode())
    return database_url


def test_a_claim_takes_the_first_that_is_due(full_day: str) -> None:
    found = plan(full_day, deliveries.CLAIM)
    assert "Index Scan using deliveries_of_need on deliveries before" in found, found
    assert "Index Scan using deliveries_of_lane on deliveries d" in found, found
    assert "Seq Scan on deliveries" not in found, found
    assert found.count("Sort Key: ") == 1, found  # that of the lanes
    # Of the index of lanes the first entry is read, whatever it is.
    assert read_whole(found) <= {*SMALL, "deliveries"}, found


@pytest.mark.parametrize("known", ["ANALYZE", "VACUUM (ANALYZE)"], indirect=True)
def test_what_is_woken_is_found_among_what_waits_for_a_record(full_day: str) -> None:
    """It is asked at the end of each delivery: it must not pass all that is open.  Within a minute it is analysed."""
    found = plan(full_day, deliveries.WAKE)
    assert "deliveries_blocked" in found, found
    assert "deliveries_pending" not in found, found


def test_a_tick_asks_for_the_first_that_is_due(full_day: str) -> None:
    """It is asked every second: while nothing is due it must not pass all records that there ever were."""
    found = plan(full_day, clock.DUE)
    assert "using deliveries_of_lane on deliveries" in found, found
    assert "using records_to_look_at on records" in found, found
