"""The pool that empties the queue: threads that claim due work one by one until none is left or the slice is over.

How many there are, and when they leave, stands in shift.py.  The hint that started it says nothing of what is due;
PostgreSQL does.  What somebody at the desk waits for comes first (it is rare), then mostly deliveries, then what has to
be fetched for them, looks, the control calls of paused accounts, and what is rarer (turns.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import structlog

from crm_clients.base import Kind
from intake import accounts, bulk, deliveries
from intake.db import LOST, transaction
from workers import backoff, calls, sentinels
from workers.deliver import deliver
from workers.desk import Desk
from workers.desk_reads import read_due
from workers.fetch import fetch_due
from workers.look import look_due
from workers.nightly import page_due
from workers.pull import pull_due
from workers.shift import Shift
from workers.turns import Turns

log = structlog.get_logger()

# A job gives its worker back after this, so that a stop or a new version does not wait for an endless queue.
SLICE = timedelta(seconds=55)


def drain(desk: Desk, *, threads: int, slice_of: timedelta = SLICE, stop: threading.Event | None = None) -> int:
    """Work until nothing is due, the slice is over, or `stop` is set; returns how many pieces of work were done."""
    until = desk.deadline(slice_of)
    stopping, turns = stop or threading.Event(), Turns()
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="drain") as pool:
        shift = Shift(
            pool,
            threads,
            look=lambda at_all: _look(desk, shift, turns if at_all else None),
            stops=lambda: stopping.is_set() or desk.clock() >= until,
            clock=desk.clock,
        )
        return shift.run()


def _look(desk: Desk, shift: Shift, turns: Turns | None) -> bool:
    """`turns` None: only for a delivery."""
    try:
        return _deliver_next(desk, shift.more) if turns is None else one(desk, shift.more, turns)
    except LOST as lost:
        # What was in flight is in doubt by itself; the clock's next hint brings a worker back.
        log.warning("database lost while working", error=type(lost).__name__)
        return False


def _nobody() -> None:
    """There is nobody to be told."""


def one(desk: Desk, claimed: Callable[[], None] = _nobody, turns: Turns | None = None) -> bool:
    """Do the next piece of due work.  False: there is none.

    `claimed` is told of a delivery before it is worked on.  `turns` None: deliveries go before other kinds of work.
    """
    others = (fetch_due, look_due, _control_due, _decision_due, pull_due, page_due)
    if read_due(desk):
        return True
    with closing((turns or Turns()).first(others)) as front:
        if any(kind(desk) for kind in front):
            return True
    return _deliver_next(desk, claimed) or any(kind(desk) for kind in others)


def _decision_due(desk: Desk) -> bool:
    """Go on with a decision about many events whose command ended."""
    with desk.pool.connection() as conn:
        return bulk.step(conn, desk.settings)


def _deliver_next(desk: Desk, claimed: Callable[[], None] = _nobody) -> bool:
    """Nothing is claimed for an account that refuses calls for now, so that those of other accounts go on."""
    refusing = desk.limiter.closed(desk.destinations)
    taking = [each for each in desk.destinations if each not in refusing]
    with desk.pool.connection() as conn:
        held = deliveries.claim(conn, destinations=taking, lease=desk.patience.lease, had=desk.in_hand.had)
    if held is None:
        return False
    with desk.in_hand.holding(held):
        claimed()  # Who claims next is to know of this one.
        desk.at("delivery.claimed")
        log.info("delivery claimed", event_id=str(held.event_id), part=held.part)
        deliver(desk, held)
    return True


def _control_due(desk: Desk) -> bool:
    """Ask a paused account whether it works again."""
    with transaction(desk.pool) as conn:
        name = accounts.claim_control(conn, destinations=desk.destinations, again=backoff.CONTROL_AGAIN)
    if name is None:
        return False
    wired = desk.wired[name]
    if calls.control(desk, wired) is None and sentinels.control(desk, wired, Kind.CONTACT).told != "foreign":
        with transaction(desk.pool) as conn:
            accounts.resume(conn, name)
        log.info("account resumed", destination=name)
    return True
