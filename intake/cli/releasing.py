"""`intake resolve ITEM release`: what is in quarantine, read again."""

from __future__ import annotations

from collections.abc import Mapping

import click

from intake import quarantine
from intake.cli import place
from intake.cli.sentences import SENTENCES, finding, say, sentence
from intake.db import Conn
from intake.quarantine import Corrected, NotReleased


def release(conn: Conn, item_id: int, corrected: Corrected | None, *, by: str, reason: str) -> None:
    """Say which events came of it.  Raises Finding where something is left."""
    author = quarantine.Releaser(by, reason)
    try:
        done = quarantine.release(conn, place.settings(), item_id, author, corrected=corrected)
    except NotReleased as left:
        why = sentence(left.why) if left.why in SENTENCES else left.why
        raise finding("not_released", why=_told(why, left.fields)) from left
    for event_id in done.event_ids:
        click.echo(f"event {event_id}")
    if done.left is not None:
        raise finding("stays_open", item=item_id, why=_told(done.left.reason, done.left.fields))
    say("released", item=item_id, new=done.events, known=done.duplicates)


def _told(reason: str, fields: Mapping[str, str]) -> str:
    """Why something does not read, without a value."""
    return "\n".join([reason, *(f"  {field}: {rule}" for field, rule in fields.items())])
