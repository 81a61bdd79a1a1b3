"""What a CRM client is: pure functions between our drafts and one CRM's requests and answers.

A client does no I/O.  It turns a draft into a `Request`, and a `Response` into an outcome; `transport` sends.  So every
client can be tested with recordings, and the rules about doubt stand in one place (`workers`).

    Draft ──client.create──> Request ──transport──> Response ──client.created──> Written
    reference ──client.find──> Request ──transport──> Response ──client.found──> Looked
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Literal, Protocol


class Kind(StrEnum):
    """The kinds of record that we want to exist once."""

    CONTACT = "contact"
    OPPORTUNITY = "opportunity"
    TASK = "task"
    NOTE = "note"


# --- what we want to exist ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ContactDraft:
    """A person.  `phone` is E.164; `fields` are the CRM's own field names from `[destinations.fields]`, with values."""

    name: str
    phone: str | None = field(default=None, repr=False)
    email: str | None = field(default=None, repr=False)
    company: str | None = None
    owner: str | None = None
    fields: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class OpportunityDraft:
    """A chance of a sale.  `pipeline` and `stage` are the CRM's ids or names, None: its default.

    `received_at` is aware: when the lead came, for CRMs that want the day on which a deal may close; None: not known.
    """

    title: str
    text: str = field(repr=False)
    contact_id: str
    amount: Decimal | None = None
    currency: str | None = None
    owner: str | None = None
    pipeline: str | None = None
    stage: str | None = None
    fields: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    received_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """What the adviser has to do.  `due_at` is aware; `type` is the CRM's own word, None: its default."""

    title: str
    opportunity_id: str
    due_at: datetime
    owner: str | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """A text on an opportunity: what the person wrote later.  `said_at` is aware; None: nobody knows."""

    text: str = field(repr=False)
    opportunity_id: str
    said_at: datetime | None = None


Draft = ContactDraft | OpportunityDraft | TaskDraft | NoteDraft


def kind_of(draft: Draft) -> Kind:
    """The kind of record that a draft becomes."""
    match draft:
        case ContactDraft():
            return Kind.CONTACT
        case OpportunityDraft():
            return Kind.OPPORTUNITY
        case TaskDraft():
            return Kind.TASK
        case NoteDraft():
            return Kind.NOTE


# --- the wire ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request below the account's base URL.  The credential is not in it: `transport` adds the account's."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str  # begins with "/", already percent-encoded
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer.  Header names are lower-case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


# --- what an answer to a write means -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The record exists under this id.  `how` says how we know: answer, look, adopted."""

    crm_id: str
    how: Literal["answer", "look", "adopted"] = "answer"


@dataclass(frozen=True, slots=True)
class Retry:
    """Surely not executed; may be sent again.

    `after` is what the CRM asked for, None: our backoff decides.  `scope` "account" asks for a control call: if that
    fails too, the account is paused; if it works, the fault is the item's, and a person's.  `passing` (a rate limit):
    it goes by itself, so that the item waits even if a control call works.
    """

    reason: str
    after: timedelta | None = None
    scope: Literal["item", "account"] = "item"
    passing: bool = False


@dataclass(frozen=True, slots=True)
class Rejected:
    """Surely not executed, and the same again would be refused again: a person must act.  `fields`: (field, rule)."""

    reason: str
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The CRM says that such a record exists, by our reference or by its own rule: look before anything else.

    Surely not executed.  `by` "reference" is ours if the record read back carries it; `by` another rule (email, name)
    is not ours.  `crm_id` is the existing record where the CRM names it.
    """

    by: Literal["reference", "email", "phone", "name", "other"]
    crm_id: str | None = None


@dataclass(frozen=True, slots=True)
class Uncertain:
    """It may have been executed.  `candidates` are ids that the answer hints at."""

    reason: str
    candidates: tuple[str, ...] = ()


Written = Confirmed | Retry | Rejected | Duplicate | Uncertain


# --- what a look sees --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Seen:
    """A record as the CRM shows it now.

    `values` are the guarded fields in a form fit for comparing (`title`, `text`, `amount`, `currency`, ...), for kinds
    that are updated.  `live` False: in the trash, archived or merged.  `text` holds the installation id on a sentinel.
    `closed`: an opportunity that is won or lost; None: the CRM does not tell, or it is no opportunity.
    `merged_into`: the id of the record that was kept when people merged this one; None: none, or the CRM does not tell.
    """

    crm_id: str
    reference: str | None
    owner: str | None = None
    live: bool = True
    contact_id: str | None = None
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    closed: bool | None = None
    merged_into: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Exactly one record bears the reference asked for (compared on our side, with case), or has the id asked for."""

    seen: Seen


