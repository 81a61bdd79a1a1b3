"""The door: one request in, one answer out, and nothing acknowledged that is not committed.

known source? → raw bytes → authentic? → content type → read → one transaction → answer → hint
   404 / 503      413          401          415       422*        503            200

* only where the sender's program can mend it; for everybody else what cannot be read is kept in quarantine, and 200
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from uuid import UUID

import psycopg
import structlog

from intake import events, gunicorn_conf, idempotency, installation, spooling
from intake.config import Settings, Source
from intake.db import LOST, Pool, answering_until
from intake.identity import IdentityKey
from intake.reading import Arrival, Post, Reader, is_authentic, is_readable_type, not_storable
from intake.received import Acceptance, Received
from intake.sources import with_own_answer, with_setup_call
from intake.sources.base import Answer
from intake.spool import Spool

log = structlog.get_logger()

RETRY_AFTER = 5  # seconds

# What became of a call that only sets a webhook up.
NOTHING = Acceptance(events=(), updates=0, conflicts=0, quarantined=0, ignored=1)

# Seconds to wait for a connection before asking for one anew: a request that asks makes the pool try to connect.
ASK_AGAIN = 0.3

# Seconds until the same delivery is tried again: a database that refuses at once is not asked all the time.
TRY_AGAIN = 0.05

# Seconds during which deliveries go to the spool at once, after the database did not answer.
AWAY = 1.0


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
    """What the door works with.  `now` gives aware datetimes, `new_id` ids of receipts, in the order of their time.

    `on_refused` is told what was not authentic, and when it came; it returns at once.  `spool` None: without a
    database nothing is acknowledged.  `patience`: seconds within which the whole of the database work must be over.
    """

    settings: Settings
    pool: Pool
    now: Callable[[], datetime]
    new_id: Callable[[], UUID]
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    on_refused: Callable[[Post, datetime], object] = lambda _post, _at: None
    spool: Spool | None = None
    patience: float = gunicorn_conf.STORE_LIMIT
    _key: IdentityKey | None = None
    _away_until: float = -math.inf

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
        setup, now = with_setup_call(source.provider), self.now()
        if setup is not None and (echoed := setup.echoed(post.headers, post.body)):
            return Reply(source.accepted_status, _document(NOTHING), echoed)
        if (refusal := self._refusal(source, post, now)) is not None:
            return refusal
        reader = Reader(self.settings, source, now)
        reading = reader.read(post)
        if reading.quarantined and not reading.events and source.can_mend:
            fields = {name: rule for each in reading.quarantined for name, rule in each.fields.items()}
            return refused(HTTPStatus.UNPROCESSABLE_ENTITY, reading.quarantined[0].reason, fields)
        return self._store(reader.received(post, reading, Arrival(self.new_id())), now)

    def _refusal(self, source: Source, post: Post, now: datetime) -> Reply | None:
        """Why it is not even read; None: it is."""
        if not is_authentic(source, post, now):
            self.on_refused(post, now)
            return refused(HTTPStatus.UNAUTHORIZED, "not_authentic")
        if not is_readable_type(source, post):
            return refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "content_type")
        if source.idempotency_key and idempotency.key(post.headers) is None:
            return refused(HTTPStatus.BAD_REQUEST, "idempotency_key_missing", {"Idempotency-Key": "is required"})
        return None

    def _store(self, received: Received, now: datetime) -> Reply:
        source = received.source
        # A program with keys tries again by itself, and wants the answer of the first time.
        spool = None if source.idempotency_key else self.spool
        acceptance = self._commit(received) if spool is None else self._commit_or_spool(spool, received, now)
        if acceptance is None:
            return refused(HTTPStatus.SERVICE_UNAVAILABLE, "storage_unavailable")
        if source.idempotency_key:
            return _keyed_reply(source, acceptance)
        document = _document(acceptance)
        own = with_own_answer(source.provider)
        worded = None if own is None else own.answer(document)
        return Reply(source.accepted_status, document, accepted=bool(acceptance.events), worded=worded)

    def _commit_or_spool(self, spool: Spool, received: Received, now: datetime) -> Acceptance | None:
        acceptance = self._commit_unless_away(received)
        try:
            return acceptance or spooling.keep(spool, received, now)
        except OSError as no_room:
            log.error("spool cannot keep", source=received.source.name, error=type(no_room).__name__)  # noqa: TRY400
            return None

    def _commit_unless_away(self, received: Received) -> Acceptance | None:
        """While the database is away one request at a time finds out whether it is back, and the others need not."""
        if self.clock() < self._away_until:
            return None
        if self._away_until > -math.inf:
            self._away_until = self.clock() + self.patience
        try:
            acceptance = self._commit(received)
        except (psycopg.Error, installation.Mismatch) as odd:  # no tables, read only...
            log.error("storage refuses", source=received.source.name, error=type(odd).__name__)  # noqa: TRY400
            acceptance = None
        self._away_until = self.clock() + AWAY if acceptance is None else -math.inf
        return acceptance

    def _commit(self, received: Received) -> Acceptance | None:
        """None: the database did not take it in time.  Trying again is harmless: identity makes it a duplicate."""
        until = self.clock() + self.patience
        last = "nothing tried"
        while self.clock() < until:
            try:
                return self._accept_or_quarantine(received, until)
            except LOST as away:
                last = type(away).__name__
                self.sleep(TRY_AGAIN)
        log.warning("storage unavailable", source=received.source.name, error=last)
        return None

    def _accept_or_quarantine(self, received: Received, until: float) -> Acceptance:
        try:
            return self._accept(received, until)
        except (psycopg.DataError, psycopg.IntegrityError) as odd:
            log.error("reading not storable", source=received.source.name, error=type(odd).__name__)  # noqa: TRY400  # it quotes values
            return self._accept(not_storable(received), until)

    def _accept(self, received: Received, until: float) -> Acceptance:
        wait = min(ASK_AGAIN, max(0.01, until - self.clock()))
        with self.pool.connection(timeout=wait) as conn, answering_until(conn, until):
            self._key = self._key or installation.read(conn).key
            return events.accept(conn, self._key, received)


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
