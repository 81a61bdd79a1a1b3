"""The door: one request in, one answer out, and nothing acknowledged that is not committed.

known source? → raw bytes → authentic? → content type → read → one transaction → answer → hint
   404 / 503      413          401          415       422*        503            200

* only where the sender's program can mend it; for everybody else what cannot be read is kept in quarantine, and 200
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from http import HTTPStatus
from uuid import UUID

import psycopg
import psycopg_pool
import structlog

from intake import authenticity, dedupe, events, idempotency, installation
from intake.authenticity import NotAuthentic
from intake.config import Settings, Source
from intake.db import Pool, answering_until
from intake.identity import IdentityKey, Mode
from intake.received import Acceptance, Received
from intake.sources import find as find_provider
from intake.sources.base import (
    Answer,
    Delivered,
    OwnAnswer,
    Provider,
    Quarantined,
    Reading,
    SecretInBody,
    Unreadable,
)

log = structlog.get_logger()

# Senders give up after 5 s at the earliest, and show a slow answer to the visitor, who presses again: the whole of the
# database work must be over within this, in seconds.
PATIENCE = 0.9
RETRY_AFTER = 5  # seconds

# Seconds to wait for a connection before asking for one anew: a request that asks makes the pool try to connect.
ASK_AGAIN = 0.3

# Headers that a reader may need again (ids, topics, times) are kept with the receipt; whatever proves or names a person
# or a secret is not.
KEPT_HEADER = re.compile(r"(webhook|svix|x-wc-webhook|x-shopify|framer-webhook|x-intake)-[a-z0-9-]{1,60}", re.ASCII)
SECRET_HEADER = re.compile(r"signature|hmac|token|secret|auth|key")
LONGEST_HEADER = 300  # characters


@dataclass(frozen=True, slots=True)
class Post:
    """One POST as it came.  `headers` by lower-case name; `url` is what the sender called, as it signs it."""

    source: str
    mode: Mode
    content_type: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    url: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What to answer.  `accepted`: a hint may follow.  `worded`: what the sender wants to read instead of JSON."""

    status: int
    document: Mapping[str, object]
    headers: Mapping[str, str] = field(default_factory=dict)
    accepted: bool = False
    worded: Answer | None = None


def refused(status: HTTPStatus, code: str, fields: Mapping[str, str] | None = None) -> Reply:
    """An error as every route of the door words it; a 503 says when to come again."""
    headers = {"Retry-After": str(RETRY_AFTER)} if status is HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Reply(status, {"error": code, "fields": dict(fields or {})}, headers)


