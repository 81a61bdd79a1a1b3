"""What the rest of the program sees of the configuration: frozen values.  Their defaults are the file's defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from pathlib import Path
from typing import Final, Literal
from zoneinfo import ZoneInfo

from intake.business_time import BusinessDuration, BusinessHours
from intake.config.known import UNSIGNED
from intake.config.secret import Secret
from intake.config.template import Template
from intake.sources.base import SourceKind

SANDBOX: Final = "sandbox"  # The embedded sandbox CRM: a client's name, and a destination that always exists.

# The newest version on 29 November 2026, since 29 July 2026 (https://developers.facebook.com/docs/graph-api/changelog).
DEFAULT_GRAPH_URL: Final = "https://graph.facebook.com/v26.0"

# Where the Graph API says that files are (https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media).
DEFAULT_MEDIA_HOSTS: Final = ("https://lookaside.fbsbx.com",)

# Where the others are asked for files, and where these may lie.  360dialog serves what lies at Meta's under its own
# host (docs.360dialog.com, "Upload, retrieve or delete media"); Twilio sends on to a signed address of its CDN, earlier
# to Amazon S3 (www.twilio.com/docs/messaging/api/media-resource; public receivers).
MEDIA_URLS: Final[Mapping[str, str]] = {
    "whatsapp_360dialog": "https://waba-v2.360dialog.io",
    "twilio": "https://api.twilio.com",
}
MEDIA_HOSTS: Final[Mapping[str, tuple[str, ...]]] = {
    "twilio": (
        "https://mms.twiliocdn.com",
        "https://media.twiliocdn.com",
        "https://s3-external-1.amazonaws.com",
    ),
}

# The provider whose webhooks only name a lead; its answers are fetched with the source's `page_token`.
LEAD_ADS: Final = "meta_lead_ads"

DEFAULT_DUE: Final = BusinessDuration(2, "hour", business=True)
DEFAULT_TITLE: Final = Template("{contact} · {channel} · {product}")
DEFAULT_TASK_TITLE: Final = Template("Contactar a {contact}")
DEFAULT_CONTACT_NAME: Final = Template("{contact}")
DEFAULT_TIMEZONE: Final = ZoneInfo("America/Lima")
DEFAULT_HOURS: Final = BusinessHours.parse("mon-fri 09:00-18:00")


@dataclass(frozen=True, slots=True)
class Assignment:
    """`user` gets what meets every condition that is not None; without any, whatever comes.

    `region`: two capital letters are the country of the phone (ISO 3166), anything else a place named in an answer.
    """

    user: str
    product: str | None = None
    region: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """Who gets a new record: the first rule that names somebody who is still there.  Sent on creation only."""

    rule: tuple[str, ...] = ("affinity",)
    users: tuple[str, ...] = ()
    assign: tuple[Assignment, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskRule:
    """The adviser's task.  `type` is the CRM's own word, None: its default."""

    type: str | None = None
    due: BusinessDuration = DEFAULT_DUE


@dataclass(frozen=True, slots=True)
class ContactRule:
    """What is done where it is not certain which contact a person is.

    `several`: their details lead to more than one.  `other_name`: their telephone alone leads to one of another name,
    as in a family or an office.  "new": a contact of its own.
    """

    several: Literal["review", "new"] = "review"
    other_name: Literal["adopt", "new", "review"] = "adopt"


@dataclass(frozen=True, slots=True)
class OAuthRule:
    """How an account is connected by OAuth instead of by a fixed credential.

    Addresses None: the vendor's usual ones.  `key`: the private key (PEM) with which assertions for `subject` are
    signed.
    """

    client_id: str
    client_secret: Secret | None = None
    grant: Literal["authorization_code", "client_credentials", "jwt"] = "authorization_code"
    scopes: str = ""
    authorize_url: str | None = None
    token_url: str | None = None
    redirect_uri: str = "http://127.0.0.1:8765/callback"
    key: Secret | None = None
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Destination:
    """One CRM account.

    `oauth` None: it has a fixed credential, or none.
    `base_url` None: the sandbox's own; it is not shown, because some CRMs put a secret into it.  `credential` None:
    none is needed.  `assume_limit`: how long the CRM may still execute a request, where only its owner can say so.
    `opportunity_text` None: all that is known.  `fields`: lead field -> the CRM's field.  `pages`: kind of record ->
    where people see it.  `options` are words for the client alone.
    """

    name: str
    client: str
    base_url: str | None = field(default=None, repr=False)
    credential: Secret | None = None
    oauth: OAuthRule | None = None
    mode: Literal["live", "test"] = "live"
    pipeline: str | None = None
    stage: str | None = None
    currency: str | None = None  # ISO 4217
    opportunity_title: Template = DEFAULT_TITLE
    opportunity_text: Template | None = None
    task_title: Template = DEFAULT_TASK_TITLE
    contact_name: Template = DEFAULT_CONTACT_NAME
    assume_limit: timedelta | None = None
    owner: OwnerRule = OwnerRule()
    task: TaskRule = TaskRule()
    contacts: ContactRule = ContactRule()
    fields: Mapping[str, str] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def unfinished(self) -> str | None:
        """What the file has to say yet, in words; None: nothing."""
        if self.base_url is not None or self.client == SANDBOX:
            return None
        return f'base_url is missing: the client "{self.client}" needs the address of your account'

    @property
    def closed_because(self) -> str | None:
        """Why nothing can be delivered there, in words; None: it can."""
        if self.unfinished:
            return self.unfinished
        oauth = (self.oauth.client_secret, self.oauth.key) if self.oauth else ()
        return next((each.problem for each in (self.credential, *oauth) if each and each.problem), None)


@dataclass(frozen=True, slots=True)
class Source:
    """One inbound channel.  Its name is its identity.

    `enabled` False and `available` False (this version has no such provider yet): not served, 404.
    `page_token` reads at `graph_url` the leads that a webhook only names; None: they wait for one.
    `media_token` reads the files that came with messages, there or at `media_url`; None: they are not kept.  They lie
    at `media_hosts`.
    `pull_every` in minutes, 0: never by the clock; a shop is asked at `shop_url` with its REST key.  `closed_because`
    says why the source accepts nothing for now (503), None: it is open.  `scheme` None: any that the provider knows.
    `dedupe` is "id", "body", a JSON Pointer or a lower-case header name.  `key_retention_days` 0: identities are kept
    for ever; likewise contents, attempts and decisions, which `intake purge` takes away.
    `promise_minutes` 0: nothing is promised.  `approval_hours` 0: an approval lasts for good.
    `fields`: lead field -> JSON Pointer into the body.
    `allowed_origins` and `rate_per_minute` (of one address) are of sources whose forms browsers send themselves.
    """

    name: str
    kind: SourceKind
    provider: str
    secrets: tuple[Secret, ...]
    destination: str
    available: bool = True
    closed_because: str | None = None
    enabled: bool = True
    verify_token: Secret | None = None
    page_token: Secret | None = None
    graph_url: str = DEFAULT_GRAPH_URL
    media_token: Secret | None = None
    media_url: str = ""
    media_hosts: tuple[str, ...] = DEFAULT_MEDIA_HOSTS
    media_megabytes: int = 16
    shop_url: str | None = None
    consumer_key: Secret | None = None
    consumer_secret: Secret | None = None
    pull_every: int = 0
    test_destination: str = SANDBOX
    max_body_bytes: int = 3 * 1024 * 1024
    approval: Literal["none", "required"] = "none"
    approval_hours: int = 0
    opportunity_per: Literal["conversation", "message"] = "conversation"
    conversation_hours: int = 24
    when_closed: Literal["note", "new", "review"] = "review"
    accepted_status: Literal[200, 202] = 200
    scheme: str | None = None
    dedupe: str = "id"
    dedupe_window_minutes: int = 10
    identity_group: str | None = None
    renamed_from: str | None = None
    debounce_seconds: int = 20
    near_twin_minutes: int = 30
    order_policy: Literal["lead", "ignore"] = "lead"
    promise_minutes: int = 5
    hold: tuple[str, ...] = ()
    key_retention_days: int = 0
    payload_retention_days: int = 0
    attempt_retention_days: int = 0
    decision_retention_days: int = 0
    assignee: str | None = None
    idempotency_key: bool = False
    allow_get: bool = False
    allowed_origins: tuple[str, ...] = ()
    rate_per_minute: int = 30
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def named_by(self) -> str:
        """What names a delivery: `dedupe`, or the header of those that send keys."""
        return "idempotency-key" if self.idempotency_key or self.from_browsers else self.dedupe

    @property
    def from_browsers(self) -> bool:
        """Whether visitors' browsers deliver, which can hold no secret."""
        return self.provider in UNSIGNED

    @property
    def can_mend(self) -> bool:
        """Whether the sender's own program can mend what is refused; for all others it is kept for a person."""
        return self.provider == "quote" or self.idempotency_key or self.from_browsers

    @property
    def approval_lasts(self) -> timedelta | None:
        """How long after it an approval lets something be delivered; None: for good."""
        return timedelta(hours=self.approval_hours) if self.approval_hours else None

    @property
    def cannot_fetch(self) -> str | None:
        """Why the leads that its webhooks name cannot be read, in words; None: they can, or nothing has to be."""
        if self.provider != LEAD_ADS or not self.enabled:
            return None
        return self.page_token.problem if self.page_token else "it has no page_token"

    @property
    def first_state(self) -> Literal["awaiting_approval", "received"]:
        """The state in which its events begin."""
        return "awaiting_approval" if self.approval == "required" else "received"

    @property
    def secret_values(self) -> tuple[str, ...]:
        """What a proof is tried with: the secrets that were found, in the file's order, or the origins of browsers."""
        if self.from_browsers:
            return self.allowed_origins
        return tuple(secret.value for secret in self.secrets if secret.value is not None)


