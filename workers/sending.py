"""The only way from a worker to a CRM: with the account as it is now, whatever its credential is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from crm_clients.base import Request
from crm_clients.transport import NotSent, Sent
from workers import grants
from workers.desk import Desk, Wired


@dataclass(frozen=True, slots=True)
class Timing:
    """Readings of the clock: the first byte leaves before `send_by` or never, and the call ends at `deadline`."""

    send_by: float
    deadline: float


def write(desk: Desk, wired: Wired, request: Request, timing: Timing, on_first_byte: Callable[[], None]) -> Sent:
    """Send a request that changes something."""
    account = grants.account(desk, wired)
    if isinstance(account, NotSent):
        return account
    return desk.transport.write(
        account, request, send_by=timing.send_by, deadline=timing.deadline, on_first_byte=on_first_byte
    )


def look(desk: Desk, wired: Wired, request: Request, *, within: timedelta | None = None) -> Sent:
    """Send a request that changes nothing.  `within` None: as long as a look may take."""
    account = grants.account(desk, wired)
    if isinstance(account, NotSent):
        return account
    return desk.transport.look(account, request, deadline=desk.deadline(within or desk.patience.look))
