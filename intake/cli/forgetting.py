"""`intake forget`: erase people, and print a certificate of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import click

from intake import sealing
from intake.cli import certificates, persons, place
from intake.cli.arguments import Said, speaking
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json, print_json
from intake.cli.persons import Misread, Person
from intake.cli.recovering import Told, progress
from intake.config import Settings
from intake.decided import Author
from intake.forgetting import ledger, whole
from intake.forgetting.ledger import Unreadable
from intake.forgetting.whole import Certificate, Outcome
from intake.lead import Contact
from intake.purge import NotOwner
from intake.spool import Spool


@click.command()
@click.option("--phone", "phone_numbers", multiple=True, help="A phone number, as typed.")
@click.option("--email", "addresses", multiple=True, help="An e-mail address.")
@click.option("--wa-id", "wa_ids", multiple=True, help="A WhatsApp id: digits, or a business-scoped id.")
@click.option("--people", type=click.File("rb"), help="A CSV file, a person in each row: phone, email, wa_id.")
@click.option("--by", type=Said(), envvar="INTAKE_OPERATOR", help="Who decides (or INTAKE_OPERATOR).")
@click.option("--reason", type=Said(), help="Why, without naming the person; it is kept for good.")
@click.option("--cancel-open", is_flag=True, help="Cancel what is still open of these people.")
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
    people: BinaryIO | None,
    by: str | None,
    reason: str | None,
    cancel_open: bool,
    dry_run: bool,
    again: bool,
    lists: tuple[Path, ...],
    json_wanted: bool,
) -> None:
    """Erase a person wherever payloads stand.  Give every number and address that is known of them.

    With --people, everybody in a file at once.  Keyed hashes stay, so that a late copy of what they sent is refused.
    Exit status 1: something is open, or what this host cannot open may still hold them.
    """
    settings = place.settings()
    typed = {"phone": phone_numbers, "email": addresses, "wa_id": wa_ids}
    if sum((again, people is not None, any(typed.values()))) > 1:
        raise click.UsageError("--again, --people, or one person: one of them at a time")
    if again:
        report(once_more(*lists, hidden=json_wanted), json_wanted=json_wanted)
        return
    if by is None or reason is None:
        raise click.UsageError("--by and --reason are needed: who decides, and why")
    author = Author(by, reason)
    everybody = _in_file(people, settings) if people else [Person(None, tuple(_typed(typed, settings)))]
    with place.connection() as conn, progress("forget", hidden=json_wanted) as told, sentences():
        forgettings = whole.named(conn, author, [each.contacts for each in everybody], uuid4)
        done = whole.forget(conn, here(settings, told), forgettings, cancel_open=cancel_open, dry=dry_run)
    report(done, [each.row for each in everybody], json_wanted=json_wanted)


def _in_file(file: BinaryIO, settings: Settings) -> list[Person]:
    try:
        return persons.of_table(file.read(), settings.region)
    except Misread as wrong:
        raise click.UsageError(f"--people: {wrong}") from wrong


def _typed(typed: Mapping[str, tuple[str, ...]], settings: Settings) -> Iterator[Contact]:
    for column, values in typed.items():
        for value in values:
            try:
                yield persons.COLUMNS[column](value, settings.region)
            except Misread as wrong:
                raise click.UsageError(f"--{column.replace('_', '-')}: {wrong}") from None


def once_more(*lists: Path, hidden: bool) -> list[Outcome]:
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


# --- what is said ---------------------------------------------------------------------------------------------------


@contextmanager
def sentences() -> Iterator[None]:
    """Expected refusals become sentences, without personal data."""
    try:
        yield
    except whole.Nothing:
        raise click.UsageError("name the person: --phone, --email or --wa-id; or several: --people") from None
    except NotOwner:
        raise Finding(certificates.told("not_owner")) from None
    except Unreadable as broken:
        raise Misconfigured(f"the list of the forgotten: {broken}") from broken


def report(done: Sequence[Outcome], rows: Sequence[int | None] = (), *, json_wanted: bool) -> None:
    """The certificates; exit status 1 where something is open, or could not be opened.

    `rows`: where each person stands in the table that named them.
    """
    numbered = list(zip(rows or [None] * len(done), done, strict=True))
    if json_wanted:
        print_json(_document(numbered))
    else:
        for row, each in numbered:
            if isinstance(each, Certificate):
                certificates.show(each, row)
        if not done:
            click.echo(certificates.told("nobody"))
    if unfinished := "\n".join(certificates.unfinished(numbered)):
        raise Finding(unfinished)


def _document(numbered: Sequence[tuple[int | None, Outcome]]) -> Mapping[str, object]:
    found: dict[str, list[object]] = {"certificates": [], "open": []}
    for row, each in numbered:
        found["certificates" if isinstance(each, Certificate) else "open"].append({"row": row, **asdict(each)})
    return found
