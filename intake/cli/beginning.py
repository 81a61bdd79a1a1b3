"""`intake init`: the first configuration, and its secrets."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

import click

from intake import first_config
from intake.cli import place
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json, print_json
from intake.config import ConfigError, load
from intake.config.known import KNOWN_CLIENTS
from intake.first_config import FORMS, WHATSAPPS, Begun, Wishes
from intake.sources import PROVIDERS

NONE = "none"
DEFAULT = Wishes()
CLIENTS = sorted(KNOWN_CLIENTS)
# Of what `intake check` looks at, most does not live before `intake up`.
NEXT = "next: intake up, and in another shell: intake check, intake send SOURCE FILE"


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option("--form", type=click.Choice([*FORMS, NONE]), metavar="PROVIDER", help="The form tool, or none.")
@click.option("--whatsapp", type=click.Choice([*WHATSAPPS, NONE]), metavar="PROVIDER", help="Who sends WhatsApp's.")
@click.option("--quote/--no-quote", default=None, help="Quotes of a program of your own.")
@click.option("--crm", type=click.Choice(CLIENTS), metavar="CLIENT", help="The CRM; sandbox: the one that comes along.")
@click.option("--crm-url", help="Its address; every CRM but the sandbox needs it.")
@click.option("--public-url", help="The address that senders call, such as https://leads.example.com")
@click.option("--region", default=DEFAULT.region, show_default=True, help="Country of numbers typed without one.")
@click.option("--timezone", default=DEFAULT.timezone, show_default=True, help="As in America/Lima.")
@click.option("--language", type=click.Choice(["es", "en"]), default="es", show_default=True, help="Of operators.")
@click.option("--currency", default=DEFAULT.currency, show_default=True, help="ISO 4217.")
@click.option("--secrets", "keep", type=click.Choice(["file", "env"]), default="file", help="Files, or variables.")
@click.option("--yes", is_flag=True, help="Ask nothing.")
@as_json
def init(  # noqa: PLR0913  # one parameter an option
    *,
    folder: Path,
    form: str | None,
    whatsapp: str | None,
    quote: bool | None,
    crm: str | None,
    crm_url: str | None,
    public_url: str | None,
    region: str,
    timezone: str,
    language: str,
    currency: str,
    keep: Literal["file", "env"],
    yes: bool,
    json_wanted: bool,
) -> None:
    """Write a working intake.toml into FOLDER, make its secrets, and say what to paste where.

    Nothing that stands there is written over.  On a terminal it asks for what no option says.
    """
    ask = not yes and not json_wanted and sys.stdin.isatty()
    form = form or _asked("Form tool", [*FORMS, NONE], "standard_webhooks", ask=ask)
    whatsapp = whatsapp or _asked("WhatsApp by", [*WHATSAPPS, NONE], NONE, ask=ask)
    crm = crm or _asked("CRM", CLIENTS, "sandbox", ask=ask)
    if crm != "sandbox" and crm_url is None:
        crm_url = _asked_for_account(ask=ask)
    wishes = Wishes(
        form=None if form == NONE else form,
        whatsapp=None if whatsapp == NONE else whatsapp,
        quote=bool(quote) if quote is not None or not ask else click.confirm("Quotes of a program of your own?"),
        crm=crm,
        crm_url=crm_url,
        public_url=public_url or (_asked_for_address() if ask else None),
        local_url=_local(),
        region=region,
        timezone=timezone,
        language=language,
        currency=currency,
        keep=keep,
    )
    if not (wishes.form or wishes.whatsapp or wishes.quote):
        raise click.UsageError("nothing would come in: choose a form tool, WhatsApp, or quotes")
    begun = first_config.begin(wishes)
    _write(folder, begun)
    _say(folder, begun, json_wanted=json_wanted)


def _asked(what: str, choices: list[str], default: str, *, ask: bool) -> str:
    if not ask:
        return default
    click.echo(f"{what}: {', '.join(choices)}")
    answer: str = click.prompt(what, type=click.Choice(choices), default=default, show_choices=False)
    return answer


def _asked_for_account(*, ask: bool) -> str:
    """Raises click.UsageError where nobody can be asked."""
    if not ask:
        raise click.UsageError("--crm-url is missing: the address of your account there")
    answer: str = click.prompt("Address of your account there")
    return answer


def _asked_for_address() -> str | None:
    """None: this host's own."""
    answer: str = click.prompt("Public address", default=_local())
    return None if answer == _local() else answer


def _local() -> str:
    return f"http://127.0.0.1:{place.environment().get('PORT', '8080')}"


# --- writing --------------------------------------------------------------------------------------------------------


def _write(folder: Path, begun: Begun) -> None:
    """Secrets first: a configuration that stands is whole.  Raises Finding, Misconfigured, OSError."""
    config = folder / "intake.toml"
    files = {folder / each.reference.removeprefix("file:"): each for each in begun.needed if _is_file(each.reference)}
    there = [str(each) for each in (config, *files) if each.exists()]
    if there:
        raise Finding(f"nothing was written, because there is already: {', '.join(there)}")
    folder.mkdir(parents=True, exist_ok=True)
    if files:
        (folder / "secrets").mkdir(mode=0o700, exist_ok=True)
    unfinished = folder / "intake.toml.unfinished"
    try:
        _create(unfinished, begun.toml, 0o644)
        load(unfinished, {}, built_in=PROVIDERS.keys())
        for file, each in files.items():
            if each.value is not None:
                _create(file, each.value + "\n", 0o600)
        unfinished.rename(config)
    except ConfigError as wrong:
        raise Misconfigured(str(wrong).replace(unfinished.name, config.name)) from wrong
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()


def _is_file(reference: str) -> bool:
    return reference.startswith("file:")


def _create(file: Path, text: str, mode: int) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as out:
        out.write(text)


# --- what is said ---------------------------------------------------------------------------------------------------


def _say(folder: Path, begun: Begun, *, json_wanted: bool) -> None:
    """Values only of what goes into the environment: those of files stand there."""
    shown = [each if not _is_file(each.reference) else replace(each, value=None) for each in begun.needed]
    if json_wanted:
        print_json({"config": str(folder / "intake.toml"), "secrets": shown, "advice": list(begun.advice)})
        return
    click.echo(f"written: {folder / 'intake.toml'}\n")
    for each in begun.needed:
        match each.value:
            case None:
                click.echo(f"  {each.reference}: still to be put there: {each.whence}")
            case value if not _is_file(each.reference):
                click.echo(f"{each.reference.removeprefix('env:')}={value}")
            case _:
                click.echo(f"  {each.reference}: {each.whence}")
    click.echo("")
    for advice in begun.advice:
        click.echo(f"{advice}\n")
    click.echo(NEXT)
