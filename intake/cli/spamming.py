"""`intake spam`: one event; many at once by `intake bulk spam`."""

from __future__ import annotations

import click

from intake import spam as spam_rules
from intake.cli.arguments import decided, event_of
from intake.cli.deciding import deciding, standing
from intake.decisions import Author


@click.command()
@click.argument("event")
@click.option("--undo", is_flag=True, help="It was no spam: deliver what comes later from this person.")
@decided
def spam(*, event: str, undo: bool, by: str, reason: str) -> None:
    """Cancel an event as spam, and hold what its sender sends later for a person.

    The sender is remembered by keyed hashes only.  Nothing that comes later is dropped: it awaits approval.
    """
    with deciding() as conn:
        found = event_of(conn, event)
        if undo:
            freed = spam_rules.unmark(conn, Author(by, reason), found.event_id)
            click.echo(f"keys that are blocked no more: {freed}")
            if found.state == "cancelled":
                click.echo(f"`intake reissue {event}` delivers what was cancelled")
            return
        marked = spam_rules.mark(conn, Author(by, reason), found.event_id)
        click.echo(
            f"{'cancelled' if marked.cancelled else marked.view.event.state}; keys that are blocked: {marked.blocked}"
        )
        for line in standing(marked.view):
            click.echo(line)
