"""`intake reseal`: seal anew what an older key sealed, or none."""

from __future__ import annotations

import click

from intake import at_rest, resealing, sealing
from intake.cli import place
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json
from intake.cli.recovering import progress, report
from intake.purge import NotOwner

NOT_OWNER = "only the owner of the tables may reseal: connect as the role that ran `intake migrate`"
STILL_USED = (
    "a process seals with an older key still, or with none: give each the new key first, restart it, and run this again"
)


@click.command()
@as_json
def reseal(*, json_wanted: bool) -> None:
    """Seal everything in the database with the first of INTAKE_SEAL_KEYS: what an older key sealed, and what none did.

    Run it when every process has the new key first; then the older keys may go.  It may be stopped, and run again.
    Exit status 1: something could not be opened.
    """
    environ = place.environment()
    keys = at_rest.from_environ(environ)
    if not keys.seals:
        raise Misconfigured(f"{at_rest.SETTING} does not say yes: contents are stored as they come")
    with place.connection() as conn, progress("reseal", hidden=json_wanted) as told:
        try:
            done = resealing.reseal(conn, keys, sealing.from_environ(environ), told=told)
        except NotOwner:
            raise Finding(NOT_OWNER) from None
        except resealing.StillUsed:
            raise Finding(STILL_USED) from None
    report(dict(done), json_wanted=json_wanted)
    if done["unopened"]:
        raise Finding(f"{done['unopened']} could not be opened: keep the older keys in {sealing.SETTING}")
