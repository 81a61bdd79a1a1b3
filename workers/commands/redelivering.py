"""`intake redeliver`: what the CRM lost is made anew; whether it is lost, the CRM is asked first."""

from __future__ import annotations

from collections.abc import Sequence

import click

from crm_clients.base import Absent, Found, Kind, Several, Unsure
from intake import decided, remaking
from intake.cli import deciding
from intake.cli.arguments import decided as said_by
from intake.cli.arguments import event_of
from intake.cli.group import Finding
from intake.decided import Author
from intake.ops import RecordRow
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
            click.echo(f"gone: {made.kind} {made.crm_id}; made anew under {made.reference}")
        lost = {each.record_id for each in remaking.with_children(seen.records, gone)}
        for each in seen.records:
            if each.crm_id and each.record_id not in lost:
                click.echo(f"stands: {each.kind} {each.crm_id}")
    click.echo(f"received: it is delivered again; `intake show {event}` tells what became of it")


def _gone(tools: Desk, destination: str, records: Sequence[RecordRow]) -> list[RecordRow]:
    """Those that had an id and that the CRM shows no more, or only in its trash, or that hang on what it lost.

    Raises Finding.
    """
    wired = tools.wired.get(destination)
    if wired is None:
        raise Finding(f"the destination {destination} is not configured, or closed: it cannot be asked")
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
                raise Finding(
                    f"the CRM shows neither the {kind} nor the sentinel ({told.reason}): is it the right one? "
                    f"`intake crm check --create --destination {wired.destination.name}` makes the sentinels anew"
                )
            return False
        case Several():
            return True
        case Unsure(reason):
            raise Finding(f"the CRM could not be asked ({reason}): try again")
