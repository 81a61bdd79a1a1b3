"""How a message gets out: to a webhook, by e-mail; and the call that says that the clock ticks.

Each returns None when it was taken, else a word of ours: what a server or a library says may hold an address.
"""

from __future__ import annotations

import json
import smtplib
import ssl
from collections.abc import Mapping
from email.message import EmailMessage
from http import HTTPStatus
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from crm_clients.base import Account, Request
from crm_clients.transport import Answered, Transport
from crm_clients.watchdog import boot_clock
from intake.alerts import wording
from intake.alerts.content import Content
from intake.alerts.outbox import Message
from intake.config import Settings

PATIENCE = 10.0  # seconds
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def webhook(transport: Transport, settings: Settings, message: Message, content: Content) -> str | None:
    """POST it as Slack's incoming webhooks want it, or as plain data."""
    secret = settings.alerts.webhook_url
    target = _target(secret.value if secret else None)
    if target is None:
        return "no_address"
    account, path, query = target
    text = wording.text(content, settings.language, settings.timezone)
    headers = (("Content-Type", "application/json"), ("Intake-Message-Id", str(message.message_id)))
    body = json.dumps(document(settings, message, content, text)).encode()
    request = Request("POST", path, query, body, headers)
    now = boot_clock()
    sent = transport.write(account, request, send_by=now + PATIENCE, deadline=now + PATIENCE)
    return _taken(sent.response.status) if isinstance(sent, Answered) else sent.reason


def document(settings: Settings, message: Message, content: Content, text: str) -> Mapping[str, object]:
    """Slack: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks (2026-11-29)."""
    if settings.alerts.format == "slack":
        # Slack's three control characters; https://docs.slack.dev/messaging/formatting-message-text (2026-11-29).
        return {"text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}
    told = {name: value for name, value in content.document().items() if value}
    return {"id": str(message.message_id), "kind": message.kind, "text": text, **told}


def call(transport: Transport, url: str) -> str | None:
    """GET an address, for its own sake."""
    target = _target(url)
    if target is None:
        return "no_address"
    account, path, query = target
    sent = transport.look(account, Request("GET", path, query), deadline=boot_clock() + PATIENCE)
    return _taken(sent.response.status) if isinstance(sent, Answered) else sent.reason


Target = tuple[Account, str, tuple[tuple[str, str], ...]]


def _target(url: str | None) -> Target | None:
    """An address taken apart; None: it is none."""
    parts = _parts(url)
    if parts is None or parts.scheme not in {"http", "https"} or "@" in parts.netloc:
        return None
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    return Account("alerts", f"{parts.scheme}://{parts.netloc}"), parts.path or "/", query


def _parts(url: str | None) -> SplitResult | None:
    try:
        parts = urlsplit((url or "").strip())
        usable = parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None


def _taken(status: int) -> str | None:
    return None if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES else f"status_{status}"


# --- e-mail ---------------------------------------------------------------------------------------------------------


def email(settings: Settings, message: Message, content: Content) -> str | None:
    """Send it to all of `email_to`."""
    secret = settings.alerts.smtp_url
    parts = _parts(secret.value if secret else None)
    if parts is None or parts.scheme not in {"smtp", "smtps"}:
        return "no_address"
    try:
        with _server(parts) as server:
            server.send_message(letter(settings, message, content))
    except (smtplib.SMTPException, OSError, ValueError) as failed:
        return type(failed).__name__
    return None


def letter(settings: Settings, message: Message, content: Content) -> EmailMessage:
    """The e-mail; its id is the message's, so that one that is sent again is known as the same."""
    alerts, language = settings.alerts, settings.language
    made = EmailMessage()
    made["Subject"] = wording.subject(content, language)
    made["From"] = alerts.email_from or alerts.email_to[0]
    made["To"] = ", ".join(alerts.email_to)
    made["Message-ID"] = f"<{message.message_id}@lead-intake>"
    made["Auto-Submitted"] = "auto-generated"  # RFC 3834: no answer to it from a machine.
    made.set_content(wording.text(content, language, settings.timezone))
    return made


def _server(parts: SplitResult) -> smtplib.SMTP:
    """Connected, encrypted unless it is on this host, and logged in where the address has a user."""
    host, trust = parts.hostname or "", ssl.create_default_context()
    if parts.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, parts.port or 465, timeout=PATIENCE, context=trust)
    else:
        server = smtplib.SMTP(host, parts.port or 587, timeout=PATIENCE)
    try:
        if parts.scheme == "smtp" and host not in LOOPBACK:
            server.starttls(context=trust)
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
    except BaseException:
        server.close()
        raise
    return server
