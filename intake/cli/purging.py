"""`intake purge`: take away what is older than its source wants to keep."""

from __future__ import annotations

import click

from intake import purge as purging
from intake.cli import place
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json
from intake.cli.recovering import progress, report
from intake.purge import Wish

NOT_OWNER = "only the owner of the tables may purge: connect as the role that ran `intake migrate`"


@click.command()
@click.argument("source", required=False)
@click.option("--dry-run", is_flag=True, help="Only count what would go.")
@click.option(
    "--batch", type=click.IntRange(1, 10_000), default=purging.BATCH, show_default=True, help="Rows at a time."
)
@as_json
def purge(*, source: str | None, dry_run: bool, batch: int, json_wanted: bool) -> None:
    """Take away what is older than SOURCE, or each source, keeps it (*_retention_days in intake.toml).

    Nothing that is open goes.  It may be stopped at any time, and run again.
    """
    settings = place.settings()
    if source is not None and source not in settings.sources:
        raise Misconfigured(f"there is no source “{source}”; there are: {', '.join(sorted(settings.sources))}")
    with place.connection() as conn, progress("purge", hidden=json_wanted) as told:
        try:
            done = purging.purge(conn, settings, Wish(source, dry_run, batch), told=told)
        except purging.NotOwner:
            raise Finding(NOT_OWNER) from None
    if dry_run and not json_wanted:
        click.echo("would go, nothing was taken away:")
    report(dict(done), json_wanted=json_wanted)