@dataclass(frozen=True, slots=True)
class Absent:
    """The CRM answered that there is none.  How far that may be trusted, the capability and the proof say."""


@dataclass(frozen=True, slots=True)
class Several:
    """More than one record under one reference: an incident."""

    crm_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unsure:
    """The look told nothing: an error, an answer we cannot read, no answer.  It costs no budget."""

    reason: str
    after: timedelta | None = None
    scope: Literal["item", "account"] = "item"


Looked = Found | Absent | Several | Unsure


# --- what a CRM can do -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Capability:
    """What one CRM promises for one kind of record; the strategy of `workers.strategy` follows from it alone.

    `reference`: "enforced" (a second create under it is refused), "stored" (kept and searchable, not unique), "marker"
    (no field for it: it stands in the text, and the parent's children are listed), "none".
    `look` "strong": what exists is seen by `find` at the latest `lag` after its commit.
    `limit`: how long after it got the last byte the server may still execute a request; None: unknown.
    `currencies`: those in which it keeps an amount (ISO 4217), None: any; an amount in another one stands in the text.
    `changes_phone`: a contact's `Seen.values` show its "phone", and `update` puts another in its place and touches no
    other number of the contact.
    """

    reference: Literal["enforced", "stored", "marker", "none"]
    look: Literal["strong", "weak"] = "strong"
    lag: timedelta = timedelta(0)
    limit: timedelta | None = None
    returns_id: bool = True
    unique_name: bool = False
    sees_archived: bool = True
    absence_may_mean_done: bool = False
    currencies: frozenset[str] | None = None
    changes_phone: bool = False


@dataclass(frozen=True, slots=True)
class Account:
    """Where a client's requests go.  The base URL belongs to the credential: neither is used with another's.

    `places`: for CRMs that want a credential inside the path or the body.  A client leaves a placeholder there, which
    its quoting can make of nothing else; `transport` puts the secret in its first place, so that no stored request
    holds it.  `members`: what such a CRM wants as members of the JSON object that a body is.
    """

    name: str
    base_url: str  # no trailing slash
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    places: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    members: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class Client(Protocol):
    """One CRM.  Built once per destination from its settings; frozen; no I/O, no clock, no randomness.

    Every `…ed` method takes whatever an HTTP server can answer, and raises nothing.
    """

    @property
    def name(self) -> str: ...

    @property
    def verified(self) -> bool:
        """False: never run against a server that keeps state; shown so, and conservative."""

    def capability(self, kind: Kind) -> Capability: ...

    def create(self, draft: Draft, reference: str) -> Request:
        """The request that makes this record bear this reference ([a-z0-9-]{1,64})."""

    def created(self, kind: Kind, response: Response) -> Written: ...

    def find(self, kind: Kind, reference: str, *, parent_id: str | None) -> Request:
        """The strongest look for a reference.  `parent_id`: the opportunity of a task or note."""

    def found(self, kind: Kind, reference: str, response: Response) -> Looked: ...

    def read(self, kind: Kind, crm_id: str) -> Request:
        """One record by its id, with owner and liveness."""

    def was_read(self, kind: Kind, crm_id: str, response: Response) -> Looked:
        """Found, or Absent when the CRM says that this id does not exist (any more)."""

    def update(self, kind: Kind, crm_id: str, changes: Mapping[str, str]) -> Request:
        """A partial update of guarded fields (names as in `Seen.values`); owner and stage are never among them."""

    def updated(self, kind: Kind, crm_id: str, response: Response) -> Written: ...

    def matches(self, draft: ContactDraft) -> tuple[Request, ...]:
        """Looks for an existing contact that is not under our reference, by phone and e-mail; () if not supported."""

    def matched(self, draft: ContactDraft, response: Response) -> tuple[Seen, ...]:
        """The live contacts in such an answer whose phone or email really is the draft's (compared on our side).

        Raises UnreadableAnswer where the answer cannot be trusted to mean anything.
        """

    def opportunities_of(self, contact_id: str) -> Request | None:
        """The opportunities of one contact; None: the CRM cannot list them."""

    def listed(self, contact_id: str, response: Response) -> tuple[Seen, ...]:
        """All opportunities in such an answer that really are the contact's.

        Raises UnreadableAnswer where the answer is no such list, or not the whole of it.
        """

    def control(self) -> Request:
        """The control call: proves that credential and account work, whatever is wrong with one item."""

    def controlled(self, response: Response) -> Unsure | None:
        """None: the account works."""

    def sentinel(self, kind: Kind, installation: str, *, parent_id: str | None) -> Draft:
        """A harmless record for positive controls; `Seen.values["text"]` shows the installation id in it again."""


class UnreadableAnswer(Exception):
    """The CRM answered something that the client cannot read; nothing may be concluded from it."""
