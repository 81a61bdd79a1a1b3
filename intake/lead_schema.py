"""The JSON form of a Lead, as it is stored and as the API shows it, and the corrections that a person may make to one.

    load(dump(lead)) == lead          # for any lead

The form is canonical (sorted keys, no blanks): equal leads are equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields, post_load, validate

from intake.corrections import InvalidCorrection, correct
from intake.lead import Attribution, Contact, Enquiry, Item, Lead, Media, Phone

__all__ = ["InvalidCorrection", "NotALead", "correct", "dump", "legible", "load"]


class NotALead(ValueError):
    """These bytes are not what `dump` wrote."""


class Exact(fields.Field[Decimal]):
    """A Decimal as the text that names it exactly, with its trailing zeros and exponent."""

    def _deserialize(
        self, value: object, attr: str | None, data: Mapping[str, object] | None, **kwargs: object
    ) -> Decimal:
        del attr, data, kwargs
        if not isinstance(value, str):
            raise ValidationError("must be a decimal as text")
        try:
            return Decimal(value)
        except ArithmeticError:
            raise ValidationError("must be a decimal as text") from None


class Pair(fields.Tuple):
    """Two texts, such as a question and its answer."""

    def __init__(self) -> None:
        super().__init__((fields.String(), fields.String()))


class Tolerant(Schema):
    class Meta:
        # A version of us that was rolled back reads what a newer one stored.
        unknown = EXCLUDE


def maybe() -> fields.String:
    return fields.String(allow_none=True)


class PhoneSchema(Tolerant):
    raw = fields.String(required=True)
    e164 = maybe()
    verdict = fields.String(validate=validate.OneOf(("ok", "repaired", "flagged", "not_a_phone")))
    reason = fields.String()
    variants = fields.List(fields.String())

    @post_load
    def made(self, data: dict[str, Any], **_: object) -> Phone:
        return Phone(**_tuples(data))


class ContactSchema(Tolerant):
    name = maybe()
    phone = fields.Nested(PhoneSchema(), allow_none=True)
    email = maybe()
    company = maybe()
    document = maybe()
    wa_id = maybe()
    bsuid = maybe()
    username = maybe()

    @post_load
    def made(self, data: dict[str, Any], **_: object) -> Contact:
        return Contact(**data)


class ItemSchema(Tolerant):
    name = fields.String(required=True)
    sku = maybe()
    quantity = Exact(allow_none=True)
    unit_price = Exact(allow_none=True)

    @post_load
    def made(self, data: dict[str, Any], **_: object) -> Item:
        return Item(**data)


class MediaSchema(Tolerant):
    kind = fields.String(required=True)
    id = maybe()
    mime_type = maybe()
    filename = maybe()
    reference = maybe()

    @post_load
    def made(self, data: dict[str, Any], **_: object) -> Media:
        return Media(**data)


class EnquirySchema(Tolerant):
    text = fields.String()
    product = maybe()
    amount = Exact(allow_none=True)
    currency = maybe()
    items = fields.List(fields.Nested(ItemSchema()))
    media = fields.List(fields.Nested(MediaSchema()))

    @post_load
    def made(self, data: dict[str, Any], **_: object) -> Enquiry:
        return Enquiry(**_tuples(data))


class AttributionSchema(Tolerant):
    utm = fields.List(Pair())
    ad_id = maybe()
    ad_headline = maybe()
    click_id = maybe()

    @post_load
    def made(self, data: dict[str, Any], **_: object) -> Attribution:
        return Attribution(**_tuples(data))


class LeadSchema(Tolerant):
    contact = fields.Nested(ContactSchema(), required=True)
    enquiry = fields.Nested(EnquirySchema())
    attribution = fields.Nested(AttributionSchema())
    consent = fields.Boolean(allow_none=True)
    answers = fields.List(Pair())
    flags = fields.List(fields.String())
    occurred_at = fields.AwareDateTime("iso", allow_none=True)
    as_of = fields.AwareDateTime("iso", allow_none=True)

    @post_load
    def made(self, data: dict[str, Any], **_: object) -> Lead:
        return Lead(**_tuples(data))


SCHEMA = LeadSchema()


def dump(lead: Lead) -> bytes:
    """Canonical JSON of a lead, UTF-8.  Times are written in UTC."""
    return json.dumps(lead, default=_plain, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _plain(value: object) -> object:
    """What JSON has no form for: a part of a lead as an object of its fields, which are its slots."""
    match value:
        case Decimal():
            return str(value)
        case datetime():
            return value.astimezone(UTC).isoformat()
        case Lead() | Contact() | Phone() | Enquiry() | Item() | Media() | Attribution():
            return {name: getattr(value, name) for name in value.__slots__}
        case _:
            raise TypeError(f"no part of a lead: {type(value).__name__}")


def load(stored: bytes) -> Lead:
    """The lead that `dump` wrote.  Raises NotALead, without naming a value."""
    try:
        lead: Lead = SCHEMA.load(json.loads(stored))
    except ValidationError as broken:
        raise NotALead(f"rules broken in: {', '.join(map(str, broken.messages_dict))}") from None
    except (ValueError, RecursionError):
        raise NotALead("not JSON") from None
    return lead


def legible(stored: bytes) -> Lead | None:
    """As `load`; None: it is none, for whoever reads many and goes on without it."""
    try:
        return load(stored)
    except NotALead:
        return None


def _tuples(data: dict[str, Any]) -> dict[str, Any]:
    """Lists are JSON's; a lead is frozen."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
