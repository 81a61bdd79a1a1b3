"""The normalized content of one event: who asks, what for, and where they came from.

These are values.  Everything in them came from outside and was cleaned at the door (`clean_text`); nothing in them is
trusted to be complete: a lead may have no name, no phone and no text, and is a lead all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal


@dataclass(frozen=True, slots=True)
class Phone:
    """A phone as typed, and what we read in it.  `e164` None: unreadable, a flag and never a refusal."""

    raw: str = field(repr=False)
    e164: str | None = field(default=None, repr=False)
    verdict: Literal["ok", "repaired", "flagged", "not_a_phone"] = "ok"
    reason: str = ""
    variants: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Contact:
    """The person.  `wa_id` is WhatsApp's number of them (digits), `bsuid` its business-scoped id."""

    name: str | None = field(default=None, repr=False)
    phone: Phone | None = None
    email: str | None = field(default=None, repr=False)
    company: str | None = field(default=None, repr=False)
    document: str | None = field(default=None, repr=False)  # RUC (11 digits) or DNI (8 digits), as typed and trimmed
    wa_id: str | None = field(default=None, repr=False)
    bsuid: str | None = field(default=None, repr=False)
    username: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a quote or order."""

    name: str
    sku: str | None = None
    quantity: Decimal | None = None
    unit_price: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Media:
    """A file that the sender holds; fetched later, never inside the request."""

    kind: str  # image, video, document, audio, voice, sticker
    id: str | None = None
    mime_type: str | None = None
    filename: str | None = field(default=None, repr=False)
    reference: str | None = None  # how it is called once it is kept here; None: it is not to be kept


@dataclass(frozen=True, slots=True)
class Enquiry:
    """What is asked for."""

    text: str = field(default="", repr=False)
    product: str | None = None
    amount: Decimal | None = None
    currency: str | None = None  # ISO 4217
    items: tuple[Item, ...] = ()
    media: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribution:
    """Where they came from: utm parameters by their names without `utm_`, and the ad that was pressed."""

    utm: tuple[tuple[str, str], ...] = ()
    ad_id: str | None = None
    ad_headline: str | None = None
    click_id: str | None = None  # gclid, fbclid, ctwa_clid


# A flag: the answers of this lead are still at its sender, and are fetched before it is delivered.
FETCH_PENDING = "fetch_pending"
# A flag: the sender changed it after it came first.  The CRM's texts do not name it; what changed is told in a note.
UPDATED = "updated_by_sender"
# A flag: the person has another number now, says who runs the channel; the contact in the CRM is to follow.
NUMBER_CHANGED = "number_changed"
# A flag: the sender changed something else since a person corrected this lead, whose values stand.
CORRECTIONS_KEPT = "corrections_kept"


@dataclass(frozen=True, slots=True)
class Lead:
    """One enquiry of one person.

    `answers` are the form's other fields in their order, as (label, value): nothing a visitor wrote is dropped.
    `flags` say what a person should know: "phone_unreadable", "document_invalid", "charset_guessed", "empty"...
    `consent` None: the form did not ask.  `as_of`: which state of the sender's this is, by its clock, where it tells
    one beside the time at which it began (`occurred_at`).
    """

    contact: Contact
    enquiry: Enquiry = Enquiry()
    attribution: Attribution = Attribution()
    consent: bool | None = None
    answers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    flags: tuple[str, ...] = ()
    occurred_at: datetime | None = None  # by the sender's clock
    as_of: datetime | None = None
