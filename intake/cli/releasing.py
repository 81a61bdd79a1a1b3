"""`intake resolve ITEM release`: what is in quarantine, read again."""

from __future__ import annotations

from collections.abc import Mapping

import click

from intake import quarantine
from intake.cli import place
from intake.cli.sentences import SENTENCES, finding, say, sentence
from intake.db import Conn
from intake.explain import reason_text
from intake.quarantine import Corrected, NotReleased
from intake.reading_texts import rule


def release(conn: Conn, item_id: int, corrected: Corrected | None, *, by: str, reason: str) -> None:
    """Say which events came of it.  Raises Finding where something is left."""
    author = quarantine.Releaser(by, reason)
    try:
        done = quarantine.release(conn, place.settings(), item_id, author, corrected=corrected)
    except NotReleased as left:
        raise finding("not_released", why=_told(left.why, left.fields)) from left
    for event_id in done.event_ids:
        click.echo(f"event {event_id}")
    if done.left is not None:
        raise finding(
            "stays_open", item=item_id, why=_told(reason_text(done.left.reason, place.language()), done.left.fields)
        )
    say("released", item=item_id, new=done.events, known=done.duplicates)


def _told(reason: str, fields: Mapping[str, str]) -> str:
    """Why something does not read, without a value."""
    language = place.language()
    why = sentence(reason) if reason in SENTENCES else reason_text(reason, language)
    return "\n".join([why, *(f"  {field}: {rule(said, language)}" for field, said in fields.items())])
