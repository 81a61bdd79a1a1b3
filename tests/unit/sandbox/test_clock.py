from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from crm_clients.sandbox.clock import Clock, Held, Stopping

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def stopped_clock() -> Clock:
    return Clock(lambda: NOON)


def test_a_clock_shows_its_offset() -> None:
    clock = stopped_clock()
    clock.set_offset(HOUR)
    assert clock.now() == NOON + HOUR


def test_what_is_due_waits_for_nothing() -> None:
    held = Held(stopped_clock())
    with held.until(NOON):
        assert held.count() == 1
    assert held.count() == 0


def test_setting_the_clock_wakes_who_waits_for_that_time() -> None:
    clock = stopped_clock()
    waiter = threading.Thread(target=clock.wait, args=(NOON + HOUR,), kwargs={"released": lambda: False})
    waiter.start()
    clock.set_offset(HOUR)
    waiter.join(10)
    assert not waiter.is_alive()


def test_nothing_that_was_abandoned_is_executed() -> None:
    held = Held(stopped_clock())
    held.abandon()
    with pytest.raises(Stopping), held.until(NOON):
        pytest.fail("executed")
