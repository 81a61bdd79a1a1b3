"""The preflight of a CRM account: does the credential work, do the sentinels stand; `create` makes what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from crm_clients.base import (
    Absent,
    Confirmed,
    Duplicate,
    Found,
    Kind,
    Rejected,
    Request,
    Retry,
    Several,
    Uncertain,
    Unsure,
    Written,
)
from crm_clients.transport import NotSent
from intake import accounts
from intake.accounts import Made
from intake.db import transaction
from workers import calls, preflight
from workers.desk import Desk, Wired
from workers.sentinels import is_foreign

# A child's sentinel stands below the sentinel opportunity, and that below the sentinel contact.
ORDER = (Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK, Kind.NOTE)
PARENT = {Kind.OPPORTUNITY: Kind.CONTACT, Kind.TASK: Kind.OPPORTUNITY, Kind.NOTE: Kind.OPPORTUNITY}

AGAIN = "run `intake crm check --create` again"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the preflight.  `ok` False: `remedy` says what to do."""

    destination: str
    what: str
    ok: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """A sentinel as it stands in the CRM.  `text` None: the CRM shows none, or there are several sentinels."""

    made: Made
    text: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Foreign:
    """The sentinel that stands there is another installation's."""


@dataclass(frozen=True, slots=True)
class Trashed:
    """The sentinel stands in the CRM's trash, or was merged away: nothing can be made below it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The CRM did not make the sentinel, and why; `scope`: what the credential lacks, in the CRM's words."""

    reason: str
    scope: str = ""


def check(desk: Desk, wired: Wired, *, create: bool) -> Iterator[Finding]:
    """The account, what its CRM tells about it, one sentinel for each kind: all that can be found in one run.

    Without the account nothing else can be asked.  With `create`, what is missing is made, and whether the credential
    may write is tried.
    """
    name = wired.destination.name
    failed = calls.control(desk, wired)
    if failed is not None and failed.reason not in REMEDIES:
        yield Finding(name, "account", False, failed.reason, _remedy_of_account(failed))
        return
    told = [
        Finding(name, each.what, each.ok, each.detail, each.remedy)
        for each in preflight.tell(desk, wired, create=create)
    ]
    failed = calls.control(desk, wired) if failed is not None and create else failed
    if failed is not None:
        yield Finding(name, "account", False, failed.reason, _remedy_of_account(failed))
        yield from told
        return
    yield Finding(name, "account", True, "the credential works")
    yield from told
    made: dict[Kind, Standing] = {}
    for kind in ORDER:
        parent = PARENT.get(kind)
        above = made.get(parent) if parent else None
        if parent is Kind.OPPORTUNITY and above is None:
            yield _not_asked(name, kind)
            continue
        may_make = create and (parent is None or above is not None)
        finding, standing = _sentinel(desk, wired, kind, above.made.crm_id if above else None, create=may_make)
        yield finding
        if standing is not None:
            made[kind] = standing
    if create and Kind.OPPORTUNITY in made:
        yield from _may_write(desk, wired, made[Kind.OPPORTUNITY])


def reference_of(kind: Kind) -> str:
    """The name of the sentinel of a kind."""
    return f"intake-sentinel-{kind.value}"


# What a control call finds beside a credential that does not work.
REMEDIES = {
    "reference_field_missing": "define the custom field that keeps the reference, for each kind of record",
    "reference_field_not_unique": "make the field that keeps the reference anew, with unique values",
    "reference_field_not_external": "mark the field that keeps the reference as an external one",
}


def _remedy_of_account(failed: Unsure) -> str:
    return REMEDIES.get(failed.reason, "check base_url, the credential and its rights")


# --- sentinels --------------------------------------------------------------------------------------------------------


def _sentinel(
    desk: Desk, wired: Wired, kind: Kind, parent_id: str | None, *, create: bool
) -> tuple[Finding, Standing | None]:
    name, what = wired.destination.name, f"sentinel {kind.value}"
    found = _find(desk, wired, kind, parent_id)
    refused: Refused | None = None
    if found is None and create:
        refused = _make(desk, wired, kind, parent_id)
        found = _find(desk, wired, kind, parent_id)
    match found:
        case None:
            return _missing(name, what, refused, create=create), None
        case Unsure(reason):
            return Finding(name, what, False, reason, "try again when the CRM answers"), None
        case Standing(made):
            with transaction(desk.pool) as conn:
                accounts.keep_sentinel(conn, name, made)
            return Finding(name, what, True, "found by its reference"), found
        case Trashed():
            remedy = f"restore it there, or remove it for good; then {AGAIN}"
            return Finding(name, what, False, "in the CRM's trash, or merged", remedy), None
        case Foreign():
            remedy = "another installation delivers to this account: use an account of your own"
            return Finding(name, what, False, "belongs to another installation", remedy), None
        case _:
            assert_never(found)


