"""`intake settle`: what a person knows of a write in doubt.  "Applied" is read back from the CRM before it counts."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

import click

from crm_clients.base import Absent, Found, Kind, Several, Unsure
from intake import contacts, decisions
from intake.cli import deciding
from intake.cli.arguments import decided, event_of
from intake.cli.group import Finding
from intake.db import Conn
from intake.decisions import Applied, Author
from intake.ops import RecordRow
from intake.records import RecordKind
from workers import calls
from workers.commands.tools import desk

Outcome = Literal["applied", "not-applied", "cancel"]


@click.command()
@click.argument("event")
@click.argument("outcome", type=click.Choice(["applied", "not-applied", "cancel"]))
@click.option("--crm-id", help="applied: the id of the record in the CRM.")
@click.option("--record", "kind", type=click.Choice(["contact", "opportunity", "task", "note"]), help="Which record.")
@click.option("--unverified", is_flag=True, help="applied: take the id without reading it back.")
@decided
def settle(  # noqa: PLR0913  # one parameter an option
    *,
    event: str,
    outcome: Outcome,
    crm_id: str | None,
    kind: RecordKind | None,
    unverified: bool,
    by: str,
    reason: str,
) -> None:
    """Say what became of a write that is in doubt, or cancel the event.

    applied: the record stands in the CRM; it is read back and must bear our reference.
    not-applied: it was not executed; its time must pass, and one more look find nothing, before it is written again.
    cancel: stop here for good.
    """
    if (crm_id is None) is (outcome == "applied"):
        raise click.UsageError("--crm-id goes with applied, and applied needs it")
    author = Author(by, reason)
    with deciding.deciding() as conn:
        found = event_of(conn, event)
        match outcome:
            case "applied":
                record = decisions.to_settle(decisions.view(conn, found.event_id), kind, only_doubtful=False)
                _applied(conn, author, found.event_id, record, Applied(crm_id or "", verified=not unverified))
            case "not-applied":
                record = decisions.settle_not_applied(conn, author, found.event_id, kind=kind)
                click.echo(f"{record.kind}: looked for once more when its time is over, then written again")
            case "cancel":
                deciding.cancel(conn, author, found.event_id)


def _applied(conn: Conn, author: Author, event_id: UUID, record: RecordRow, applied: Applied) -> None:
    if applied.verified:
        _must_be_ours(conn, record, applied.crm_id)
    decisions.settle_applied(conn, author, event_id, record, applied)
    how = "" if applied.verified else " unverified"
    click.echo(f"{record.kind} {applied.crm_id} is taken as ours{how}; the delivery goes on")


def _must_be_ours(conn: Conn, record: RecordRow, crm_id: str) -> None:
    """Raises Finding unless the CRM shows a live record of this id that bears one of our references."""
    references = contacts.references(conn, record.record_id)
    with desk() as tools:
        wired = tools.wired.get(record.destination)
        if wired is None:
            raise Finding(f"the destination {record.destination} is not configured, or closed: it cannot be read back")
        sight = calls.read(tools, wired, Kind(record.kind), crm_id)
    match sight.looked:
        case Found(seen) if not seen.live:
            raise Finding(f"{record.kind} {crm_id} is in the CRM's trash, or merged into another")
        case Found(seen) if seen.reference in references:
            return
        case Found(seen):
            borne = "no reference of ours" if seen.reference is None else f"the reference {seen.reference}"
            raise Finding(f"{record.kind} {crm_id} bears {borne}, not {' or '.join(references)} (or say --unverified)")
        case Absent() | Several():
            raise Finding(f"the CRM has no {record.kind} {crm_id}")
        case Unsure(reason):
            raise Finding(f"the CRM could not be asked ({reason}): try again, or say --unverified")
