"""The rules of a quote, field by field, built once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields, post_load, validate
from marshmallow.types import ErrorMessages

from intake.sources import decoding
from intake.sources.base import Unreadable
from intake.sources.decoding import Json

MAX_ITEMS = 500
MAX_AMOUNT = Decimal(10) ** 12
MAX_DECIMALS = 6
MAX_VERSION = 2**31 - 1  # a PostgreSQL integer

TEXT_RULE = "must be a text of at most {} characters"
CURRENCY_RULE = "must be an ISO 4217 code such as PEN"
ITEMS_RULE = f"must be a list of at most {MAX_ITEMS} lines"
WHOLE_RULE = f"must be a whole number from 1 to {MAX_VERSION}"
AMOUNT_RULE = f'must be a decimal such as "1840.00", from 0 to 10^12, with at most {MAX_DECIMALS} decimals'
MOMENT_RULES: ErrorMessages = {"invalid": "must be an ISO 8601 moment", "invalid_awareness": "must have a time zone"}
OBJECT_RULES = {"type": "must be an object"}
PRESENCE_RULES: ErrorMessages = {"required": "is required", "null": "must not be null"}


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    quantity: Decimal
    sku: str | None = None
    unit_price: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Person:
    name: str | None = field(default=None, repr=False)
    phone: str | None = field(default=None, repr=False)
    email: str | None = field(default=None, repr=False)
    ruc: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote that keeps the rules.  `issued_at` is the sender's clock, None: not told."""

    number: str
    version: int
    currency: str
    amount: Decimal
    contact: Person
    items: tuple[Line, ...] = ()
    message: str | None = field(default=None, repr=False)
    issued_at: datetime | None = None


class Text(fields.Field[str | None]):
    """A trimmed text; blank counts as not given.  A number is no text: it would lose its leading zeros on the way."""

    default_error_messages = PRESENCE_RULES

    def __init__(self, longest: int, *, required: bool = False) -> None:
        super().__init__(required=required, allow_none=not required)
        self.longest = longest

    def _deserialize(
        self, value: object, attr: str | None, data: Mapping[str, object] | None, **kwargs: object
    ) -> str | None:
        del attr, data, kwargs
        if not isinstance(value, str) or len(value) > self.longest:
            raise ValidationError(TEXT_RULE.format(self.longest))
        if self.required and not value.strip():
            raise ValidationError("must not be blank")
        return value.strip() or None


class Whole(fields.Field[int]):
    """A whole number from 1; neither "1" nor 1.0 nor true is one."""

    default_error_messages = PRESENCE_RULES

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, object] | None, **kwargs: object) -> int:
        del attr, data, kwargs
        if type(value) is not int or not 1 <= value <= MAX_VERSION:
            raise ValidationError(WHOLE_RULE)
        return value


class Amount(fields.Field[Decimal]):
    """A decimal as text or number, from 0."""

    default_error_messages = PRESENCE_RULES

    def _deserialize(
        self, value: object, attr: str | None, data: Mapping[str, object] | None, **kwargs: object
    ) -> Decimal:
        del attr, data, kwargs
        given = value if isinstance(value, (str, int, Decimal)) else None
        amount = decoding.decimal(given)
        if amount is None or not 0 <= amount <= MAX_AMOUNT or amount != round(amount, MAX_DECIMALS):
            raise ValidationError(AMOUNT_RULE)
        return amount


class LineSchema(Schema):
    class Meta:
        unknown = EXCLUDE

    error_messages = OBJECT_RULES
    sku = Text(100)
    name = Text(500, required=True)
    quantity = Amount(required=True)
    unit_price = Amount(allow_none=True)

    @post_load
    def line(self, data: dict[str, Any], **_: object) -> Line:
        return Line(**data)


class PersonSchema(Schema):
    class Meta:
        unknown = EXCLUDE

    error_messages = OBJECT_RULES
    name = Text(300)
    phone = Text(100)
    email = Text(300)
    ruc = Text(40)

    @post_load
    def person(self, data: dict[str, Any], **_: object) -> Person:
        person = Person(**data)
        if not (person.name or person.phone or person.email):
            raise ValidationError("needs a name, a phone or an email")
        return person


class QuoteSchema(Schema):
    class Meta:
        unknown = EXCLUDE

    number = Text(64, required=True)
    version = Whole(required=True)
    issued_at = fields.AwareDateTime("iso", allow_none=True, error_messages=MOMENT_RULES)
    currency = fields.String(
        required=True,
        validate=validate.Regexp(r"\A[A-Z]{3}\Z", error=CURRENCY_RULE),
        error_messages={**PRESENCE_RULES, "invalid": CURRENCY_RULE},
    )
    amount = Amount(required=True)
    items = fields.List(
        fields.Nested(LineSchema(), error_messages=PRESENCE_RULES),
        validate=validate.Length(max=MAX_ITEMS, error=ITEMS_RULE),
        error_messages={"invalid": ITEMS_RULE, "null": ITEMS_RULE},
    )
    contact = fields.Nested(PersonSchema(), required=True, error_messages=PRESENCE_RULES)
    message = Text(20_000)

    @post_load
    def quote(self, data: dict[str, Any], **_: object) -> Quote:
        return Quote(**{**data, "items": tuple(data.get("items", ()))})


SCHEMA = QuoteSchema()
KNOWN = frozenset(SCHEMA.fields)


def checked(body: dict[str, Json]) -> Quote:
    """The quote in a JSON object.  Raises Unreadable with field -> rule, such as `items.0.unit_price`; no values."""
    try:
        quote: Quote = SCHEMA.load(body)
    except ValidationError as broken:
        raise Unreadable("invalid_quote", dict(_rules(broken.messages))) from None
    return quote


def _rules(messages: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """marshmallow's nested messages as flat field -> rule; the first rule of a field is enough."""
    match messages:
        case dict():
            for name, inner in messages.items():
                yield from _rules(inner, path if name == "_schema" else (*path, str(name)))
        case [first, *_]:
            yield from _rules(first, path)
        case _:
            yield ".".join(path) or "body", str(messages)