def _not_asked(name: str, kind: Kind) -> Finding:
    """A child can only be looked for below its parent."""
    remedy = "mend the sentinel opportunity first; it stands below that"
    return Finding(name, f"sentinel {kind.value}", False, "not looked for", remedy)


def _missing(name: str, what: str, refused: Refused | None, *, create: bool) -> Finding:
    if refused is not None:
        return Finding(name, what, False, refused.reason, _remedy_of_refusal(refused))
    if create:
        remedy = f"it was made, but the CRM does not find it: does it keep the reference? Then {AGAIN}"
        return Finding(name, what, False, "missing", remedy)
    return Finding(name, what, False, "missing", "run `intake crm check --create`")


def _remedy_of_refusal(refused: Refused) -> str:
    if refused.scope:
        return f"give the credential the right to write ({refused.scope}), then {AGAIN}"
    if refused.reason.startswith("duplicate_"):
        return f"a record with the sentinel's name stands there without its reference: remove it, then {AGAIN}"
    return f"mend what the CRM refuses, then {AGAIN}"


def _find(desk: Desk, wired: Wired, kind: Kind, parent_id: str | None) -> Standing | Foreign | Trashed | Unsure | None:
    reference = reference_of(kind)
    sight = calls.find(desk, wired, kind, [reference], parent_id)
    match sight.looked:
        case Found(seen) if not seen.live:
            return Trashed()
        case Found(seen):
            text = seen.values.get("text")
            if is_foreign(text or "", str(desk.installation.installation_id)):
                return Foreign()
            return Standing(Made(kind.value, reference, seen.crm_id, parent_id), text)
        case Several(crm_ids):  # A double of the sentinel is harmless.
            return Standing(Made(kind.value, reference, crm_ids[0], parent_id))
        case Unsure() as unsure:
            return unsure
        case Absent():
            return None


def _make(desk: Desk, wired: Wired, kind: Kind, parent_id: str | None) -> Refused | None:
    """Create it; whether that worked, the look afterwards tells, by the very filter that is to be trusted."""
    draft = wired.client.sentinel(kind, str(desk.installation.installation_id), parent_id=parent_id)
    request = wired.client.create(draft, reference_of(kind))
    call = calls.write(
        desk, wired, request, prepared=desk.clock(), read=lambda answer: wired.client.created(kind, answer)
    )
    return _refusal(call.means)


def _refusal(means: Written | NotSent) -> Refused | None:
    """Why it surely was not written; None: it was, or may have been."""
    match means:
        case Confirmed() | Uncertain():
            return None
        case Rejected(reason, fields):
            told = "; ".join(f"{name}: {rule}" for name, rule in fields)
            return Refused(f"{reason} ({told})" if told else reason, told if reason == "token_scope" else "")
        case Duplicate(by):
            return Refused(f"duplicate_{by}")
        case Retry(reason) | NotSent(reason):
            return Refused(reason)
        case _:
            assert_never(means)


# --- the right to write -----------------------------------------------------------------------------------------------


def _may_write(desk: Desk, wired: Wired, opportunity: Standing) -> Iterator[Finding]:
    """Write the sentinel's own text over it: a credential that only reads finds all sentinels, and delivers nothing."""
    if opportunity.text is None:
        return
    crm_id, name = opportunity.made.crm_id, wired.destination.name
    request = wired.client.update(Kind.OPPORTUNITY, crm_id, {"text": opportunity.text})
    refused = _refusal(_written(desk, wired, request, crm_id))
    if refused is None:
        yield Finding(name, "write access", True, "the credential may write")
    else:
        yield Finding(name, "write access", False, refused.reason, _remedy_of_refusal(refused))


def _written(desk: Desk, wired: Wired, request: Request, crm_id: str) -> Written | NotSent:
    updated = wired.client.updated
    call = calls.write(
        desk, wired, request, prepared=desk.clock(), read=lambda answer: updated(Kind.OPPORTUNITY, crm_id, answer)
    )
    return call.means
