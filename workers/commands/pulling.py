"""`intake pull`: ask a source's sender for what its webhooks lost."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime

import click

from intake.cli.arguments import Moment
from intake.cli.deciding import hint
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json
from intake.cli.recovering import open_source, report
from workers import pull as pulling
from workers.commands.tools import desk, told_to_stop

PULLED = ("meta_lead_ads", "woocommerce")


@click.command()
@click.argument("source")
@click.option("--since", type=Moment(), required=True, help="From when on: 2026-11-30T09:00, or 24h.")
@as_json
def pull(*, source: str, since: datetime, json_wanted: bool) -> None:
    """Ask SOURCE's sender for what it has since then, and accept it as if it had been delivered.

    What is known already is a duplicate, and nothing is done twice.  For Meta Lead Ads and WooCommerce.  SIGTERM or
    Ctrl-C ends it after the page in hand (exit status 1): it says how to go on.
    """
    configured = open_source(source)
    if configured.provider not in PULLED:
        raise Misconfigured(f"{source} cannot be pulled; only sources of {' and '.join(PULLED)} can")
    with desk() as tools, told_to_stop() as told:
        try:
            counts = pulling.pull(replace(tools, stopping=told.is_set), configured, since)
        except pulling.PullStopped as stopped:
            hint()
            report(asdict(stopped.counts), json_wanted=json_wanted)
            again = f"intake pull {source} --since {since.isoformat()}"
            raise Finding(f"stopped before the end; what was read is accepted, and this goes on: {again}") from stopped
        except pulling.PullFailed as failed:
            why = f"not all could be read ({failed.reason}); what was read is accepted, and pulling again is harmless"
            raise Finding(why) from failed
    hint()
    report(asdict(counts), json_wanted=json_wanted)
