"""What is done for each person of a list finds its rows by keys: a thousand people are no thousand readings."""

from __future__ import annotations

from intake.forgetting import erasing, opened, whole
from tests.plans import plan, read_whole

STATEMENTS = {
    **{f"events {name}": act for name, act in erasing.OF_EVENTS.items()},
    **{f"receipts {name}": act for name, act in erasing.OF_RECEIPTS.items()},
    **{f"answers {name}": act for name, act in erasing.OF_ANSWERS.items()},
    **{f"decisions {name}": act for name, act in erasing.OF_DECISIONS.items()},
    "deliveries": opened.DELIVERIES,
    "in_crm": whole.IN_CRM,
}


def test_nothing_done_for_one_person_reads_a_whole_table(database_url: str) -> None:
    whole_tables = {name: read_whole(plan(database_url, act, large=True)) for name, act in STATEMENTS.items()}
    # Items are what needed a person, which is little.
    assert {name: tables for name, tables in whole_tables.items() if tables - {"items"}} == {}
