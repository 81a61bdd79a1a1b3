"""A worker that is told to stop ends its call, and leaves its delivery so that another goes on where it stands."""

from __future__ import annotations

import pytest

from tests.lab import Lab
from tests.simulation.world import ledger
from workers import drain

EACH_ONCE = {"contact": 1, "opportunity": 1, "task": 1}
BOUNDARIES = {
    "delivery.claimed": 0,
    "contact.seen_first": 0,
    "contact.before_commit": 1,
    "contact.committed": 1,
    "contact.answered": 1,
    "contact.noted": 1,
    "opportunity.committed": 2,
    "opportunity.noted": 2,
    "task.committed": 3,
}


def stopped_at(lab: Lab, boundary: str) -> None:
    """One piece of work by a process that is told to stop there."""
    passed: set[str] = set()
    drain.one(lab.other_desk(at=passed.add, stopping=lambda: boundary in passed))


@pytest.mark.parametrize(("boundary", "made"), BOUNDARIES.items())
def test_a_delivery_is_given_back_between_two_calls(stored: Lab, boundary: str, made: int) -> None:
    event = stored.form()
    stopped_at(stored, boundary)
    assert sum(ledger(stored).values()) == made
    assert stored.rows("SELECT FROM attempts WHERE closed_at IS NULL AND settled_at IS NULL") == []
    assert stored.state(event) == ("confirmed" if made == len(EACH_ONCE) else "received")
    stored.work()
    assert (stored.state(event), ledger(stored)) == ("confirmed", EACH_ONCE)


def test_a_doubt_is_not_given_back(stored: Lab) -> None:
    event = stored.form()
    stored.lose("opportunity")
    stopped_at(stored, "opportunity.answered")
    assert stored.state(event) == "uncertain"
    stored.settle()
    assert (stored.state(event), ledger(stored)) == ("confirmed", EACH_ONCE)