@dataclass(slots=True)
class Door:
    """What the door works with.  `now` gives aware datetimes, `new_id` ids of receipts."""

    settings: Settings
    pool: Pool
    now: Callable[[], datetime]
    new_id: Callable[[], UUID]
    clock: Callable[[], float] = time.monotonic
    _key: IdentityKey | None = None

    def source(self, name: str) -> Source | Reply:
        """The open source of this name, or the refusal."""
        source = self.settings.sources.get(name)
        if source is None or not source.enabled or not source.available:
            return refused(HTTPStatus.NOT_FOUND, "unknown_source")
        if source.closed_because is not None:
            return refused(HTTPStatus.SERVICE_UNAVAILABLE, "source_closed")
        return source

    def receive(self, post: Post) -> Reply:
        """Take one delivery.  Raises nothing for anything that can be sent."""
        source = self.source(post.source)
        if isinstance(source, Reply):
            return source
        provider = find_provider(source.provider)
        if not self._is_authentic(source, post):
            return refused(HTTPStatus.UNAUTHORIZED, "not_authentic")
        if provider.content_types and _media_type(post.content_type) not in provider.content_types:
            return refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "content_type")
        if source.idempotency_key and idempotency.key(post.headers) is None:
            return refused(HTTPStatus.BAD_REQUEST, "idempotency_key_missing", {"Idempotency-Key": "is required"})
        reading = self._read(source, provider, post)
        if isinstance(reading, Reply):
            return reading
        return self._store(source, provider, post, reading)

    def _is_authentic(self, source: Source, post: Post) -> bool:
        try:
            authenticity.verify(
                source.provider,
                secrets=source.secret_values,
                headers=post.headers,
                body=post.body,
                url=post.url,
                now=self.now(),
                scheme=source.scheme,
            )
        except NotAuthentic:
            log.info("delivery refused", source=source.name, reason="not_authentic")
            return False
        return True

    def _read(self, source: Source, provider: Provider, post: Post) -> Reading | Reply:
        reading = self._reading(source, provider, post.body, post.content_type, post.headers)
        if reading.quarantined and not reading.events and (provider.name == "quote" or source.idempotency_key):
            fields = {name: rule for each in reading.quarantined for name, rule in each.fields.items()}
            return refused(HTTPStatus.UNPROCESSABLE_ENTITY, reading.quarantined[0].reason, fields)
        return reading

    def _reading(
        self, source: Source, provider: Provider, body: bytes, content_type: str, headers: Mapping[str, str]
    ) -> Reading:
        """What the provider finds; what it cannot read, or stumbles over, is for quarantine."""
        delivered = Delivered(
            body, content_type, headers, self.now(), self.settings.region, source.fields, source.order_policy
        )
        try:
            return provider.read(delivered)
        except Unreadable as broken:
            return Reading(quarantined=(Quarantined(broken.reason, broken.fields),))
        except Exception as bug:  # noqa: BLE001  # A reader's bug must not lose what is authentic.
            log.error("reader failed", source=source.name, error=type(bug).__name__)  # noqa: TRY400  # no payload in logs
            return Reading(quarantined=(Quarantined("reader_failed"),))

    def _store(self, source: Source, provider: Provider, post: Post, reading: Reading) -> Reply:
        received = Received(
            receipt_id=self.new_id(),
            mode=post.mode,
            source=source,
            destination=source.destination if post.mode == "live" else source.test_destination,
            content_type=post.content_type,
            headers=kept_headers(post.headers),
            body=provider.scrub(post.body) if isinstance(provider, SecretInBody) else post.body,
            reading=reading,
            dedupe_value=dedupe.value(source.named_by, headers=post.headers, body=post.body),
            read_again=partial(self._reading, source, provider),
        )
        acceptance = self._commit_or_quarantine(received)
        if acceptance is None:
            return refused(HTTPStatus.SERVICE_UNAVAILABLE, "storage_unavailable")
        if source.idempotency_key:
            return _keyed_reply(source, acceptance)
        document = _document(acceptance)
        worded = provider.answer(document) if isinstance(provider, OwnAnswer) else None
        return Reply(source.accepted_status, document, accepted=bool(acceptance.events), worded=worded)

    def _commit_or_quarantine(self, received: Received) -> Acceptance | None:
        try:
            return self._commit(received)
        except (psycopg.DataError, psycopg.IntegrityError) as odd:
            # A value that PostgreSQL refuses would be refused each time; its raw bytes can always be kept.
            log.error("reading not storable", source=received.source.name, error=type(odd).__name__)  # noqa: TRY400  # it quotes values
            return self._commit(replace(received, reading=Reading(quarantined=(Quarantined("not_storable"),))))

    def _commit(self, received: Received) -> Acceptance | None:
        """None: the database did not take it in time.  Trying again is harmless: identity makes it a duplicate."""
        until = self.clock() + PATIENCE
        while self.clock() < until:
            try:
                return self._accept(received, until)
            except (psycopg.OperationalError, psycopg_pool.PoolTimeout) as away:
                log.warning("storage unavailable", source=received.source.name, error=type(away).__name__)
        return None

    def _accept(self, received: Received, until: float) -> Acceptance:
        wait = min(ASK_AGAIN, max(0.01, until - self.clock()))
        with self.pool.connection(timeout=wait) as conn, answering_until(conn, until):
            self._key = self._key or installation.read(conn).key
            return events.accept(conn, self._key, received)


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Those that a reader may need again, cut and cleaned."""
    return {
        name: value[:LONGEST_HEADER].replace("\x00", "")
        for name, value in headers.items()
        if KEPT_HEADER.fullmatch(name) and not SECRET_HEADER.search(name)
    }


def _keyed_reply(source: Source, acceptance: Acceptance) -> Reply:
    match idempotency.use_of(acceptance):
        case "first":
            return Reply(source.accepted_status, _document(acceptance), accepted=bool(acceptance.events))
        case "replayed":
            first = idempotency.as_at_first(acceptance, source.first_state)
            return Reply(source.accepted_status, _document(first), idempotency.REPLAYED)
        case "reused":
            # Refused, because a program can mend it; and kept as a conflict all the same.
            rule = {"Idempotency-Key": "was used with other content"}
            return refused(HTTPStatus.UNPROCESSABLE_ENTITY, "idempotency_key_reused", rule)


def _document(acceptance: Acceptance) -> Mapping[str, object]:
    return {
        "received": True,
        "events": [
            {
                "event_id": str(each.event_id),
                "kind": each.kind,
                "state": each.state,
                "duplicate": each.duplicate,
                "conflict": each.conflict,
            }
            for each in acceptance.events
        ],
        "updates": acceptance.updates,
        "conflicts": acceptance.conflicts,
        "quarantined": acceptance.quarantined,
        "ignored": acceptance.ignored,
    }
