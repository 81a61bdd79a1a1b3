"""Which answer is which field of a lead: by a source's own JSON Pointers, else by the names that forms commonly use.

Nothing that a visitor wrote is dropped: what is no field stands in `Lead.answers`, under its question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from intake import documents, emails, phones
from intake.lead import Attribution, Contact, Enquiry, Lead, Phone
from intake.sources import money
from intake.sources.decoding import decimal
from intake.sources.known_names import (
    ADVERTISING_WORDS,
    BEFORE_YES,
    CONSENT_WORDS,
    FIELD_OF,
    NO,
    NOT_AN_ANSWER,
    NOT_WRITTEN,
    PHONE_WORDS,
    YES,
)
from intake.sources.leaves import Leaf, in_order, words
from intake.sources.money import Money
from intake.sources.questions import spoken

CURRENCY = re.compile(r"[A-Z]{3}")  # ISO 4217
UTM = "utm_"
OF_AN_AD = frozenset({"click_id", "ad_id", "ad_headline"})
# A source points at a lead's fields by the names that its destination knows; one of them is another word here.
POINTED_AS: Mapping[str, str] = {"message": "text"}
# What only a messenger tells: a form's answer under this name stays an answer.
NOT_OF_A_FORM = ("username", "wa_id", "bsuid")


@dataclass(slots=True)
class _Sorted:
    """Answers by field (the first wins), attribution, and the rest in its order."""

    fields: dict[str, Leaf] = field(default_factory=dict)
    utm: dict[str, str] = field(default_factory=dict)
    rest: list[Leaf] = field(default_factory=list)

    def text(self, name: str) -> str | None:
        return self.fields[name].text if name in self.fields else None


@dataclass(frozen=True, slots=True)
class Form:
    """A lead as a form tells it, and the raw answers for its fingerprint by their JSON Pointers."""

    lead: Lead
    content: Mapping[str, object]


def read(
    answers: Iterable[Leaf],
    *,
    region: str,
    pointers: Mapping[str, str],
    flags: tuple[str, ...] = (),
    occurred_at: datetime | None = None,
) -> Form | None:
    """The lead in these answers; None if nobody wrote anything (only ids, times and tokens)."""
    pointed = {pointer: POINTED_AS.get(name, name) for name, pointer in pointers.items()}
    written = [leaf for leaf in answers if leaf.pointer in pointed or leaf.key not in NOT_AN_ANSWER]
    if not any(_by_a_person(leaf, pointed.get(leaf.pointer)) for leaf in written):
        return None
    found = _sorted(written, pointed)
    contact, enquiry, consent = _contact(found, region), _enquiry(found), _consent(found)
    lead = Lead(
        contact=contact,
        enquiry=enquiry,
        attribution=_attribution(found),
        consent=consent,
        answers=tuple((leaf.label, leaf.text) for leaf in (*found.rest, *_unread(found, contact, enquiry, consent))),
        flags=(*flags, *_flags(found, contact, region)),
        occurred_at=occurred_at,
    )
    return Form(lead, {leaf.pointer: leaf.text for leaf in written})


def _by_a_person(leaf: Leaf, pointed_as: str | None) -> bool:
    """Whether somebody wrote it; what a page fills in by itself makes no lead."""
    if pointed_as is not None:
        return not pointed_as.startswith(UTM) and pointed_as not in OF_AN_AD
    return leaf.key not in NOT_WRITTEN and _utm(leaf) is None and _known(leaf) not in OF_AN_AD


def _sorted(written: list[Leaf], pointed: Mapping[str, str]) -> _Sorted:
    found = _Sorted()
    for leaf in written:
        name = pointed.get(leaf.pointer) or _known(leaf)
        # A field that the source points at is not taken from elsewhere.
        if name and name.startswith(UTM):
            found.utm[name.removeprefix(UTM)] = leaf.text
        elif name and name not in found.fields and (leaf.pointer in pointed or name not in pointed.values()):
            found.fields[name] = leaf
        elif (parameter := _utm(leaf)) and parameter not in found.utm:
            found.utm[parameter] = leaf.text
        else:
            found.rest.append(leaf)
    return found


def _utm(leaf: Leaf) -> str | None:
    """The campaign parameter that it is, without its prefix: `utm_source`, and `source` in an object `utm`."""
    named = (name.removeprefix("utm") for name in (leaf.key, *leaf.names) if name.startswith("utm"))
    return next(filter(None, named), None)


def _known(leaf: Leaf) -> str | None:
    """The field that the answer's label names, as it stands or as people word a question."""
    names = leaf.names
    known = next((FIELD_OF[name] for name in names if name in FIELD_OF), None)
    return known or (FIELD_OF.get(spoken(leaf.label)) if names else None)


