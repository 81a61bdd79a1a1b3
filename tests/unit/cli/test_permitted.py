"""What may be done in which state: the table, as the console, the API and the commands read it."""

from __future__ import annotations

import pytest

from intake.permitted import ACTIONS, View, refusal
from tests.unit.cli.views import RECORD, event, in_doubt

ALLOWED = {
    "awaiting_approval": {"correct", "approve", "decline", "cancel", "spam"},
    "received": {"cancel", "spam"},
    "delivering": set(),
    "waiting": {"cancel", "spam"},
    "uncertain": {"settle applied", "cancel", "spam"},
    "review": {"settle applied", "settle contact", "correct", "revive", "cancel", "spam"},
    "confirmed": {"reissue", "spam"},
    "cancelled": {"reissue", "spam"},
    "superseded": {"reissue", "spam"},
}


@pytest.mark.parametrize("state", ALLOWED)
def test_what_is_allowed_without_a_doubt(state: str) -> None:
    view = View(event(state=state), (RECORD,))
    assert {action for action in ACTIONS if refusal(action, view) is None} == ALLOWED[state]


@pytest.mark.parametrize("state", ["uncertain", "review"])
def test_a_doubt_can_be_settled_either_way(state: str) -> None:
    view = View(event(state=state), (in_doubt(),))
    assert [refusal("settle applied", view), refusal("settle not-applied", view)] == [None, None]


@pytest.mark.parametrize("state", ALLOWED)
def test_a_doubt_can_be_looked_at_whatever_became_of_the_delivery(state: str) -> None:
    assert refusal("look", View(event(state=state), (in_doubt(),))) is None
