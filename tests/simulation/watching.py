"""A watch beside a lab, with somebody who is told, and time that passes for it too."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import psycopg

from crm_clients.transport import Transport
from intake.config import Alerts, Secret, Source
from intake.db import transaction
from intake.heartbeats import beat
from tests.lab import Lab
from tests.listeners import Mailbox, Webhook, mailbox, webhook
from workers import watch
from workers.watch import Watch

STEP = timedelta(seconds=16)  # a bit more than a quick round
AGAIN = timedelta(minutes=16)  # a bit more than the pause between two messages of one condition

TIMES = {
    "conditions": ("since", "newest_at", "told_newest", "told_at", "ended_at"),
    "rounds": ("due_at",),
    "outbox": ("made_at", "due_at"),
    "items": ("opened_at",),
    "receipts": ("received_at",),
    "refusals": ("hour",),
    "heartbeats": ("at",),
    "paused_sources": ("paused_at",),
}


@dataclass(slots=True)
class Told:
    """The lab, the watch, and what was said."""

    lab: Lab
    watch: Watch
    hook: Webhook
    mail: Mailbox
    seen: int = 0
    worker_lives: bool = True
    clock: datetime = field(default_factory=lambda: datetime.now(UTC))

    def round(self, after: timedelta = STEP) -> list[str]:
        """Let time pass, and watch once; returns what was said to the webhook."""
        self.pass_time(after)
        if self.worker_lives:
            with transaction(self.lab.pool) as conn:
                beat(conn, process="worker", name="lab")
        watch.round_of(self.watch)
        return self.news()

    def news(self) -> list[str]:
        """What the webhook heard since the last time."""
        new = self.hook.texts[self.seen :]
        self.seen += len(new)
        return new

    def pass_time(self, span: timedelta) -> None:
        self.lab.pass_time(span)
        self.clock += span
        with psycopg.connect(self.lab.database_url) as conn:
            for table, columns in TIMES.items():
                moved = ", ".join(f"{column} = {column} - %(span)s" for column in columns)
                conn.execute(f"UPDATE {table} SET {moved}", {"span": span})  # noqa: S608  # our own names

    def letters(self) -> list[str]:
        """The texts of the e-mails."""
        read = (email.message_from_string(each, policy=email.policy.default) for each in self.mail.letters)
        return [str(each.get_content()) for each in read]

    def with_source(self, name: str, **changes: object) -> None:
        """Another configuration of one source."""
        settings = self.watch.settings
        changed: Source = replace(settings.sources[name], **changes)  # type: ignore[arg-type]  # names of its fields
        self.watch = replace(self.watch, settings=replace(settings, sources={**settings.sources, name: changed}))

    def with_alerts(self, **changes: object) -> None:
        """Another configuration of the alerts."""
        settings = self.watch.settings
        changed: Alerts = replace(settings.alerts, **changes)  # type: ignore[arg-type]  # names of its fields
        self.watch = replace(self.watch, settings=replace(settings, alerts=changed))


@contextmanager
def watching(lab: Lab, *, form: Literal["slack", "json"] = "slack", quiet: bool = True) -> Iterator[Told]:
    """Somebody is told by webhook and by e-mail.  `quiet` False: there may be something to tell from the beginning."""
    with webhook() as hook, mailbox() as mail, Transport() as transport:
        alerts = Alerts(
            webhook_url=Secret("env:HOOK", f"{hook.url}/services/T0/B0?secret=x"),
            format=form,
            email_to=("ventas@example.com",),
            smtp_url=Secret("env:SMTP", mail.url),
        )
        told = Told(lab, Watch(lab.pool, replace(lab.settings, alerts=alerts), transport), hook, mail)
        told.watch = replace(told.watch, now=lambda: told.clock)
        assert told.round() == [] or not quiet
        yield told
