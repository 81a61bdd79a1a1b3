"""What a provider module is: it reads the events in the authentic bytes of one delivery.

    POST ──authenticity.verify──> Delivered ──provider.read──> Reading ──events.accept──> rows

A provider does no I/O and raises only `Unreadable`, for a body of which nothing can be read.  One bad item of a batch
becomes a `Quarantined` beside the good ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

from intake.lead import Contact, Lead

SourceKind = Literal["form", "whatsapp", "quote"]


@dataclass(frozen=True, slots=True)
class Delivered:
    """One delivery whose authenticity is proven: the raw bytes, and the headers by lower-case name."""

    body: bytes = field(repr=False)
    content_type: str
    headers: Mapping[str, str] = field(repr=False)
    received_at: datetime
    region: str  # ISO 3166 country of numbers typed without one, e.g. "PE"
    pointers: Mapping[str, str] = field(default_factory=dict)  # [sources.fields]: lead field -> JSON Pointer
    order_policy: Literal["lead", "ignore"] = "lead"  # what a shop's paid order is


@dataclass(frozen=True, slots=True)
class Conversation:
    """Which talk a message belongs to: our number (an opaque id), the person's strongest id, and their other ids.

    `opens_need` True: a new ad referral, catalog order or product enquiry opens a need of its own.
    `number`: our number in digits, by which another provider knows the same talk; None: it does not say.
    """

    channel: str
    person: str = field(repr=False)
    aliases: tuple[str, ...] = field(default=(), repr=False)
    opens_need: bool = False
    number: str | None = None


@dataclass(frozen=True, slots=True)
class Incoming:
    """One message, submission or quote version.

    `request_id` None: the sender gives no id, identity is made of `content` within a window.
    `version` is the sender's ordering token within a need (quotes), None elsewhere.
    `content` is the allow-list of decoded raw business fields that the fingerprint is made of: JSON values only, no
    media URLs, profile names, times or tokens, never a library's output.
    `need_key` names the need where the sender numbers it (quote number), None: one event, one need (or a conversation).
    `on_change` says what other content under a known identity is: for a person ("conflict"), a later state that the
    event takes on ("update"), or another shape of the same ("known").
    `suspicion`: a flag of the lead, for which a person must release it first; None: nothing is held against it.
    """

    kind: SourceKind
    request_id: str | None
    lead: Lead
    content: Mapping[str, object] = field(repr=False)
    version: int | None = None
    need_key: str | None = None
    conversation: Conversation | None = None
    on_change: Literal["conflict", "update", "known"] = "conflict"
    suspicion: str | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A person who has another number or user id: `before` and `after` hold the ids alone.

    `conversation` is their talk, its person by the old id and, as an alias, by the new one.
    """

    before: Contact = field(repr=False)
    after: Contact = field(repr=False)
    conversation: Conversation


@dataclass(frozen=True, slots=True)
class Update:
    """News about something that stands already (edit, revoke, changed number): kept, never a lead.

    `news`: answers (label, value) that take the place of the event's own, as of `at`.  `text`: so do these words, and
    `mark` is put behind them or the event's own.  Without any of the three it is kept, and nothing changes.
    `also`: another request_id under which there will be news of the same event.  `otherwise`: what it is where that
    event never came, None: nothing.  `moved`: the person whose number or id is another one now.
    """

    about: str | None  # the request_id it is about
    kind: str
    news: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    at: datetime | None = None
    also: str | None = None
    otherwise: Incoming | None = None
    text: str | None = field(default=None, repr=False)
    mark: str | None = None
    moved: Moved | None = None


@dataclass(frozen=True, slots=True)
class Quarantined:
    """An authentic item that cannot become work as it is.  `fields`: field -> the rule it breaks (no values)."""

    reason: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything found in one delivery.

    `if_known`: news that a policy of the source ignores (and counts so), except for an event that stands.
    """

    events: tuple[Incoming, ...] = ()
    updates: tuple[Update, ...] = ()
    if_known: tuple[Update, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    ignored: int = 0


class Unreadable(Exception):
    """Nothing of this body can be read; the raw bytes are kept.  `fields`: field -> rule, as in `Quarantined`."""

    def __init__(self, reason: str, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fields = dict(fields or {})


class Provider(Protocol):
    """One sender's format."""

    @property
    def name(self) -> str:
        """As in `intake.toml`."""

    @property
    def kinds(self) -> frozenset[SourceKind]: ...

    @property
    def content_types(self) -> frozenset[str]:
        """Media types that are read; an empty set takes any.  Others are a 415."""

    def read(self, delivered: Delivered) -> Reading: ...

    def handshake(self, query: Mapping[str, str], verify_token: str | None) -> str | None:
        """The plain text that a GET is answered with; None: refused (or the provider has no handshake)."""

    def sign(self, body: bytes, *, secret: str, url: str, now: datetime, delivery_id: str) -> Mapping[str, str]:
        """Headers (with Content-Type) that make this body authentic, as the provider itself would send it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a sender is told when its delivery is accepted.  `headers` are ASCII."""

    text: str
    content_type: str
    headers: Mapping[str, str]


@runtime_checkable
class OwnAnswer(Protocol):
    """A provider whose sender reads the answer, and wants another than our JSON document."""

    def answer(self, document: Mapping[str, object]) -> Answer: ...


@runtime_checkable
class SetupCall(Protocol):
    """A provider that calls once by POST while its webhook is set up, unsigned, and wants headers of the call back."""

    def echoed(self, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        """The headers of our 200, which are ASCII; none: this is a delivery, and has to prove itself.  Never raises."""


@runtime_checkable
class SecretInBody(Protocol):
    """A provider whose bodies hold a secret, which must be gone before they are stored."""

    def scrub(self, body: bytes) -> bytes:
        """The body without it, still readable.  Never raises."""
