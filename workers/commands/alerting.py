"""`intake alerts`: what holds now, what was said last; --test says something on every channel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from crm_clients.transport import Transport
from intake import at_rest
from intake.alerts import changes, outbox, wording
from intake.alerts.changes import Held
from intake.alerts.content import Change, Content
from intake.cli import place
from intake.cli.arguments import language
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json, heading, paragraph, print_json, table
from intake.cli.sentences import SENTENCES
from intake.config import Settings
from intake.db import open_pool, transaction
from intake.shown_names import label
from workers import watch as watching
from workers.watch import Watch


@click.command()
@click.option("--test", is_flag=True, help="Send a test message on every channel, now.")
@as_json
def alerts(*, test: bool, json_wanted: bool) -> None:
    """What holds now that somebody should know, and what was said last."""
    settings = place.settings()
    if test:
        send_test(settings)
        return
    with place.connection() as conn:
        holding = [each for each in changes.held(conn) if each.ended_at is None]
        said = outbox.latest(conn)
    usable = outbox.channels(settings.alerts)
    if json_wanted:
        shown = [_document(each, settings) for each in holding]
        print_json({"channels": usable, "conditions": shown, "sent": said})
        return
    for each in holding:
        paragraph(f"- {_text(each, settings)}")
    spoken = language()
    heading(label("said", spoken))
    table([label(word, spoken) for word in ("at", "channel", "kind", "sent", "tries", "failure")], [
        (each.made_at, each.channel, each.kind, each.sent_at, each.tries, each.failure) for each in said
    ])  # fmt: skip
    if not usable:
        paragraph(SENTENCES["no_channel"].of(spoken))


def _text(each: Held, settings: Settings) -> str:
    change = Change("began", each.name, each.subject, each.count, each.since.isoformat())
    return wording.change(change, language(), settings.timezone)


def _document(each: Held, settings: Settings) -> dict[str, object]:
    return {
        "condition": each.name, "subject": each.subject, "count": each.count, "since": each.since,
        "told_at": each.told_at, "text": _text(each, settings),
    }  # fmt: skip


def send_test(settings: Settings) -> None:
    """Raises Misconfigured where there is no channel, Finding where one does not take it."""
    usable = outbox.channels(settings.alerts)
    if not usable:
        raise Misconfigured("no channel is configured, or its secret is missing: see [alerts] in intake.toml")
    refused: list[str] = []
    with _watch(settings) as watch:
        with transaction(watch.pool) as conn:
            ids = outbox.put(conn, usable, "test", Content(changes.link_of(settings)))
        for message_id in ids:
            with transaction(watch.pool) as conn:
                message = outbox.claim(conn, usable, message_id=message_id)
            if message is None:
                continue  # A clock was faster; what became of it stands in the list.
            failure = watching.send(watch, message)
            click.echo(f"{message.channel}: {failure or 'sent'}")
            refused += [message.channel] if failure else []
    if refused:
        raise Finding(f"not taken: {', '.join(refused)}; it is tried again")


@contextmanager
def _watch(settings: Settings) -> Iterator[Watch]:
    pool = open_pool(place.database_url(), size=1, payloads=at_rest.from_environ(place.environment()))
    try:
        with Transport() as transport:
            yield Watch(pool, settings, transport)
    finally:
        pool.close()
