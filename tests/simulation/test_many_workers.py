"""Many workers at one person's deliveries: their transactions wait for each other, but never in a ring."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from tests.lab import Lab
from workers import clock, drain

LEADS, WORKERS = 30, 8


def test_workers_at_one_contact_never_deadlock(stored: Lab) -> None:
    for number in range(LEADS):
        stored.form(message=f"Pedido {number}", email="ana@example.com" if number % 2 else "")
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            if not drain.one(stored.desk):
                done.wait(0.01)

    with ThreadPoolExecutor(WORKERS) as pool:
        workers = [pool.submit(work) for _ in range(WORKERS)]
        for _ in range(300):
            clock.tick(stored.pool, name="lab")
            if not stored.rows("SELECT FROM deliveries WHERE state <> 'confirmed'") or any(w.done() for w in workers):
                break
            done.wait(0.1)
        done.set()
        for each in workers:
            each.result()  # Raises what stopped a worker: a deadlock is an OperationalError.
    assert [len(stored.in_crm(kind)) for kind in ("contact", "opportunity", "task")] == [1, LEADS, LEADS]
