"""`intake spam`: one event; many at once by `intake bulk spam`."""

from __future__ import annotations

import click

from intake import spam as spam_rules
from intake.cli.arguments import decided, event_of
from intake.cli.deciding import deciding, standing, state_name
from intake.cli.sentences import say
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
            say("no_spam", freed=freed)
            if found.state == "cancelled":
                say("reissue_it", event=event)
            return
        marked = spam_rules.mark(conn, Author(by, reason), found.event_id)
        state = state_name(marked.view.event.state)
        say("spam" if marked.cancelled else "spam_ended", blocked=marked.blocked, state=state)
        for line in standing(marked.view):
            click.echo(line)
