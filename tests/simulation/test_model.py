"""The model of one record: safe as it is, and unsafe without any one of its assumptions and rules."""

from __future__ import annotations

import pytest

from workers.prove.model import ASSUMPTIONS, EVERYTHING, RULES, Part, explore


def test_no_order_of_events_makes_two_records_and_one_can_be_reached() -> None:
    explored = explore()
    assert explored.unsafe is None
    assert explored.settled
    assert explored.states > 5_000


@pytest.mark.parametrize("part", [*ASSUMPTIONS, *RULES])
def test_each_assumption_and_each_rule_is_needed(part: Part) -> None:
    explored = explore(EVERYTHING - {part})
    assert explored.unsafe is not None
    assert sum("the CRM makes the record" in each for each in explored.unsafe) == 2


def test_a_request_that_is_executed_too_late_doubles_what_was_proven_absent() -> None:
    """The counterexample that `docs/guarantee.md` tells of."""
    unsafe = explore(EVERYTHING - {"limit"}).unsafe or ()
    proven = next(place for place, each in enumerate(unsafe) if "proves" in each)
    assert "the CRM makes the record" in unsafe[proven - 1]
