"""What the sandbox promises and does, profile by profile: each is a kind of CRM that exists."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Profile:
    """`lag` and `limit` in seconds: a record is found `lag` after its commit, and by its id at once; a request is
    executed at the latest `limit` after its last byte came, unless a fault breaks that promise.

    `states_lag` False: nobody may know the lag.
    """

    name: str
    unique_reference: bool = False
    unique_email: bool = False
    child_reference: bool = True
    idempotency: bool = False
    lag: float = 0.0
    limit: float = 5.0
    states_lag: bool = True


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("enforced", unique_reference=True),
        Profile("stored"),
        Profile("lagging", lag=1.0),
        Profile("no_task_reference", child_reference=False),
        Profile("idempotency", idempotency=True),
        Profile("weak", lag=2.0, states_lag=False),
        Profile("unique_email", unique_email=True),
    )
}


def profile(name: str, *, lag: float | None = None, limit: float | None = None) -> Profile:
    """The profile of this name with its own lag and limit where given, in seconds.  Raises KeyError."""
    known = PROFILES[name]
    return replace(known, lag=known.lag if lag is None else lag, limit=known.limit if limit is None else limit)
