"""From the bytes of one delivery to what is to be accepted; the door and whoever reads kept bytes again do it alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

import structlog

from intake import authenticity, dedupe
from intake.authenticity import NotAuthentic
from intake.config import Settings, Source
from intake.identity import Mode
from intake.received import Received
from intake.sources import find as find_provider
from intake.sources import with_secret_in_body
from intake.sources.base import Delivered, Quarantined, Reading, Unreadable

log = structlog.get_logger()

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
class Arrival:
    """Which receipt a delivery is, and when it came.  `at` None: now, by the database's clock."""

    receipt_id: UUID
    at: datetime | None = None


def source_of(settings: Settings, name: str) -> Source | None:
    """The source that has this name, or had it before; None: none, or this version cannot read it."""
    renamed = (each for each in settings.sources.values() if each.renamed_from == name)
    found = settings.sources.get(name) or next(renamed, None)
    return found if found is not None and found.available else None


def is_authentic(source: Source, post: Post, now: datetime) -> bool:
    """Whether one of today's secrets proves it.  `now`: when it came, for the schemes that carry a time."""
    try:
        authenticity.verify(
            source.provider,
            secrets=source.secret_values,
            headers=post.headers,
            body=post.body,
            url=post.url,
            now=now,
            scheme=source.scheme,
        )
    except NotAuthentic:
        return False
    return True


def is_readable_type(source: Source, post: Post) -> bool:
    """Whether the provider reads this content type at all."""
    wanted = find_provider(source.provider).content_types
    return not wanted or post.content_type.partition(";")[0].strip().lower() in wanted


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the authentic deliveries of one source.  `now`: when they came."""

    settings: Settings
    source: Source
    now: datetime

    def read(self, post: Post) -> Reading:
        """What the provider finds; what it cannot read, or stumbles over, is for quarantine."""
        return self._read(post.body, post.content_type, post.headers)

    def _read(self, body: bytes, content_type: str, headers: Mapping[str, str]) -> Reading:
        source, region = self.source, self.settings.region
        delivered = Delivered(body, content_type, headers, self.now, region, source.fields, source.order_policy)
        try:
            return find_provider(source.provider).read(delivered)
        except Unreadable as broken:
            return Reading(quarantined=(Quarantined(broken.reason, broken.fields),))
        except Exception as bug:  # noqa: BLE001  # A reader's bug must not lose what is authentic.
            log.error("reader failed", source=source.name, error=type(bug).__name__)  # noqa: TRY400  # no payload in logs
            return Reading(quarantined=(Quarantined("reader_failed"),))

    def received(self, post: Post, reading: Reading, arrival: Arrival) -> Received:
        """What is handed over: nothing in it proves authenticity any more, and no secret is left in its body."""
        source, secret = self.source, with_secret_in_body(self.source.provider)
        return Received(
            receipt_id=arrival.receipt_id,
            received_at=arrival.at,
            mode=post.mode,
            source=source,
            destination=source.destination if post.mode == "live" else source.test_destination,
            content_type=post.content_type,
            headers=kept_headers(post.headers, named_by=source.named_by),
            body=post.body if secret is None else secret.scrub(post.body),
            reading=reading,
            dedupe_value=dedupe.value(source.named_by, headers=post.headers, body=post.body),
            read_again=self._read,
            gated=frozenset(_gated(self.settings)),
        )


def _gated(settings: Settings) -> Iterator[str]:
    """Under every name that their events may bear."""
    for each in settings.sources.values():
        if each.approval == "required":
            yield from filter(None, (each.name, each.renamed_from))


def not_storable(received: Received) -> Received:
    """A value that PostgreSQL refuses would be refused each time; its raw bytes can always be kept."""
    return replace(received, reading=Reading(quarantined=(Quarantined("not_storable"),)))


def kept_headers(headers: Mapping[str, str], *, named_by: str) -> dict[str, str]:
    """Those that a reader may need again, cut and cleaned; the one that names the delivery whole."""
    return {
        name: (value if name == named_by else value[:LONGEST_HEADER]).replace("\x00", "")
        for name, value in headers.items()
        if name == named_by or (KEPT_HEADER.fullmatch(name) and not SECRET_HEADER.search(name))
    }
