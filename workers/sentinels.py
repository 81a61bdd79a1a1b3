"""The positive control: an "absent" counts only if the same filter finds the sentinel."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, assert_never

from crm_clients.base import Absent, Found, Kind, Several, Unsure
from intake import accounts
from intake.accounts import Sentinel
from intake.db import transaction
from workers import backoff, calls
from workers.desk import Desk, Wired

UUID_IN_TEXT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Control:
    """`told`: "yes" the sentinel was found; "no" it is missing or was never made; "unsure" no answer; "foreign" it
    belongs to another installation, so that this database must not write there.  `silence`: how long an answer was
    waited for that never came, None: one came."""

    told: Literal["yes", "no", "unsure", "foreign"]
    reason: str = ""
    unsure: Unsure | None = None
    silence: timedelta | None = None


def control(desk: Desk, wired: Wired, kind: Kind, *, may_be_old: bool = False) -> Control:
    """Look for the sentinel of this kind.  `may_be_old`: one that was found some minutes ago serves too."""
    with desk.pool.connection() as conn:
        known = accounts.sentinel(conn, wired.destination.name, kind.value)
    if known is None:
        return Control("no", "no_sentinel")
    if may_be_old and known.fresh:
        return Control("yes")
    told = _ask(desk, wired, kind, known)
    with transaction(desk.pool) as conn:
        if told.told == "yes":
            accounts.sentinel_seen(conn, wired.destination.name, kind.value)
        if told.told == "foreign":
            accounts.pause(conn, wired.destination.name, reason=told.reason, again=backoff.CONTROL_AGAIN)
    return told


def _ask(desk: Desk, wired: Wired, kind: Kind, known: Sentinel) -> Control:
    sight = calls.find(desk, wired, kind, [known.reference], known.parent_id)
    match sight.looked:
        case Found(seen) if is_foreign(seen.values.get("text", ""), str(desk.installation.installation_id)):
            return Control("foreign", "foreign_installation")
        case Several(ids) if known.crm_id not in ids:
            return Control("no", "sentinel_replaced")
        case Found() | Several():  # A double of the sentinel is harmless.
            return Control("yes")
        case Absent():
            return Control("no", "sentinel_not_found")
        case Unsure() as unsure:
            return Control("unsure", unsure.reason, unsure, None if sight.answered else sight.took)
        case _:
            assert_never(sight.looked)


def is_foreign(text: str, installation: str) -> bool:
    """The text names an installation, and it is not this one."""
    named = UUID_IN_TEXT.search(text.lower())
    return named is not None and named[0] != installation