def _contact(found: _Sorted, region: str) -> Contact:
    phone, email = _contact_points(found, region)
    return Contact(
        name=_name(found),
        phone=phone,
        email=email,
        company=found.text("company"),
        document=found.text("document"),
    )


def _name(found: _Sorted) -> str | None:
    """The whole name; a family name beside it belongs to it, unless it is in it already."""
    first, last = found.text("name") or found.text("first_name"), found.text("last_name")
    return f"{first} {last}" if first and last and last not in first else first or last


def _contact_points(found: _Sorted, region: str) -> tuple[Phone | None, str | None]:
    """Phone and e-mail, each also where it was typed into the other's place or under a name that we do not know."""
    typed_phone, typed_email = found.text("phone"), found.text("email")
    phone = phones.read(typed_phone, region) if typed_phone else _phone_elsewhere(found, region)
    email = emails.read(typed_email) if typed_email else None
    swapped = emails.read(phone.raw) if email is None and phone and phone.e164 is None else None
    if typed_email and email is None and (phone is None or phone.e164 is None):
        phone = _number(typed_email, region) or phone
    return None if swapped and phone and phone.e164 is None else phone, email or swapped or _email_elsewhere(found)


def _number(typed: str, region: str) -> Phone | None:
    """None: it is no number."""
    phone = phones.read(typed, region)
    return phone if phone.e164 else None


def _phone_elsewhere(found: _Sorted, region: str) -> Phone | None:
    named = (leaf for leaf in found.rest if words(leaf.label) & PHONE_WORDS)
    return next((phone for leaf in named if (phone := _number(leaf.text, region))), None)


def _email_elsewhere(found: _Sorted) -> str | None:
    whole = (leaf.text for leaf in found.rest if emails.is_address(leaf.text))
    return next((email for text in whole if (email := emails.read(text))), None)


def _enquiry(found: _Sorted) -> Enquiry:
    currency, asked = (found.text("currency") or "").upper(), _money(found)
    return Enquiry(
        text=found.text("text") or "",
        product=found.text("product"),
        amount=asked.amount if asked else None,
        currency=currency if CURRENCY.fullmatch(currency) else asked.currency if asked else None,
    )


def _money(found: _Sorted) -> Money | None:
    return money.read(found.text("amount") or "")


def _attribution(found: _Sorted) -> Attribution:
    return Attribution(
        utm=tuple(found.utm.items()),
        ad_id=found.text("ad_id"),
        ad_headline=found.text("ad_headline"),
        click_id=found.text("click_id"),
    )


def _consent(found: _Sorted) -> bool | None:
    """What was ticked where it is asked for by name, else where a sentence asks for it."""
    asked = found.text("consent")
    if asked is not None:
        return _yes_or_no(asked)
    sentences = (leaf for leaf in found.rest if words(leaf.label) & CONSENT_WORDS)
    answers = (_yes_or_no(leaf.text) for leaf in sentences if not words(leaf.label) & ADVERTISING_WORDS)
    return next((answer for answer in answers if answer is not None), None)


def _yes_or_no(answer: str) -> bool | None:
    said = (word for word in in_order(answer) if word not in BEFORE_YES)
    first = next(said, None)
    return True if first in YES else False if first in NO else None


def _unread(found: _Sorted, contact: Contact, enquiry: Enquiry, consent: bool | None) -> Iterable[Leaf]:
    """Answers that have a field and could not be read as one: they stay answers."""
    read = dict.fromkeys(NOT_OF_A_FORM, False) | {
        "email": contact.email is not None and contact.email == emails.read(found.text("email") or ""),
        "amount": enquiry.amount is not None and decimal(found.text("amount")) is not None,
        "currency": enquiry.currency is not None,
        "consent": consent is not None,
        "first_name": "name" not in found.fields,
    }
    return (leaf for name, leaf in found.fields.items() if not read.get(name, True))


def _flags(found: _Sorted, contact: Contact, region: str) -> Iterable[str]:
    if contact.phone and contact.phone.e164 is None:
        yield "phone_unreadable"
    if "email" in found.fields and contact.email is None:
        yield "email_unreadable"
    if contact.document and (invalid := documents.flag(contact.document, region)):
        yield invalid
    if contact.phone is None and contact.email is None:
        yield "no_contact_point"
