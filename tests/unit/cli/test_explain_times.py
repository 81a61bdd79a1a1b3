"""`explain` says when it goes on by itself, where it does and the time is still to come."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from intake.explain import Clock, explain
from intake.permitted import View
from tests.unit.cli.views import event, in_doubt

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SOON = NOON + timedelta(minutes=5)


def told(view: View) -> str:
    return explain(view, "es", clock=Clock(NOON, UTC)).then


def test_what_is_in_doubt_says_when_it_is_looked_for_next() -> None:
    later = replace(in_doubt(2), look_at=SOON + timedelta(minutes=1))
    view = View(event(state="uncertain", reason="eof"), [later, replace(in_doubt(), look_at=SOON)])
    assert told(view).endswith("La próxima búsqueda es a las 12:05:00.")


def test_what_is_due_says_when_it_goes_on() -> None:
    waiting = replace(event(state="waiting", reason="status_503"), due_at=SOON)
    assert told(View(waiting, [])).endswith("Le toca a las 12:05:00.")


@pytest.mark.parametrize("look_at", [None, NOON - timedelta(seconds=1)], ids=["unknown", "past"])
def test_a_time_that_is_not_to_come_is_not_told(look_at: datetime | None) -> None:
    view = View(event(state="uncertain", reason="eof"), [replace(in_doubt(), look_at=look_at)])
    assert "12:" not in told(view)
