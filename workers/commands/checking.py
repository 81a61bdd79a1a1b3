"""`intake check` and `intake crm check`: the doctor with what CRM clients know, and the preflight of the accounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import click

from crm_clients.registry import BadSetting, UnknownClient
from intake.cli import checking, place
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json, print_json
from intake.config import Settings
from intake.doctor import Line, Verdict
from workers import checks, wiring
from workers.checks import Finding as Checked
from workers.commands.connecting import connect
from workers.commands.contracting import contract, of_contracts
from workers.commands.reaching import of_public_address
from workers.commands.tools import desk
from workers.desk import Desk, Wired

NEVER_RUN = 'this client was never run against a real server: begin with mode = "test"'
# Clients of what may ask for no credential: the sandbox has its own, and a program of one's own may trust this host.
MAY_BE_OPEN = ("sandbox", "http")


@click.command()
@as_json
def check(*, json_wanted: bool) -> None:
    """Look at everything that deliveries rest on, and say what to do.

    Exit status 1 if something fails, 2 if the settings are wrong.
    """
    checking.run(
        lambda settings: chain(of_public_address(settings), of_clients(settings), of_contracts(settings)),
        json_wanted=json_wanted,
    )


def of_clients(settings: Settings) -> Iterator[Line]:
    """Whether this version speaks to each CRM that is configured."""
    for each in settings.destinations.values():
        what = f"destination {each.name}"
        if each.unfinished:
            yield Line("fail", what, each.unfinished, "write it in its [[destinations]], and start again",
                       configuration=True)  # fmt: skip
            continue
        if each.closed_because:
            continue  # It is among the notices.
        try:
            wired = wiring.wire(each, place.environment())
        except (UnknownClient, BadSetting, ValueError) as wrong:
            yield Line("fail", what, str(wrong), "correct the configuration", configuration=True)
        else:
            yield from _of_client(what, wired)


def _of_client(what: str, wired: Wired) -> Iterator[Line]:
    destination, remedy = wired.destination, "" if wired.client.verified else NEVER_RUN
    yield Line("warn" if remedy else "ok", what, f"client {destination.client}", remedy)
    if destination.client not in MAY_BE_OPEN and destination.credential is None and destination.oauth is None:
        yield Line("warn", f"{what}: credential", "neither credential nor oauth is named", "name one, and start again")


@click.group()
def crm() -> None:
    """The CRM accounts."""


@crm.command("check")
@click.option("--create", is_flag=True, help="Make the sentinels that are missing, and fields where the CRM lets us.")
@click.option("--destination", help="This account only.")
@as_json
def crm_check(*, create: bool, destination: str | None, json_wanted: bool) -> None:
    """Are the accounts ready: credential, fields, pipeline, stage, owners and sentinels?"""
    found: list[Checked] = []
    with desk() as tools:
        known = tools.settings.destinations
        if destination is not None and destination not in known:
            raise Misconfigured(f"there is no destination “{destination}”; there are: {', '.join(known)}")
        for each in _of_accounts(tools, [destination] if destination else list(known), create=create):
            found.append(each)
            if not json_wanted:
                verdict: Verdict = "ok" if each.ok else "fail"
                checking.show(Line(verdict, f"{each.destination} {each.what}", each.detail, each.remedy))
    if json_wanted:
        print_json({"ok": all(each.ok for each in found), "checks": found})
    if not all(each.ok for each in found):
        raise Finding("an account is not ready")


def _of_accounts(tools: Desk, names: Iterable[str], *, create: bool) -> Iterator[Checked]:
    """One that is closed cannot be asked anything, and is not ready either."""
    for name in names:
        if why := tools.settings.destinations[name].closed_because:
            yield Checked(name, "configuration", ok=False, detail=why, remedy="set it, and start again")
        else:
            yield from checks.check(tools, tools.wired[name], create=create)


crm.add_command(contract)
crm.add_command(connect)
