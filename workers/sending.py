"""The only way from a worker to a CRM: with the account as it is now, and when the account has room for a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from crm_clients import rates
from crm_clients.abilities import CALLS, has_limits
from crm_clients.base import Request
from crm_clients.transport import Answered, NotSent, Sent
from workers import backoff, facts, grants
from workers.desk import Desk, Wired
from workers.limiter import NOW

# The word for it, whoever says so: the CRM, or our own limiter before it had to.
RATE_LIMITED: Final = "rate_limited"

# A longer wait is the delivery's, which comes back later, and not this thread's: other accounts want it.
A_LITTLE: Final = timedelta(seconds=1)

# A refusal that does not say how long; our backoff begins there, too.
UNTOLD: Final = backoff.FIRST

# No longer do all deliveries of an account wait for the word of one answer.  A limit that is used up for longer is a
# day's: a control call tells, the account is paused, and somebody told.
SHORT: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Timing:
    """Readings of the clock: the first byte leaves before `send_by` or never, and the call ends at `deadline`."""

    send_by: float
    deadline: float


@dataclass(frozen=True, slots=True)
class NoRoom(NotSent):
    """The account would refuse the call for so long: it was spared.  It tells nothing about the CRM."""

    after: timedelta


def room(desk: Desk, wired: Wired, request: Request) -> NoRoom | None:
    """Wait a little for the account's limit of calls; None: there is room, and this request is counted."""
    waited = NOW
    while (wait := _wait(desk, wired, request)) > NOW:
        if waited + wait > A_LITTLE:
            return NoRoom(RATE_LIMITED, wait)
        desk.limiter.pause(wait * (1 + desk.jitter() / 4))
        waited += wait
    return None


def _wait(desk: Desk, wired: Wired, request: Request) -> timedelta:
    client = wired.client
    limits = client.limits() if has_limits(client) else ()
    return desk.limiter.room(wired.destination.name, _bucket(wired, request), limits)


def _bucket(wired: Wired, request: Request) -> str:
    return wired.client.bucket(request) if has_limits(wired.client) else CALLS


def write(desk: Desk, wired: Wired, request: Request, timing: Timing, on_first_byte: Callable[[], None]) -> Sent:
    """Send a request that changes something; whether there is `room` was asked before it was committed."""
    account = grants.account(desk, wired)
    if isinstance(account, NotSent):
        return account
    sent = desk.transport.write(
        account, request, send_by=timing.send_by, deadline=timing.deadline, on_first_byte=on_first_byte
    )
    return _heard(desk, wired, request, sent)


def look(desk: Desk, wired: Wired, request: Request, *, within: timedelta | None = None, must: bool = False) -> Sent:
    """Send a request that changes nothing.  `within` None: as long as a look may take.

    `must`: it goes without room, too, since nobody would come back for its answer.
    """
    full = room(desk, wired, request)
    if full is not None and not must:
        return full
    account = grants.account(desk, wired)
    if isinstance(account, NotSent):
        return account
    sent = desk.transport.look(account, request, deadline=desk.deadline(within or desk.patience.look))
    return _heard(desk, wired, request, sent)


def _heard(desk: Desk, wired: Wired, request: Request, sent: Sent) -> Sent:
    """What an answer's headers say about calls counts for all workers."""
    if isinstance(sent, Answered):
        facts.hear(desk, wired, sent.response)
        lasts = rates.asks_for(sent.response)
        if lasts:
            close(desk, wired, request, lasts)
    return sent


def close(desk: Desk, wired: Wired, request: Request, lasts: timedelta | None) -> None:
    """The CRM refuses such calls for so long, None: it does not say; no worker asks before."""
    desk.limiter.close(wired.destination.name, _bucket(wired, request), min(lasts or UNTOLD, SHORT))
