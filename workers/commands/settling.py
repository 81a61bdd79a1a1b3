"""`intake settle`: what a person knows of a write in doubt, or which contact or opportunity an event belongs to.

What a person names by its id is read back from the CRM before it counts.
"""

from __future__ import annotations

from typing import Literal, assert_never, get_args
from uuid import UUID

import click

from crm_clients.base import Absent, Found, Kind, Seen, Several, Unsure
from intake import contact_choice, contacts, decided, decisions
from intake.cli import deciding
from intake.cli.arguments import decided as said_by
from intake.cli.arguments import event_of
from intake.cli.deciding import kind_name
from intake.cli.sentences import finding, say
from intake.db import Conn
from intake.decisions import Applied, Author
from intake.records import RecordKind
from intake.trail import RecordRow
from workers import calls
from workers.commands.tools import desk
from workers.desk import Desk

Outcome = Literal["applied", "not-applied", "contact", "note", "new", "cancel"]
NAMED = ("applied", "contact")


@click.command()
@click.argument("event")
@click.argument("outcome", type=click.Choice(get_args(Outcome)))
@click.option("--crm-id", help="applied, contact: the id of the record in the CRM.")
@click.option("--record", "kind", type=click.Choice(["contact", "opportunity", "task", "note"]), help="Which record.")
@click.option("--unverified", is_flag=True, help="applied, contact: take the id without reading it back.")
@said_by
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
    """Say what became of a write that is in doubt, or what an event in review belongs to, or cancel it.

    applied: the record stands in the CRM; it is read back and must bear our reference.
    not-applied: it was not executed; its time must pass, and one more look find nothing, before it is written again.
    contact: this contact of the CRM is the person; their phone, e-mail and WhatsApp ids lead to it from now on.
    note: put the message on its opportunity though that is closed.
    new: open another opportunity for this message, and those of its conversation that follow.
    cancel: stop here for good.
    """
    if (crm_id is None) is (outcome in NAMED):
        raise click.UsageError("--crm-id goes with applied and contact, and they need it")
    author = Author(by, reason)
    with deciding.deciding() as conn:
        found = event_of(conn, event)
        match outcome:
            case "applied":
                seen = decided.allowed(conn, found.event_id, "settle applied")
                record = decisions.to_settle(seen, kind, only_doubtful=False)
                _applied(conn, author, found.event_id, record, Applied(crm_id or "", verified=not unverified))
            case "not-applied":
                record = decisions.settle_not_applied(conn, author, found.event_id, kind=kind)
                say("not_applied", kind=kind_name(record.kind))
            case "contact":
                _contact(conn, author, found.event_id, Applied(crm_id or "", verified=not unverified))
            case "note":
                decisions.settle_note(conn, author, found.event_id)
                say("note_anyway")
            case "new":
                decisions.settle_new(conn, author, found.event_id)
                say("new_opportunity")
            case "cancel":
                deciding.cancel(conn, author, found.event_id)
            case _:
                assert_never(outcome)


def _applied(conn: Conn, author: Author, event_id: UUID, record: RecordRow, applied: Applied) -> None:
    if applied.verified:
        _must_be_ours(conn, record, applied.crm_id)
    decisions.settle_applied(conn, author, event_id, record, applied)
    say("applied" if applied.verified else "applied_unverified", kind=kind_name(record.kind), crm_id=applied.crm_id)


def _contact(conn: Conn, author: Author, event_id: UUID, named: Applied) -> None:
    seen = decided.allowed(conn, event_id, "settle contact")
    if named.verified:
        with desk() as tools:
            _must_live(tools, seen.destination, Kind.CONTACT, named.crm_id)
    contact_choice.settle_contact(conn, author, event_id, named.crm_id)
    say("contact_is", crm_id=named.crm_id)


def _must_live(tools: Desk, destination: str, kind: Kind, crm_id: str) -> Seen:
    """Raises Finding unless the CRM shows a live record of this id."""
    wired = tools.wired.get(destination)
    if wired is None:
        raise finding("no_destination", destination=destination)
    match calls.read(tools, wired, kind, crm_id).looked:
        case Found(seen) if seen.live:
            return seen
        case Found():
            raise finding("not_live", kind=kind_name(kind), crm_id=crm_id)
        case Absent() | Several():
            raise finding("not_there", kind=kind_name(kind), crm_id=crm_id)
        case Unsure(reason):
            raise finding("not_asked_unverified", reason=reason)


def _must_be_ours(conn: Conn, record: RecordRow, crm_id: str) -> None:
    """Raises Finding unless the CRM shows a live record of this id that bears one of our references."""
    references = contacts.references(conn, record.record_id)
    with desk() as tools:
        seen = _must_live(tools, record.destination, Kind(record.kind), crm_id)
    if seen.reference not in references:
        key = "bears_none" if seen.reference is None else "bears_another"
        told = {"kind": kind_name(record.kind), "crm_id": crm_id, "borne": seen.reference}
        raise finding(key, **told, wanted=" / ".join(references))
