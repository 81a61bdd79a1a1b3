"""The preflight of a CRM account: does the credential work, do the sentinels stand; `create` makes what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crm_clients.base import Absent, Found, Kind, Several, Unsure
from intake import accounts
from intake.accounts import Made
from intake.db import transaction
from workers import calls
from workers.desk import Desk, Wired
from workers.sentinels import is_foreign

# A child's sentinel stands below the sentinel opportunity, and that below the sentinel contact.
ORDER = (Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK, Kind.NOTE)
PARENT = {Kind.OPPORTUNITY: Kind.CONTACT, Kind.TASK: Kind.OPPORTUNITY, Kind.NOTE: Kind.OPPORTUNITY}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the preflight.  `ok` False: `remedy` says what to do."""

    destination: str
    what: str
    ok: bool
    detail: str
    remedy: str = ""


def check(desk: Desk, wired: Wired, *, create: bool) -> Iterator[Finding]:
    """The account, then one sentinel for each kind.  Stops at the first that everything else rests on."""
    name = wired.destination.name
    failed = calls.control(desk, wired)
    if failed is not None:
        yield Finding(name, "account", False, failed.reason, "check base_url, the credential and its rights")
        return
    yield Finding(name, "account", True, "the credential works")
    made: dict[Kind, str] = {}
    for kind in ORDER:
        parent = PARENT.get(kind)
        finding, crm_id = _sentinel(desk, wired, kind, made.get(parent) if parent else None, create=create)
        yield finding
        if crm_id is None:
            return
        made[kind] = crm_id


def reference_of(kind: Kind) -> str:
    """The name of the sentinel of a kind."""
    return f"intake-sentinel-{kind.value}"


def _sentinel(
    desk: Desk, wired: Wired, kind: Kind, parent_id: str | None, *, create: bool
) -> tuple[Finding, str | None]:
    name, what = wired.destination.name, f"sentinel {kind.value}"
    found = _find(desk, wired, kind, parent_id)
    if found is None and create:
        _make(desk, wired, kind, parent_id)
        found = _find(desk, wired, kind, parent_id)
    match found:
        case None:
            remedy = f"run `intake crm check --create`{'' if not create else ' again; is the reference field there?'}"
            return Finding(name, what, False, "missing", remedy), None
        case Unsure(reason):
            return Finding(name, what, False, reason, "try again when the CRM answers"), None
        case Made() as made:
            with transaction(desk.pool) as conn:
                accounts.keep_sentinel(conn, name, made)
            return Finding(name, what, True, "found by its reference"), made.crm_id
        case _:
            remedy = "another installation delivers to this account: use an account of your own"
            return Finding(name, what, False, "belongs to another installation", remedy), None


@dataclass(frozen=True, slots=True)
class Foreign:
    """The sentinel that stands there is another installation's."""


def _find(desk: Desk, wired: Wired, kind: Kind, parent_id: str | None) -> Made | Foreign | Unsure | None:
    reference = reference_of(kind)
    sight = calls.find(desk, wired, kind, [reference], parent_id)
    match sight.looked:
        case Found(seen):
            if is_foreign(seen.values.get("text", ""), str(desk.installation.installation_id)):
                return Foreign()
            return Made(kind.value, reference, seen.crm_id, parent_id)
        case Several(crm_ids):  # A double of the sentinel is harmless.
            return Made(kind.value, reference, crm_ids[0], parent_id)
        case Unsure() as unsure:
            return unsure
        case Absent():
            return None


def _make(desk: Desk, wired: Wired, kind: Kind, parent_id: str | None) -> None:
    """Create it; whether that worked, the look afterwards tells, by the very filter that is to be trusted."""
    draft = wired.client.sentinel(kind, str(desk.installation.installation_id), parent_id=parent_id)
    request = wired.client.create(draft, reference_of(kind))
    send_by = desk.deadline(desk.patience.send_within)
    desk.transport.write(wired.account, request, send_by=send_by, deadline=desk.deadline(desk.patience.call))
