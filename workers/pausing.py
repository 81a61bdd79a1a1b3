"""When a CRM does not tell, or refuses for now: the delivery comes back later, and the account may be paused.

An account is paused only when a control call fails too; else what is wrong is about the one item.
"""

from __future__ import annotations

from datetime import timedelta

from crm_clients.base import Retry, Unsure
from intake import accounts
from intake.db import transaction
from workers import backoff, calls, grants
from workers.desk import Desk, Wired
from workers.sending import RATE_LIMITED, SHORT
from workers.standing import ACCOUNT_PAUSED, ForPerson, Later

# What clients say of a credential that the CRM does not take (any more).
REFUSED_CREDENTIAL = frozenset({"bad_credential"})


def unsure(desk: Desk, wired: Wired, looked: Unsure) -> Later:
    """A look that told nothing: later; where the whole account does not work, it is paused."""
    if _is_spared(desk, wired, looked.reason, looked.after):
        return Later(looked.reason, looked.after)
    if looked.scope == "account":
        later = unreachable(desk, wired, looked.reason)
        return Later(later.reason, looked.after or later.after or backoff.AFTER_UNSURE)
    return Later(looked.reason, looked.after or backoff.AFTER_UNSURE)


def unreachable(desk: Desk, wired: Wired, reason: str) -> Later:
    """No byte got through, or no answer came: later; the account is paused only when a control call fails too."""
    return paused(desk, wired) or Later(reason)


def retry(desk: Desk, wired: Wired, again: Retry) -> Later | ForPerson:
    """What the CRM refused for now.  If it blames the account but a control call works, the item is a person's."""
    if again.passing and _is_spared(desk, wired, again.reason, again.after):
        return Later(again.reason, again.after)
    stopped = paused(desk, wired) if again.scope == "account" else None
    if stopped is not None:
        return stopped
    return Later(again.reason, again.after) if again.passing or again.scope == "item" else ForPerson(again.reason)


def _is_spared(desk: Desk, wired: Wired, reason: str, after: timedelta | None) -> bool:
    """A short refusal that the limiter keeps: what is asked next waits for it, and no control call is wasted on it."""
    if reason != RATE_LIMITED or after is None or after > SHORT:
        return False
    return wired.destination.name in desk.limiter.closed([wired.destination.name])


def paused(desk: Desk, wired: Wired) -> Later | None:
    """None: the account works."""
    failed = calls.control(desk, wired)
    if failed is None:
        return None
    if failed.reason in REFUSED_CREDENTIAL:
        grants.distrust(desk, wired)
    with transaction(desk.pool) as conn:
        accounts.pause(conn, wired.destination.name, reason=failed.reason, again=failed.after or backoff.CONTROL_AGAIN)
    return Later(ACCOUNT_PAUSED, after=backoff.CONTROL_AGAIN)
