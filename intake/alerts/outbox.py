"""What is to be said, once for each channel: claimed by one sender at a time, and tried again until it is taken.

At least once: a sender that dies after sending says it again, under the same `message_id`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from intake.alerts.content import Content
from intake.config import Alerts
from intake.db import Conn

ChannelName = Literal["webhook", "email"]
MessageKind = Literal["change", "digest", "test"]

# A message whose sender died is claimed again after this; one that nobody took for a day is given up.
HOLD = timedelta(minutes=2)
GIVEN_UP_AFTER = timedelta(days=1)
FIRST_RETRY = timedelta(seconds=10)
LONGEST_RETRY = timedelta(minutes=15)
KEPT_FOR = timedelta(days=90)


def channels(alerts: Alerts) -> tuple[ChannelName, ...]:
    """Those that can be used."""
    webhook, email = alerts.webhook_url, alerts.smtp_url
    usable: list[ChannelName] = []
    if webhook is not None and webhook.value:
        usable.append("webhook")
    if email is not None and email.value:
        usable.append("email")
    return tuple(usable)


PUT = """
    INSERT INTO outbox (channel, kind, content) VALUES (%(channel)s, %(kind)s, %(content)s) RETURNING message_id
"""


def put(conn: Conn, to: Sequence[ChannelName], kind: MessageKind, content: Content) -> list[UUID]:
    """One message for each channel, in the caller's transaction; returns their ids."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        given = [{"channel": each, "kind": kind, "content": Jsonb(content.document())} for each in to]
        return [cursor.execute(PUT, each).fetchall()[0] for each in given]


@dataclass(frozen=True, slots=True)
class Message:
    """A message in hand."""

    message_id: UUID
    channel: ChannelName
    kind: MessageKind
    content: Mapping[str, object]
    made_at: datetime
    tries: int


CLAIM = """
    UPDATE outbox SET due_at = clock_timestamp() + %(hold)s, tries = tries + 1
     WHERE message_id = (SELECT message_id FROM outbox
                          WHERE due_at <= statement_timestamp() AND channel = ANY(%(channels)s)
                            AND (%(message_id)s::uuid IS NULL OR message_id = %(message_id)s)
                          ORDER BY due_at FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING message_id, channel, kind, content, made_at, tries
"""


def claim(conn: Conn, usable: Sequence[ChannelName], *, message_id: UUID | None = None) -> Message | None:
    """The next message that is due (or this one, if it is); None: none is."""
    given = {"hold": HOLD, "channels": list(usable), "message_id": message_id}
    with conn.cursor(row_factory=class_row(Message)) as cursor:
        return cursor.execute(CLAIM, given).fetchone()


SENT = """
    UPDATE outbox SET due_at = NULL, sent_at = clock_timestamp(), failure = NULL WHERE message_id = %(message_id)s
"""
FAILED = """
    UPDATE outbox SET failure = %(failure)s,
                      due_at = CASE WHEN made_at > statement_timestamp() - %(given_up)s
                                    THEN clock_timestamp() + %(after)s END
     WHERE message_id = %(message_id)s AND sent_at IS NULL
"""


def sent(conn: Conn, message: Message) -> None:
    """It was taken."""
    conn.execute(SENT, {"message_id": message.message_id})


def failed(conn: Conn, message: Message, failure: str) -> None:
    """It was not; `failure` is a word of ours."""
    after = min(LONGEST_RETRY, FIRST_RETRY * (1 << min(message.tries, 10)))
    given = {"message_id": message.message_id, "failure": failure, "after": after, "given_up": GIVEN_UP_AFTER}
    conn.execute(FAILED, given)


@dataclass(frozen=True, slots=True)
class Said:
    """A message and what became of it.  `due_at` None and not sent: it was given up."""

    message_id: UUID
    channel: ChannelName
    kind: MessageKind
    made_at: datetime
    tries: int
    due_at: datetime | None
    sent_at: datetime | None
    failure: str | None


LATEST = """
    SELECT message_id, channel, kind, made_at, tries, due_at, sent_at, failure FROM outbox
     ORDER BY made_at DESC LIMIT %(limit)s
"""


def latest(conn: Conn, limit: int = 10) -> list[Said]:
    """The newest first."""
    with conn.cursor(row_factory=class_row(Said)) as cursor:
        return cursor.execute(LATEST, {"limit": limit}).fetchall()


FORGET = "DELETE FROM outbox WHERE made_at < statement_timestamp() - %(kept_for)s"


def forget_old(conn: Conn) -> None:
    """What was said long ago."""
    conn.execute(FORGET, {"kept_for": KEPT_FOR})
