"""`intake reissue`: a second opportunity on purpose."""

from __future__ import annotations

import click

from intake import remaking
from intake.cli import place
from intake.cli.arguments import decided, event_of
from intake.cli.deciding import deciding, standing
from intake.cli.output import SHORT_ID
from intake.cli.sentences import say
from intake.decisions import Author, view


@click.command()
@click.argument("event")
@decided
def reissue(*, event: str, by: str, reason: str) -> None:
    """Open a second opportunity of the same content, on purpose, as an event of its own that is linked to this one.

    Only once this one has ended (confirmed, cancelled, superseded); what stands of it in the CRM stays there.
    """
    settings = place.settings()
    with deciding() as conn:
        found = event_of(conn, event)
        source = settings.sources.get(found.source)
        gated = source is not None and source.approval == "required"
        new = remaking.reissue(conn, Author(by, reason), found.event_id, gated=gated)
        for line in standing(view(conn, found.event_id)):
            click.echo(line)
    say("reissued_gated" if gated else "reissued", event=new, short=str(new)[:SHORT_ID])
