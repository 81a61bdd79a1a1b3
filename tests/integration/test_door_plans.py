"""A connection keeps its plans while it lives: those of the door, made on empty tables, must do for many rows."""

from __future__ import annotations

import re

from intake import first_deliveries, needs
from tests.plans import plan


def test_a_talk_is_looked_up_by_its_whole_key(database_url: str) -> None:
    (condition,) = re.findall(r"Index Cond: (.*key = ANY.*)", plan(database_url, needs.FIND_TALK))
    assert "mode = " in condition
    assert "scope = " in condition


def test_the_needs_of_new_deliveries_are_looked_up_one_by_one(database_url: str) -> None:
    found = plan(database_url, first_deliveries.INSERT)
    assert "Index Scan using needs_pkey" in found
    assert "Seq Scan" not in found
