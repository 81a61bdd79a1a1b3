"""What the CRM shows of what we confirmed: each record by its id, and all that stands under our references.

gone, in the trash, merged · another's reference · without owner, contact · two under one reference · nobody made it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crm_clients.abilities import ListsReferences, Page
from crm_clients.base import Absent, Found, Kind, Seen, Several, UnreadableAnswer, Unsure
from crm_clients.transport import Answered
from intake import reconcile, records
from intake.identity import is_ours
from intake.incidents import KINDS, WRONG, Incident
from intake.reconcile import Claimed, Standing
from intake.records import RecordKind
from workers import calls, sending
from workers.desk import Desk, Wired
from workers.look import followed

__all__ = ["KINDS", "LISTED_WRONG", "WRONG", "Verified", "can_list", "compare", "page", "reasons", "verify"]

# What is found by listing, where the CRM can be listed.
LISTED_WRONG = ("several", "unexpected", "unknown")


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found wrong; `unsure`: the CRM did not tell, so that nothing is known."""

    incidents: tuple[Incident, ...] = ()
    unsure: str | None = None


def reasons(kind: RecordKind, *, listed: bool) -> tuple[str, ...]:
    """The reasons of incidents that `verify` alone can find, and so find no more."""
    return tuple(f"{kind}_{each}" for each in (WRONG if listed else (*WRONG, "several")))


def verify(desk: Desk, standing: Standing) -> Verified:
    """One record, read in the CRM by its id; where the CRM cannot be listed, looked for under its references, too."""
    wired = desk.wired.get(standing.destination)
    if wired is None:
        return Verified(unsure="not_configured")
    kind = Kind(standing.kind)
    looked = calls.read(desk, wired, kind, standing.crm_id).looked
    if isinstance(looked, Unsure):
        return Verified(unsure=looked.reason)
    if isinstance(looked, Found) and _is_followed(desk, standing, looked.seen):
        return Verified()  # The one that was kept is verified in its turn.
    wrong = tuple(_wrong(wired, standing, looked.seen)) if isinstance(looked, Found) else ("gone",)
    if can_list(wired, standing.kind):
        return Verified(tuple(_incident(standing, each) for each in wrong))
    return _alone(desk, wired, standing, wrong)


def _is_followed(desk: Desk, standing: Standing, seen: Seen) -> bool:
    if seen.live:
        return False
    with desk.pool.connection() as conn:
        record = records.read(conn, standing.record_id)
    return followed(desk, record, seen)


def can_list(wired: Wired, kind: RecordKind) -> bool:
    """Whether the CRM lists all records of this kind, with their references."""
    client = wired.client
    return isinstance(client, ListsReferences) and client.all_of(Kind(kind), after=None) is not None


def _wrong(wired: Wired, standing: Standing, seen: Seen) -> Iterator[str]:
    if not seen.live:
        yield "not_live"
        return
    if _bears_another(wired, standing, seen):
        yield "other_reference"
    if standing.kind == "opportunity":
        owner = wired.destination.owner
        if seen.owner is None and "round_robin" in owner.rule and owner.users:
            yield "without_owner"
        if seen.contact_id is None:
            yield "without_contact"


def _bears_another(wired: Wired, standing: Standing, seen: Seen) -> bool:
    """Whether it is not ours.  What people made and we adopted bears none; a marker is lost when a text is edited."""
    if standing.how in {"adopted", "settled_unverified"} or seen.reference in standing.references:
        return False
    kept = wired.capability(Kind(standing.kind)).reference in {"enforced", "stored"}
    return seen.reference is not None or kept


def _alone(desk: Desk, wired: Wired, standing: Standing, wrong: Sequence[str]) -> Verified:
    again = calls.find(desk, wired, Kind(standing.kind), standing.references, standing.parent_crm_id).looked
    match again:
        case Unsure(reason):
            return Verified(unsure=reason)
        case Several():
            wrong = (*wrong, "several")
        case Found(seen) if seen.live and seen.crm_id != standing.crm_id:
            wrong = (*wrong, "several")
        case Found() | Absent():
            pass
    return Verified(tuple(_incident(standing, each) for each in wrong))


def _incident(standing: Standing, reason: str) -> Incident:
    subject = f"record:{standing.record_id}"
    return Incident(f"{standing.kind}_{reason}", subject, record_id=standing.record_id, crm_id=standing.crm_id)


# --- what stands under our references -------------------------------------------------------------------------------


def page(desk: Desk, wired: Wired, kind: RecordKind, after: str | None) -> Page | Unsure:
    """A page of all records of a kind.  Call it only where `can_list`."""
    client = wired.client
    request = client.all_of(Kind(kind), after=after) if isinstance(client, ListsReferences) else None
    if request is None or not isinstance(client, ListsReferences):
        return Page((), None)
    sent = sending.look(desk, wired, request, within=desk.patience.call)
    if not isinstance(sent, Answered):
        return Unsure(sent.reason)
    try:
        return client.page_of(Kind(kind), sent.response, after=after)
    except UnreadableAnswer:
        return Unsure("unreadable_list")


def compare(desk: Desk, wired: Wired, kind: RecordKind, seen: Sequence[Seen]) -> Iterator[Incident]:
    """What stands there under a reference of ours, and is not what we know by it."""
    borne = [(each.reference, each.crm_id) for each in seen if each.live and each.reference]
    ours = [(reference, crm_id) for reference, crm_id in borne if is_ours(reference, kind)]
    with desk.pool.connection() as conn:
        found = reconcile.claimed(conn, kind, ours, destinations=list(desk.settings.destinations))
    by_id: dict[str, list[Claimed]] = {}
    for each in found:
        by_id.setdefault(each.crm_id, []).append(each)
    for crm_id, claims in by_id.items():
        yield from _judge(wired.destination.name, kind, crm_id, claims)


def _judge(destination: str, kind: RecordKind, crm_id: str, claims: Sequence[Claimed]) -> Iterator[Incident]:
    if any(each.known_as == crm_id or each.state in {"asked", "in_doubt"} for each in claims):
        return
    known = next((each for each in claims if each.record_id is not None), None)
    if known is None:
        yield Incident(f"{kind}_unknown", f"crm:{destination}:{kind}:{crm_id}", crm_id=crm_id)
    else:
        reason = "unexpected" if known.known_as is None else "several"
        yield Incident(f"{kind}_{reason}", f"record:{known.record_id}", record_id=known.record_id, crm_id=crm_id)
