"""`intake redeliver`: what the CRM lost is made anew; whether it is lost, the CRM is asked first."""

from __future__ import annotations

from collections.abc import Sequence

import click

from crm_clients.base import Absent, Found, Kind, Several, Unsure
from intake import decided, remaking
from intake.cli import deciding
from intake.cli.arguments import decided as said_by
from intake.cli.arguments import event_of
from intake.cli.deciding import kind_name
from intake.cli.sentences import finding, say
from intake.decided import Author
from intake.trail import RecordRow
from workers import calls, sentinels
from workers.commands.tools import desk
from workers.desk import Desk, Wired


@click.command()
@click.argument("event")
@said_by
def redeliver(*, event: str, by: str, reason: str) -> None:
    """Make anew what stood in the CRM and is there no more; what stands is kept.

    Each record that is gone gets a reference of its own generation (-g2).  A confirmed event is delivered again, one in
    review goes on.
    """
    with deciding.deciding() as conn:
        found = event_of(conn, event)
        seen = decided.allowed(conn, found.event_id, "redeliver")
        with desk() as tools:
            gone = _gone(tools, seen.destination, seen.records)
        for made in remaking.redeliver(conn, Author(by, reason), found.event_id, gone):
            say("remade", kind=kind_name(made.kind), crm_id=made.crm_id, reference=made.reference)
        lost = {each.record_id for each in remaking.with_children(seen.records, gone)}
        for each in seen.records:
            if each.crm_id and each.record_id not in lost:
                say("stands", kind=kind_name(each.kind), crm_id=each.crm_id)
    say("redelivered", event=event)


def _gone(tools: Desk, destination: str, records: Sequence[RecordRow]) -> list[RecordRow]:
    """Those that had an id and that the CRM shows no more, or only in its trash, or that hang on what it lost.

    Raises Finding.
    """
    wired = tools.wired.get(destination)
    if wired is None:
        raise finding("no_destination", destination=destination)
    stood = [each for each in records if each.state in {"known", "gone"} and not each.is_missing]
    return [each for each in records if each.is_missing] + [each for each in stood if not _stands(tools, wired, each)]


def _stands(tools: Desk, wired: Wired, record: RecordRow) -> bool:
    """An absence counts only where the CRM shows the sentinel: it may be down, or another one by mistake."""
    kind = Kind(record.kind)
    match calls.read(tools, wired, kind, record.crm_id or "").looked:
        case Found(seen):
            return seen.live
        case Absent():
            told = sentinels.control(tools, wired, kind)
            if told.told != "yes":
                account = wired.destination.name
                raise finding("no_control", kind=kind_name(kind), reason=told.reason, destination=account)
            return False
        case Several():
            return True
        case Unsure(reason):
            raise finding("not_asked", reason=reason)
