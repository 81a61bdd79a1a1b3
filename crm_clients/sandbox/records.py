"""What the sandbox takes for each kind of record, and how it writes it back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal

from marshmallow import RAISE, Schema, ValidationError, fields, validate

from crm_clients.sandbox.profiles import Profile

Json = dict[str, object]

OWNERS = {"ana": "Ana", "luis": "Luis", "rosa": "Rosa"}
KINDS = {"contacts": "contact", "opportunities": "opportunity", "tasks": "task", "notes": "note"}
CHILDREN = frozenset({"task", "note"})
# The field that names a record's parent, and the parent's kind.
PARENTS = {
    "opportunity": ("contact_id", "contact"),
    "task": ("opportunity_id", "opportunity"),
    "note": ("opportunity_id", "opportunity"),
}
FILTERS = {
    "contact": frozenset({"reference", "phone", "email"}),
    "opportunity": frozenset({"reference", "contact_id"}),
    "task": frozenset({"reference", "opportunity_id"}),
    "note": frozenset({"reference", "opportunity_id"}),
}
REFERENCE = re.compile(r"[A-Za-z0-9._:-]{1,100}")
# A marker at the end of a text counts as the reference of a record that has no field for one; the ledger shows it.
MARKER = re.compile(rf"\[ref:({REFERENCE.pattern})\]\Z")
LONGEST_TEXT = 50_000


class Invalid(Exception):
    """A body that breaks a rule; `problems`: field -> the rule."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(", ".join(problems))
        self.problems = dict(problems)


def _storable(value: str) -> None:
    if any(letter == "\x00" or "\ud800" <= letter <= "\udfff" for letter in value):
        raise ValidationError("Holds a character that is no text.")


def _line(*, required: bool = False, longest: int = 200, may_be_null: bool = False) -> fields.String:
    shortest = 1 if required else 0
    return fields.String(
        required=required, allow_none=may_be_null, validate=[validate.Length(shortest, longest), _storable]
    )


class Amount(fields.Field[str]):
    """A decimal number as a string, written back with two places."""

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: object) -> str:  # noqa: ARG002
        if not isinstance(value, str) or not re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,6})?", value, re.ASCII):
            raise ValidationError("Not a decimal number in a string.")
        return str(Decimal(value).quantize(Decimal("0.01"), ROUND_HALF_UP))


class Common(Schema):
    class Meta:
        unknown = RAISE

    reference = fields.String(validate=validate.Regexp(REFERENCE.pattern + r"\Z"))
    text = fields.String(validate=[validate.Length(max=LONGEST_TEXT), _storable])


class Owned(Common):
    owner_id = fields.String(validate=validate.OneOf(OWNERS), allow_none=True)
    fields_ = fields.Dict(
        keys=fields.String(validate=validate.Regexp(r"[a-z][a-z0-9_]{0,39}\Z")),
        values=_line(longest=2000),
        data_key="fields",
    )


class Contact(Owned):
    name = _line(required=True)
    phone = fields.String(validate=validate.Regexp(r"\+?[0-9 ()-]{3,30}\Z"))
    email = fields.Email(validate=validate.Length(max=254))
    company = _line()


class Opportunity(Owned):
    title = _line(required=True)
    contact_id = _line(required=True, may_be_null=True)  # people unlink contacts
    amount = Amount()
    currency = fields.String(validate=validate.Regexp(r"[A-Z]{3}\Z"))
    pipeline = _line()
    stage = _line()


class Task(Owned):
    title = _line(required=True)
    opportunity_id = _line(required=True)
    due_at = fields.AwareDateTime(format="iso")
    type = _line()


class Note(Common):
    text = fields.String(required=True, validate=[validate.Length(1, LONGEST_TEXT), _storable])
    opportunity_id = _line(required=True)


SCHEMAS: dict[str, type[Schema]] = {
    "contact": Contact,
    "opportunity": Opportunity,
    "task": Task,
    "note": Note,
}


def has_reference(kind: str, profile: Profile) -> bool:
    """Whether this kind has a reference field in this profile."""
    return profile.child_reference or kind not in CHILDREN


def checked(kind: str, body: object, profile: Profile, *, partial: bool = False) -> Json:
    """The fields of a body as they are stored.  `partial`: an update, without reference.  Raises Invalid."""
    if not isinstance(body, dict):
        raise Invalid({"_": "Not a JSON object."})
    if "reference" in body and (partial or not has_reference(kind, profile)):
        raise Invalid({"reference": "Unknown field."})
    try:
        loaded: Mapping[str, object] = SCHEMAS[kind](partial=partial).load(body)
    except ValidationError as invalid:
        raise broken(invalid) from None
    return {name.rstrip("_"): _written(value) for name, value in loaded.items()}


def broken(invalid: ValidationError) -> Invalid:
    """What marshmallow found, one sentence a field."""
    messages = invalid.messages if isinstance(invalid.messages, dict) else {"_": invalid.messages}
    return Invalid({str(field): _rule(rule) for field, rule in messages.items()})


def _rule(messages: object) -> str:
    """One sentence of what marshmallow says about a field; rules only, never a value."""
    while isinstance(messages, dict | list) and messages:
        messages = next(iter(messages.values())) if isinstance(messages, dict) else messages[0]
    return str(messages)


def _written(value: object) -> object:
    return value.isoformat() if hasattr(value, "isoformat") else value


def marked(record: Mapping[str, object]) -> str | None:
    """The reference that a record bears, in its field or as a marker at the end of its text."""
    if isinstance(reference := record.get("reference"), str):
        return reference
    found = MARKER.search(str(record.get("text") or ""))
    return found.group(1) if found else None
