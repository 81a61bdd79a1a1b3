"""The pool that empties the queue: threads that claim due work one by one until none is left or the slice is over.

How many there are, and when they leave, stands in shift.py.  The hint that started it says nothing of what is due;
PostgreSQL does.  What somebody at the desk waits for comes first (it is rare), then mostly deliveries, then what has to
be fetched for them, looks, the control calls of paused accounts, and what is rarer (turns.py).
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
from workers.turns import in_turn

log = structlog.get_logger()

# A job gives its worker back after this, so that a stop or a new version does not wait for an endless queue.
SLICE = timedelta(seconds=55)


def drain(desk: Desk, *, threads: int, slice_of: timedelta = SLICE, stop: threading.Event | None = None) -> int:
    """Work until nothing is due, the slice is over, or `stop` is set; returns how many pieces of work were done."""
    until = desk.deadline(slice_of)
    stopping, turns = stop or threading.Event(), itertools.count(1)
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="drain") as pool:
        shift = Shift(
            pool,
            threads,
            look=lambda at_all: _look(desk, shift, next(turns) if at_all else None),
            stops=lambda: stopping.is_set() or desk.clock() >= until,
            clock=desk.clock,
        )
        return shift.run()


def _look(desk: Desk, shift: Shift, turn: int | None) -> bool:
    """`turn` None: only for a delivery."""
    try:
        return _deliver_next(desk, shift.more) if turn is None else one(desk, shift.more, turn=turn)
    except LOST as lost:
        # What was in flight is in doubt by itself; the clock's next hint brings a worker back.
        log.warning("database lost while working", error=type(lost).__name__)
        return False


def _nobody() -> None:
    """There is nobody to be told."""


def one(desk: Desk, claimed: Callable[[], None] = _nobody, *, turn: int = 1) -> bool:
    """Do the next piece of due work.  False: there is none.  `claimed` is told of a delivery before it is worked on."""
    others = (fetch_due, look_due, _control_due, _decision_due, pull_due, page_due)
    kinds = in_turn(lambda desk: _deliver_next(desk, claimed), others, turn)
    return read_due(desk) or any(kind(desk) for kind in kinds)


def _decision_due(desk: Desk) -> bool:
    """Go on with a decision about many events whose command ended."""
    with desk.pool.connection() as conn:
        return bulk.step(conn, desk.settings)


def _deliver_next(desk: Desk, claimed: Callable[[], None] = _nobody) -> bool:
    """Nothing is claimed for an account that refuses calls for now, so that those of other accounts go on."""
    refusing = desk.limiter.closed(desk.destinations)
    taking = [each for each in desk.destinations if each not in refusing]
    with desk.pool.connection() as conn:
        held = deliveries.claim(conn, destinations=taking, lease=desk.patience.lease, in_hand=desk.in_hand.sources)
    if held is None:
        return False
    claimed()
    desk.at("delivery.claimed")
    log.info("delivery claimed", event_id=str(held.event_id), part=held.part)
    with desk.in_hand.holding(held.source):
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
