"""What a person may change in a lead, and by which rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal

from intake import documents, emails, phones
from intake.lead import Lead

# What a CRM's shortest field of its kind holds, roughly; a longer text is a slip of the clipboard.
LONGEST = {"name": 300, "company": 300, "product": 500, "text": 20_000}
AMOUNT = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")
CURRENCY = re.compile(r"[A-Z]{3}")


class InvalidCorrection(ValueError):
    """Nothing was corrected.  `fields`: field -> the rule that its new value breaks."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__(f"invalid: {', '.join(sorted(fields))}")
        self.fields = dict(fields)


class _Broken(ValueError):
    """The rule that a value breaks, as its message."""


def correct(lead: Lead, changes: Mapping[str, str], *, region: str) -> Lead:
    """The lead with these fields changed; a blank value empties its field.  Raises InvalidCorrection.

    Flags that a correction answers are gone, the others stay.  `region` is the country of numbers typed without one.
    """
    broken: dict[str, str] = {}
    for field, value in changes.items():
        try:
            lead = _corrected(lead, field, value.strip(), region)
        except _Broken as rule:
            broken[field] = str(rule)
    if broken:
        raise InvalidCorrection(broken)
    return lead


def _corrected(lead: Lead, field: str, value: str, region: str) -> Lead:
    change = CHANGES.get(field)
    if change is None:
        raise _Broken(f"is no field; the fields are {', '.join(CHANGES)}")
    # Neither can stand in a database's text, nor in JSON.
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise _Broken("must be text without control characters")
    return change(lead, value, region)


def _name(lead: Lead, value: str, region: str) -> Lead:
    del region
    return replace(lead, contact=replace(lead.contact, name=_short("name", value)))


def _phone(lead: Lead, value: str, region: str) -> Lead:
    phone = phones.read(value, region) if value else None
    if phone and phone.e164 is None:
        raise _Broken(f"must be a phone number ({phone.reason})")
    return _without(replace(lead, contact=replace(lead.contact, phone=phone)), "phone_unreadable", "no_contact_point")


def _email(lead: Lead, value: str, region: str) -> Lead:
    del region
    if value and not emails.is_address(value):
        raise _Broken("must be an e-mail address")
    email = emails.read(value) if value else None
    return _without(replace(lead, contact=replace(lead.contact, email=email)), "email_unreadable", "no_contact_point")


def _company(lead: Lead, value: str, region: str) -> Lead:
    del region
    return replace(lead, contact=replace(lead.contact, company=_short("company", value)))


def _document(lead: Lead, value: str, region: str) -> Lead:
    if value and documents.flag(value, region):
        raise _Broken("must be a RUC or DNI whose check digit is right")
    return _without(replace(lead, contact=replace(lead.contact, document=value or None)), documents.INVALID)


def _text(lead: Lead, value: str, region: str) -> Lead:
    del region
    return replace(lead, enquiry=replace(lead.enquiry, text=_short("text", value) or ""))


def _product(lead: Lead, value: str, region: str) -> Lead:
    del region
    return replace(lead, enquiry=replace(lead.enquiry, product=_short("product", value)))


def _amount(lead: Lead, value: str, region: str) -> Lead:
    del region
    if value and not AMOUNT.fullmatch(value):
        raise _Broken("must be a decimal such as 1840.00, from 0, without separators of thousands")
    amount = Decimal(value) if value else None
    return _without(replace(lead, enquiry=replace(lead.enquiry, amount=amount)), "amount_mismatch")


def _currency(lead: Lead, value: str, region: str) -> Lead:
    del region
    if value and not CURRENCY.fullmatch(value.upper()):
        raise _Broken("must be an ISO 4217 code such as PEN")
    return _without(replace(lead, enquiry=replace(lead.enquiry, currency=value.upper() or None)), "mixed_currencies")


CHANGES: Mapping[str, Callable[[Lead, str, str], Lead]] = {
    "name": _name,
    "phone": _phone,
    "email": _email,
    "company": _company,
    "document": _document,
    "text": _text,
    "message": _text,  # as the configuration calls it
    "product": _product,
    "amount": _amount,
    "currency": _currency,
}


def _short(field: str, value: str) -> str | None:
    if len(value) > LONGEST[field]:
        raise _Broken(f"must have at most {LONGEST[field]} characters")
    return value or None


def _without(lead: Lead, *answered: str) -> Lead:
    return replace(lead, flags=tuple(flag for flag in lead.flags if flag not in answered))
