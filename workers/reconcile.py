"""Reconciliation: the database against itself, and, when asked, every confirmed record against the CRM."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from crm_clients.base import Absent, Found, Kind, Seen, Several
from intake import contacts, items, reconcile
from intake.db import transaction
from intake.reconcile import Incident, Reconciliation, Standing
from workers import calls
from workers.desk import Desk


def run(desk: Desk, *, since: datetime | None, verify: bool) -> Reconciliation:
    """Reconcile, keep the result, and open an item for each incident about a record."""
    started = datetime.now(UTC)
    with desk.pool.connection() as conn:
        counts = reconcile.counts(conn, since)
        found = tuple(reconcile.accuse(conn, since))
    if verify:
        found += tuple(_verify_all(desk, since))
    result = Reconciliation(started, since, verify, counts, found)
    with transaction(desk.pool) as conn:
        reconcile.keep(conn, result)
        for each in found:
            if each.record_id is not None:
                evidence: dict[str, object] = {"crm_id": each.crm_id, "by": "reconcile"}
                items.open_incident(conn, each.record_id, reason=each.reason, event_id=None, evidence=evidence)
    return result


def _verify_all(desk: Desk, since: datetime | None) -> Iterator[Incident]:
    after = 0
    while True:
        with desk.pool.connection() as conn:
            page = reconcile.standing(conn, after=after, destinations=desk.destinations, since=since)
        if not page:
            return
        for each in page:
            yield from verify(desk, each)
        after = page[-1].record_id


def verify(desk: Desk, standing: Standing) -> Iterator[Incident]:
    """One record, read in the CRM by its id and looked for under its references."""
    wired, kind = desk.wired[standing.destination], Kind(standing.kind)
    sight = calls.read(desk, wired, kind, standing.crm_id)
    match sight.looked:
        case Found(seen) if seen.live:
            yield from (_incident(standing, reason) for reason in _wrong(standing, seen))
        case Found():
            yield _incident(standing, "not_live")
        case Absent():
            yield _incident(standing, "gone")
        case Several():
            yield _incident(standing, "several")
        case _:
            yield _incident(standing, "not_verified")
    with desk.pool.connection() as conn:
        references = contacts.references(conn, standing.record_id)
    again = calls.find(desk, wired, kind, references, standing.parent_crm_id)
    match again.looked:
        case Several():
            yield _incident(standing, "several")
        case Found(seen) if seen.crm_id != standing.crm_id:
            yield _incident(standing, "several")
        case _:
            return


def _wrong(standing: Standing, seen: Seen) -> Iterator[str]:
    if standing.kind == "opportunity":
        if seen.owner is None:
            yield "without_owner"
        if seen.contact_id is None:
            yield "without_contact"


def _incident(standing: Standing, reason: str) -> Incident:
    return Incident(f"{standing.kind}_{reason}", record_id=standing.record_id, crm_id=standing.crm_id)
