"""`intake forget`: erase a person, and print a certificate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import click

from intake import emails, phones, sealing
from intake.cli import certificates, place
from intake.cli.arguments import Said, speaking
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json, print_json
from intake.cli.recovering import Told, progress
from intake.config import Settings
from intake.decided import Author
from intake.forgetting import ledger, whole
from intake.forgetting.ledger import Unreadable
from intake.forgetting.whole import Certificate, StillOpen
from intake.lead import Contact
from intake.purge import NotOwner
from intake.spool import Spool


@click.command()
@click.option("--phone", "phone_numbers", multiple=True, help="A phone number, as typed.")
@click.option("--email", "addresses", multiple=True, help="An e-mail address.")
@click.option("--wa-id", "wa_ids", multiple=True, help="A WhatsApp id: digits, or a business-scoped id.")
@click.option("--by", type=Said(), envvar="INTAKE_OPERATOR", help="Who decides (or INTAKE_OPERATOR).")
@click.option("--reason", type=Said(), help="Why, without naming the person; it is kept for good.")
@click.option("--cancel-open", is_flag=True, help="Cancel what is still open of this person.")
@click.option("--dry-run", is_flag=True, help="Only say what would be erased.")
@click.option("--again", is_flag=True, help="Everybody on the list once more, as after a restore.")
@click.option("--list", "lists", multiple=True, type=click.Path(path_type=Path, exists=True), help="again: also these.")
@speaking
@as_json
def forget(  # noqa: PLR0913  # one parameter an option
    *,
    phone_numbers: tuple[str, ...],
    addresses: tuple[str, ...],
    wa_ids: tuple[str, ...],
    by: str | None,
    reason: str | None,
    cancel_open: bool,
    dry_run: bool,
    again: bool,
    lists: tuple[Path, ...],
    json_wanted: bool,
) -> None:
    """Erase a person wherever payloads stand.  Give every number and address that is known of them.

    Keyed hashes stay, so that a late copy of what they sent is refused.  Exit status 1: something is open, or what
    this host cannot open may still hold them.
    """
    settings = place.settings()
    if again:
        report(once_more(*lists, hidden=json_wanted), json_wanted=json_wanted)
        return
    if by is None or reason is None:
        raise click.UsageError("--by and --reason are needed: who decides, and why")
    author = Author(by, reason)
    contact = list(_contacts(settings, phone_numbers, addresses, wa_ids))
    with place.connection() as conn, progress("forget", hidden=json_wanted) as told, sentences():
        forgetting = whole.named(conn, author, contact, uuid4())
        done = whole.forget(conn, here(settings, told), forgetting, cancel_open=cancel_open, dry=dry_run)
    report([done], json_wanted=json_wanted)


def once_more(*lists: Path, hidden: bool) -> list[Certificate]:
    """Everybody on the list of the database, of this host's file, and of these."""
    with place.connection() as conn, progress("forget", hidden=hidden) as told, sentences():
        return whole.again(conn, here(place.settings(), told), *lists)


def here(settings: Settings, told: Told) -> whole.Place:
    """What this host has.  Raises ConfigError, OSError."""
    seal = sealing.from_environ(place.environment())
    folder = settings.spool_dir
    limit = settings.spool_megabytes * 1024 * 1024
    spool = Spool(folder, seal, limit) if folder is not None and folder.is_dir() else None
    return whole.Place(settings, seal, place.process().intake_home / ledger.FILE, spool, told)


def _contacts(
    settings: Settings, phone_numbers: tuple[str, ...], addresses: tuple[str, ...], wa_ids: tuple[str, ...]
) -> Iterator[Contact]:
    for typed in phone_numbers:
        phone = phones.read(typed, settings.region)
        if phone.e164 is None:
            raise click.UsageError("--phone: no phone number stands in one of them; add the country, as in +51…")
        yield Contact(phone=phone)
    for typed in addresses:
        if not emails.is_address(typed):
            raise click.UsageError("--email: one of them is no address")
        yield Contact(email=emails.read(typed))
    for typed in wa_ids:
        digits = typed.lstrip("+")
        yield Contact(wa_id=digits) if digits.isdecimal() else Contact(bsuid=typed)


# --- what is said ---------------------------------------------------------------------------------------------------


@contextmanager
def sentences() -> Iterator[None]:
    """Expected refusals become sentences, without personal data."""
    try:
        yield
    except whole.Nothing:
        raise click.UsageError("name the person: --phone, --email or --wa-id") from None
    except NotOwner:
        raise Finding(certificates.told("not_owner")) from None
    except Unreadable as broken:
        raise Misconfigured(f"the list of the forgotten: {broken}") from broken
    except StillOpen as open_things:
        raise Finding("\n".join(certificates.still_open(open_things))) from open_things


def report(done: Sequence[Certificate], *, json_wanted: bool) -> None:
    """The certificates; exit status 1 where something could not be opened."""
    if json_wanted:
        print_json({"certificates": list(done)})
    else:
        for each in done:
            certificates.show(each)
        if not done:
            click.echo(certificates.told("nobody"))
    if any(each.unopened for each in done):
        raise Finding(certificates.told("unopened"))
