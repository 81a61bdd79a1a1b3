"""Reading a record of the CRM because somebody at the desk asks how it stands now."""

from __future__ import annotations

import json
from collections.abc import Mapping

from crm_clients.base import Absent, Found, Kind, Seen, Several, Unsure
from intake.db import transaction
from intake.desk import crm_reads
from intake.desk.crm_reads import Claimed, Said
from workers import calls, sentinels
from workers.desk import Desk, Wired
from workers.values import is_same


def read_due(desk: Desk) -> bool:
    """Answer the next question.  False: there is none."""
    with desk.pool.connection() as conn:
        claimed = crm_reads.claim(conn, desk.destinations)
    if claimed is None:
        return False
    said = _said(desk, desk.wired[claimed.destination], claimed)
    with transaction(desk.pool) as conn:
        crm_reads.answer(conn, claimed, said)
    return True


def _said(desk: Desk, wired: Wired, claimed: Claimed) -> Said:
    """An absence counts only where the CRM shows the sentinel: it may be another one by mistake."""
    kind = Kind(claimed.kind)
    match calls.read(desk, wired, kind, claimed.crm_id).looked:
        case Found(seen):
            changed = _changed(desk, claimed, seen)
            return Said("live" if seen.live else "dead", None, seen.reference, seen.owner, seen.closed, changed)
        case Absent():
            told = sentinels.control(desk, wired, kind)
            return Said("absent") if told.told == "yes" else Said("unsure", told.reason)
        case Several():
            return Said("unsure", "several")
        case Unsure(reason):
            return Said("unsure", reason)


def _changed(desk: Desk, claimed: Claimed, seen: Seen) -> list[str] | None:
    """Which fields no longer read as our last write left them, by name."""
    if claimed.record_id is None:
        return None
    with desk.pool.connection() as conn:
        kept = crm_reads.read_back(conn, claimed.record_id)
    if kept is None:
        return None
    base: Mapping[str, str] = json.loads(kept)
    now = seen.values
    return sorted(name for name, value in base.items() if name in now and not is_same(name, now[name], value))
