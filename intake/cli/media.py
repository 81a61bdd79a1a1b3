"""`intake media`: the file that came with an event.  Who brought it out, and why, is a decision on record."""

from __future__ import annotations

import mimetypes
import os
from pathlib import Path

import click

from intake import fetches, sealing
from intake import media as files
from intake.cli import place
from intake.cli.arguments import decided, event_of
from intake.cli.group import Finding
from intake.db import Conn
from intake.decided import About, Author, note
from intake.media import Kept
from intake.sealing import Sealed


@click.command()
@click.argument("event")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, file_okay=False, exists=True), help="The folder for it."
)
@decided
def media(*, event: str, out: Path, by: str, reason: str) -> None:
    """Bring the file out that came with EVENT: its id, the beginning of it, or the reference in the CRM (m-...).

    It is opened with this host's keys, and is readable for its owner alone.
    """
    seal = sealing.from_environ(place.environment())
    with place.connection() as conn:
        kept = _kept(conn, event)
        if kept.sealed is None:
            raise Finding("its content was purged")
        try:
            content = seal.open(kept.sealed)
        except Sealed:
            raise Finding("no key of this host opens it: is INTAKE_SEAL_KEYS the workers' own?") from None
        with conn.transaction():
            note(conn, Author(by, reason), "media", About(kept.event_id), reference=kept.reference)
            file = out / f"{kept.reference}{mimetypes.guess_extension(kept.mime_type) or '.bin'}"
            _write(file, content)
    click.echo(f"{file} ({kept.mime_type}, {kept.size} bytes)")


def _kept(conn: Conn, event: str) -> Kept:
    named = files.event_of(conn, event) or event_of(conn, event).event_id
    found = files.of_event(conn, named)
    if found is None:
        told = [each.told for each in fetches.of_event(conn, named) if each.what == "media"]
        raise Finding("; ".join(told) or "no file came with it, or its source keeps none (media_token)")
    return found


def _write(file: Path, content: bytes) -> None:
    """Never over another file."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
