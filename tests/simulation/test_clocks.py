"""Any number of clocks: what one tick has done, another at the same moment does not do again."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from intake import deliveries
from tests.lab import Lab
from workers import clock

LEADS, CLOCKS = 12, 4
LEASE = timedelta(seconds=30)


def ticks_at_once(lab: Lab) -> list[clock.Ticked]:
    together = threading.Barrier(CLOCKS)

    def tick(name: int) -> clock.Ticked:
        together.wait(30)
        return clock.tick(lab.pool, name=f"clock-{name}")

    with ThreadPoolExecutor(CLOCKS) as pool:
        return list(pool.map(tick, range(CLOCKS)))


def test_clocks_at_once_take_each_lost_delivery_back_once(stored: Lab) -> None:
    for number in range(LEADS):
        stored.form(message=f"Pedido {number}", email=f"ana{number}@example.com")
    with stored.pool.connection() as conn:
        held = [deliveries.claim(conn, destinations=["crm"], lease=LEASE) for _ in range(LEADS)]
    assert None not in held
    stored.pass_time(LEASE + timedelta(seconds=1))
    ticked = ticks_at_once(stored)
    assert sum(each.released for each in ticked) == LEADS
    (row,) = stored.rows("SELECT count(*) AS n FROM delivery_history WHERE from_state = 'delivering'")
    assert row["n"] == LEADS


def test_a_tick_more_changes_nothing(stored: Lab) -> None:
    stored.form(message="Pedido", email="ana@example.com")
    first, second = clock.tick(stored.pool, name="one"), clock.tick(stored.pool, name="two")
    assert (first, second) == (second, first)
    assert (second.released, second.woken, second.due) == (0, 0, True)
