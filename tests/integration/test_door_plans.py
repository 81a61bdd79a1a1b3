"""A connection keeps its plans while it lives: those of the door, made on empty tables, must do for many rows."""

from __future__ import annotations

import pytest

from intake import at_once, events, fetches, first_deliveries, replays, spam, talks
from tests.plans import plan, read_whole

STATEMENTS = {
    "talk": talks.FIND_TALK,
    "deliveries": first_deliveries.INSERT,
    "prints": events.PRINTS,
    "states": events.STATES,
    "known": replays.KNOWN,
    "blocked": spam.BLOCKED,
    "at_once": at_once.TAKE,
    "fetches": fetches.ASK,
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_of_the_door_reads_a_whole_table(database_url: str, name: str) -> None:
    found = plan(database_url, STATEMENTS[name])
    assert read_whole(found) == set(), found


def test_a_talk_is_looked_up_by_its_whole_key(database_url: str) -> None:
    found = plan(database_url, talks.FIND_TALK)
    assert "Index Cond: ((mode = $2) AND (scope = $3) AND (key = wanted.key))" in found


def test_the_needs_of_new_deliveries_are_looked_up_one_by_one(database_url: str) -> None:
    assert "Index Scan using needs_pkey" in plan(database_url, first_deliveries.INSERT)
