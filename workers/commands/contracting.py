"""`intake crm contract`: measure what a CRM account really does, and say it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click
import psycopg

from crm_clients.base import Kind
from crm_clients.registry import BadSetting, UnknownClient
from crm_clients.transport import Transport
from crm_clients.watchdog import boot_clock
from intake.cli import place
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json, facts, heading, paragraph
from intake.config import Destination, Settings
from intake.db import Conn
from intake.doctor import Line
from workers import wiring
from workers.desk import Wired
from workers.probe import keeping, telling
from workers.probe.asking import Probe
from workers.probe.measured import Contract, to_json
from workers.probe.questions import Extent
from workers.probe.run import CannotProbe, Wanted, measure


@click.command("contract")
@click.option("--account", required=True, help="The destination, by its name in intake.toml.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([each.value for each in Kind]),
    help="Only this kind; may be repeated.",
)
@click.option("--samples", default=10, show_default=True, type=click.IntRange(1, 200), help="How often to repeat.")
@click.option("--parallel", default=20, show_default=True, type=click.IntRange(2, 64), help="Creates at once.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Where to write the result.")
@click.option("--live", is_flag=True, help="Write test records into an account that is not for trying.")
@as_json
def contract(  # noqa: PLR0913  # one for each option
    *,
    account: str,
    kinds: tuple[str, ...],
    samples: int,
    parallel: int,
    out: Path | None,
    live: bool,
    json_wanted: bool,
) -> None:
    """Measure what a CRM does with a second create, a lost client and a fresh record.

    Writes tagged records into the account and removes them again, some hundred for all four kinds.  The result is a
    dated file; where there is a database, workers take it from there when they start, to be more careful.
    """
    wired = _wired(account)
    _must_be_for_trying(wired, live=live)
    with Transport() as transport:
        probe = Probe(wired, transport, boot_clock, time.sleep, secrets.token_hex(4))
        owner = next(iter(wired.destination.owner.users), None)
        chosen = tuple(Kind(each) for each in kinds) or tuple(Kind)
        wanted = Wanted(chosen, Extent(samples, parallel), datetime.now(UTC), owner)
        try:
            result = measure(probe, wanted, lambda said: click.echo(said, err=True))
        except CannotProbe as why:
            raise Finding(str(why)) from why
    file = out or Path(f"contract-{account}-{result.measured_at:%Y-%m-%d}.json")
    file.write_text(to_json(result) + "\n")
    click.echo(to_json(result)) if json_wanted else _show(wired, result)
    click.echo(f"written to {file}; {_kept(result)}", err=True)


def _wired(account: str) -> Wired:
    """The account.  Raises Misconfigured, ConfigError."""
    destinations = place.settings(may_be_sourceless=True).destinations
    if account not in destinations:
        raise Misconfigured(f"there is no destination “{account}”; there are: {', '.join(destinations)}")
    destination = destinations[account]
    if destination.closed_because:
        raise Misconfigured(f"destination {account} is closed: {destination.closed_because}")
    try:
        return wiring.wire(destination, place.environment())
    except (UnknownClient, BadSetting, ValueError) as wrong:
        raise Misconfigured(str(wrong)) from wrong


def _must_be_for_trying(wired: Wired, *, live: bool) -> None:
    """Raises Misconfigured where advisers would see the probe's records."""
    for_trying = wired.destination.mode == "test" or wired.destination.client == "sandbox"
    if not (for_trying or live):
        raise Misconfigured(
            f'{wired.destination.name} has mode = "live": the probe writes some hundred test records there and removes'
            ' them. Use an account for trying (mode = "test"), or say --live'
        )


def _kept(result: Contract) -> str:
    """Hand it to the workers, if there is a database."""
    url = place.process().database_url
    if url is None:
        return "there is no database here, so that no worker knows of it"
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=place.CONNECT_TIMEOUT) as conn:
            keeping.keep(conn, result)
    except psycopg.Error as error:
        return f"the database did not take it ({type(error).__name__}), so that no worker knows of it"
    return "workers take it when they start"


def _show(wired: Wired, result: Contract) -> None:
    heading(f"{result.account} ({result.client}), measured {result.measured_at:%Y-%m-%d %H:%M} UTC, run {result.run}")
    for each in result.kinds:
        heading(each.kind)
        facts(telling.of_kind(each))
    heading("what deliveries take from it")
    changed = [line for each in result.kinds for line in telling.consequences(each, wired.client.capability(each.kind))]
    for line in changed or ["nothing: it is as the client says, or better"]:
        paragraph(line)
    paragraph(telling.removal(result) + ".")


# --- for the doctor ---------------------------------------------------------------------------------------------------


def of_contracts(settings: Settings) -> Iterator[Line]:
    """Whether what was measured of each account may still be relied upon; without a database, nothing is said."""
    url = place.process().database_url
    if url is None:
        return
    with suppress(psycopg.Error), psycopg.connect(url, autocommit=True, connect_timeout=place.CONNECT_TIMEOUT) as conn:
        for each in settings.destinations.values():
            if each.client != "sandbox":
                yield _line(conn, each)


def _line(conn: Conn, destination: Destination) -> Line:
    what, remedy = f"contract {destination.name}", f"run `intake crm contract --account {destination.name}`"
    found = keeping.newest(conn, destination.name, destination.client)
    if found is None:
        return Line("ok", what, f"never measured: what the client says of {destination.client} holds")
    doubt = keeping.doubt(conn, found, now=datetime.now(UTC))
    if doubt is not None:
        return Line("warn", what, doubt, remedy)
    return Line("ok", what, f"measured on {found.measured_at:%Y-%m-%d}")
