"""`intake resolve ITEM release`: what is in quarantine, read again."""

from __future__ import annotations

from collections.abc import Mapping

import click

from intake import quarantine
from intake.cli import place
from intake.cli.group import Finding
from intake.db import Conn
from intake.quarantine import Corrected, NotReleased

WORDS = {
    "gone": "there is no such item",
    "closed": "it is closed already",
    "no_quarantine": "it is no quarantine",
    "no_source": "its source is not configured any more",
    "purged": "its bytes were purged",
}


def release(conn: Conn, item_id: int, corrected: Corrected | None, *, by: str, reason: str) -> None:
    """Say which events came of it.  Raises Finding where something is left."""
    author = quarantine.Releaser(by, reason)
    try:
        done = quarantine.release(conn, place.settings(), item_id, author, corrected=corrected)
    except NotReleased as left:
        raise Finding(f"not released: {_told(WORDS.get(left.why, left.why), left.fields)}") from left
    for event_id in done.event_ids:
        click.echo(f"event {event_id}")
    if done.left is not None:
        raise Finding(f"item {item_id} stays open: {_told(done.left.reason, done.left.fields)}")
    click.echo(f"item {item_id} is closed: {done.events} new, {done.duplicates} known")


def _told(reason: str, fields: Mapping[str, str]) -> str:
    """Why something does not read, without a value."""
    return "\n".join([reason, *(f"  {field}: {rule}" for field, rule in fields.items())])
