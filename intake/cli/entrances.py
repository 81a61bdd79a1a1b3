"""`intake sources`: the ways in."""

from __future__ import annotations

import click

from intake import heartbeats, missing_secrets, paste_texts, worklist
from intake.cli import place
from intake.cli.arguments import speaking
from intake.cli.output import as_json, facts, print_json
from intake.config import Settings, Source
from intake.missing_secrets import Told
from intake.shown_names import STATUSES, label, name
from intake.worklist import LastDelivery


@click.command()
@speaking
@as_json
def sources(*, json_wanted: bool) -> None:
    """The ways in: the address of each, what to paste where, whether it is open, and when it delivered last.

    Open or closed by what the running web processes have; where this shell has another environment, that is told.
    """
    settings = place.settings()
    with place.connection() as conn:
        last, told = worklist.last_deliveries(conn, settings.sources), heartbeats.lacking(conn)
    rows = [row_of(settings, each, last[each.name], told) for each in settings.sources.values()]
    if json_wanted:
        print_json({"sources": rows})
        return
    spoken = place.language()
    for row in rows:
        shown = row | {"status": name(STATUSES, str(row["status"]), spoken)}
        facts((label(word, spoken), value) for word, value in shown.items() if value)
        click.echo()


def row_of(settings: Settings, source: Source, last: LastDelivery, told: Told) -> dict[str, object]:
    """One source, as JSON shows it."""
    owner = f"source {source.name}"
    closed = missing_secrets.closed(settings, told).get(owner)
    return {
        "name": source.name,
        "kind": source.kind,
        "provider": source.provider,
        "url": f"{settings.public_base_url}/hooks/{source.name}",
        "paste": paste_texts.of(source.provider).of(place.language()),
        "status": status_of(enabled=source.enabled, available=source.available, closed=closed),
        "closed_because": closed,
        "differences": missing_secrets.differences(settings, told, place.language()).get(owner, []),
        "destination": source.destination,
        "last_live": last.live,
        "last_test": last.test,
    }


def status_of(*, enabled: bool, available: bool, closed: str | None) -> str:
    """One word for whether a source takes deliveries."""
    if not enabled:
        return "disabled"
    if not available:
        return "unavailable"
    return "closed" if closed else "open"
