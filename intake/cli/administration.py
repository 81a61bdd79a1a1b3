"""Commands for whoever runs the installation: migrate, restored."""

from __future__ import annotations

import os
import sys

import click

from intake import database_roles, installation
from intake.attempts import Patience
from intake.cli import certificates, forgetting, place
from intake.cli.group import Finding
from intake.db import FIRST_MIGRATION
from intake.db import migrate as apply_migrations
from intake.forgetting import ledger
from intake.forgetting.whole import Certificate


@click.command()
@click.option("--this-host", is_flag=True, help="This host delivers for a database that stands already.")
@click.option("--roles", is_flag=True, help="Make the roles intake_door, intake_worker and intake_desk, too.")
def migrate(*, this_host: bool, roles: bool) -> None:
    """Apply what the database has not seen.  A new one is pinned on this host; a known one only with --this-host.

    Connect as the owner of the database.  Where it was given to roles once, they get what is new by themselves.
    """
    database_url = place.database_url()
    applied = apply_migrations(database_url)
    for name in applied:
        click.echo(f"applied {name}")
    if not applied:
        click.echo("nothing to apply")
    if roles or database_roles.are_granted(database_url):
        database_roles.grant(database_url)
        click.echo(f"granted to {', '.join(database_roles.ROLES)}")
    process = place.process()
    if process.installation is None:
        with place.connection() as conn:
            ours = this_host or FIRST_MIGRATION in applied
            installation.pin(installation.read(conn), installation.mark_file(process), ours=ours)


def _forget_again() -> None:
    """Who was forgotten since the copy was made stands in it again."""
    try:
        with place.connection() as conn:
            wanted = ledger.everybody(conn, place.process().intake_home / ledger.FILE)
        done = forgetting.once_more(hidden=True) if wanted else []
        why = "\n".join(certificates.unfinished([(None, each) for each in done]))
    except click.ClickException as refused:
        done, why = [], refused.message
    if erased := sum(isinstance(each, Certificate) for each in done):
        click.echo(f"{erased} forgotten once more")
    if why:
        click.echo(f"people who were forgotten may be back: run `intake forget --again`. {why}", err=True)


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
def restored(*, yes: bool) -> None:
    """Say that the database was brought back from a backup.

    A new epoch begins: what is not known to stand in the CRM is looked for before anything is created.
    """
    if not yes and not (sys.stdin.isatty() and click.confirm("Was this database restored from a backup?")):
        raise Finding("nothing was done; say --yes if the database was restored from a backup")
    process = place.process()
    with place.connection() as conn:
        known = installation.epoch_of(installation.expected(process))
        opened = installation.open_epoch(conn, lease=Patience().lease, after=known)
    if process.installation is None:
        installation.overwrite(opened, installation.mark_file(process))
    click.echo(f"epoch {opened.epoch} is open: every first create is looked for before it is made")
    _forget_again()
    if os.environ.get("INTAKE_EPOCH"):
        click.echo(f"set INTAKE_EPOCH={opened.epoch} on every host, and start the processes again")