@dataclass(frozen=True, slots=True)
class Alerts:
    """Who is told what needs a person.  A channel whose secret is None is not used.

    `email_from` None: the first of `email_to`.  `heartbeat_url` is called by the clock each minute, so that somebody
    else notices when it stops.  `digest_at` None: no digest; by the wall clock of `Settings.timezone`.
    `console_url` None: the installation's `public_base_url`.
    """

    webhook_url: Secret | None = None
    format: Literal["slack", "json"] = "slack"
    email_to: tuple[str, ...] = ()
    email_from: str | None = None
    smtp_url: Secret | None = None
    heartbeat_url: Secret | None = None
    digest_at: time | None = None
    console_url: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything in `intake.toml`.

    `spool_dir` None: no spool, without PostgreSQL nothing is acknowledged; `spool_persistent`: a person knows that the
    folder is there after a restart.  `notices` are what a person should be told
    at the start (missing secrets, providers not built in): references and names, never values.
    """

    sources: Mapping[str, Source]
    destinations: Mapping[str, Destination]
    public_base_url: str = "http://127.0.0.1:8080"  # no trailing slash
    region: str = "PE"  # ISO 3166
    timezone: ZoneInfo = DEFAULT_TIMEZONE
    language: Literal["es", "en"] = "es"
    spool_dir: Path | None = None
    spool_megabytes: int = 256
    spool_persistent: bool = False
    business_hours: BusinessHours = DEFAULT_HOURS
    holidays: frozenset[date] = frozenset()
    reconcile_at: time = time(3)
    alerts: Alerts = Alerts()
    notices: tuple[str, ...] = ()
