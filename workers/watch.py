"""The watch: beside the clock's ticks, it looks at what holds, says what changed, and asks for what happens daily.

It runs in the clock's process and needs no worker and no Redis: that they are gone is among what it must say.
Any number of clocks may watch; each round is taken by one of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psycopg
import psycopg_pool
import structlog

from crm_clients.transport import Transport
from intake import heartbeats, incidents, nights, shown
from intake.alerts import changes, outbox, rounds
from intake.alerts.content import Content, read
from intake.alerts.digest import digest
from intake.alerts.outbox import Message
from intake.config import Settings
from intake.db import Conn, Pool, transaction
from workers import messengers

log = structlog.get_logger()

LOOK_EVERY = 5.0  # seconds
QUICK, SLOW, HEARTBEAT = timedelta(seconds=15), timedelta(minutes=5), timedelta(minutes=1)

# Messages sent in one round, so that a full outbox does not keep the next look waiting.
MOST_SENT = 20


@dataclass(frozen=True, slots=True)
class Watch:
    """What it works with.  `now` gives aware datetimes: the hour of the day, and nothing else, comes from it."""

    pool: Pool
    settings: Settings
    transport: Transport
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def run(watch: Watch, stop: threading.Event) -> None:
    """Watch until `stop` is set.  A database that is away is waited for."""
    while not stop.wait(LOOK_EVERY):
        try:
            round_of(watch)
        except (psycopg.Error, psycopg_pool.PoolTimeout) as away:
            log.warning("watch failed", error=type(away).__name__)
        except Exception as bug:  # noqa: BLE001  # The watch must go on: it is who tells of bugs.
            log.error("watch failed", error=type(bug).__name__)  # noqa: TRY400  # its text may quote a row


def round_of(watch: Watch) -> None:
    """One round: what is due daily, what changed, what is to be sent, and that we live."""
    with transaction(watch.pool) as conn:
        _daily(watch, conn)
    for name, every, slow in (("quick", QUICK, False), ("slow", SLOW, True)):
        with transaction(watch.pool) as conn:
            if rounds.take(conn, name, every):
                _look(watch, conn, slow=slow)
    send_due(watch)
    _beat(watch)


def _look(watch: Watch, conn: Conn, *, slow: bool) -> None:
    incidents.recover(conn)  # First, so that nobody is told again of what is over.
    for each in changes.watch(conn, watch.settings, slow=slow):
        log.info("condition changed", what=each.what, condition=each.name, subject=each.subject, count=each.count)
    if slow:
        outbox.forget_old(conn)
        rounds.forget_old(conn)
        shown.forget_old(conn)
        heartbeats.forget_dead(conn)


# --- daily ----------------------------------------------------------------------------------------------------------


def _daily(watch: Watch, conn: Conn) -> None:
    settings, now = watch.settings, watch.now()
    if nights.first_of_day(conn, "reconcile", *nights.due_day(now, settings.reconcile_at, settings.timezone)):
        nights.ask_for_run(conn)
    at = settings.alerts.digest_at
    if at is None or not outbox.channels(settings.alerts):
        return
    if nights.first_of_day(conn, "digest", *nights.due_day(now, at, settings.timezone)):
        content = Content(changes.link_of(settings), digest=digest(conn))
        outbox.put(conn, outbox.channels(settings.alerts), "digest", content)


# --- sending --------------------------------------------------------------------------------------------------------


def send_due(watch: Watch) -> int:
    """Send what is due; returns how many were tried."""
    usable = outbox.channels(watch.settings.alerts)
    for tried in range(MOST_SENT):
        with transaction(watch.pool) as conn:
            message = outbox.claim(conn, usable) if usable else None
        if message is None:
            return tried
        failure = send(watch, message)
        log.info("alert sent" if failure is None else "alert not sent", channel=message.channel, failure=failure)
    return MOST_SENT


def send(watch: Watch, message: Message) -> str | None:
    """Send a claimed message, and keep what became of it; returns the failure, None: it was taken."""
    failure = _sent(watch, message)
    with transaction(watch.pool) as conn:
        if failure is None:
            outbox.sent(conn, message)
        else:
            outbox.failed(conn, message, failure)
    return failure


def _sent(watch: Watch, message: Message) -> str | None:
    try:
        content = read(message.content)
    except (ValueError, KeyError, TypeError):
        return "unreadable"
    match message.channel:
        case "webhook":
            return messengers.webhook(watch.transport, watch.settings, message, content)
        case "email":
            return messengers.email(watch.settings, message, content)


def _beat(watch: Watch) -> None:
    """Tell the service that waits for it that this clock ticks: only while its ticks get through to the database."""
    url = watch.settings.alerts.heartbeat_url
    if url is None or url.value is None:
        return
    with transaction(watch.pool) as conn:
        due = rounds.clock_ticks(conn) and rounds.take(conn, "heartbeat", HEARTBEAT)
    if due:
        failure = messengers.call(watch.transport, url.value)
        if failure is not None:
            log.warning("heartbeat not taken", failure=failure)
