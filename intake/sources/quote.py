"""Our own format for quotes, for a company's own programs: strict, because a program can mend what it is told.

The quote number is the need, the version its ordering token.  A body that breaks a rule is refused with field -> rule;
what only a person could mend (a RUC with a wrong check digit, a sum that does not add up) is a flag.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from intake import authenticity, documents, emails, phones
from intake.lead import Contact, Enquiry, Item, Lead
from intake.sources.base import Delivered, Incoming, Reading, SourceKind, Unreadable
from intake.sources.decoding import Json, credible, plain, read_json
from intake.sources.leaves import leaves
from intake.sources.quote_schema import KNOWN, Line, Quote, checked

# The fingerprint's fields: all that is business, without `issued_at` and what is the identity.
CONTENT = ("currency", "amount", "items", "contact", "message")


@dataclass(frozen=True, slots=True)
class QuoteProvider:
    """One delivery is one version of one quote.  Another body under the same number and version is a conflict."""

    name: str = "quote"
    kinds: frozenset[SourceKind] = frozenset({"quote"})
    content_types: frozenset[str] = frozenset({"application/json"})

    def read(self, delivered: Delivered) -> Reading:
        decoded = read_json(delivered.body)
        if not isinstance(decoded.value, dict):
            raise Unreadable("not_an_object", {"body": "must be a JSON object"})
        quote = checked(decoded.value)
        lead = _lead(quote, decoded.value, delivered.region, decoded.flags)
        content = {field: plain(decoded.value[field]) for field in CONTENT if field in decoded.value}
        return Reading((Incoming("quote", quote.number, lead, content, version=quote.version, need_key=quote.number),))

    def handshake(self, query: Mapping[str, str], verify_token: str | None) -> str | None:  # noqa: ARG002
        return None

    def sign(self, body: bytes, *, secret: str, url: str, now: datetime, delivery_id: str) -> Mapping[str, str]:
        proof = authenticity.sign(self.name, secret=secret, body=body, url=url, now=now, delivery_id=delivery_id)
        return {"content-type": "application/json", **proof}


def _lead(quote: Quote, body: dict[str, Json], region: str, flags: tuple[str, ...]) -> Lead:
    person = quote.contact
    contact = Contact(
        name=person.name,
        phone=phones.read(person.phone, region) if person.phone else None,
        email=emails.read(person.email) if person.email else None,
        document=person.ruc,
    )
    # Fields that we do not know are kept, not refused: a program may send more than we read.
    unknown = {name: value for name, value in body.items() if name not in KNOWN}
    return Lead(
        contact=contact,
        enquiry=Enquiry(
            text=quote.message or "",
            product=quote.items[0].name if len(quote.items) == 1 else None,
            amount=quote.amount,
            currency=quote.currency,
            items=tuple(Item(line.name, line.sku, line.quantity, line.unit_price) for line in quote.items),
        ),
        answers=(*_unread_email(quote, contact), *((leaf.label, leaf.text) for leaf in leaves(unknown))),
        flags=(*flags, *_flags(quote, contact, region)),
        occurred_at=credible(quote.issued_at),
    )


def _unread_email(quote: Quote, contact: Contact) -> Iterable[tuple[str, str]]:
    if quote.contact.email and contact.email is None:
        yield "email", quote.contact.email


def _flags(quote: Quote, contact: Contact, region: str) -> Iterable[str]:
    if contact.phone and contact.phone.e164 is None:
        yield "phone_unreadable"
    if quote.contact.email and contact.email is None:
        yield "email_unreadable"
    if contact.document and (invalid := documents.flag(contact.document, region)):
        yield invalid
    if not _adds_up(quote.items, quote.amount):
        yield "amount_mismatch"


def _adds_up(lines: tuple[Line, ...], amount: Decimal) -> bool:
    """True unless every line has a price and their sum is more than a rounded unit per line away.

    Discounts and taxes make sums differ, and that is for a person to see: this flags, and refuses nothing.
    """
    parts = [line.quantity * line.unit_price for line in lines if line.unit_price is not None]
    if not lines or len(parts) < len(lines):
        return True
    return abs(sum(parts, Decimal(0)) - amount) <= Decimal("0.01") * len(lines)
