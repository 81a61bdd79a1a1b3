"""A WooCommerce order as a lead: its buyer, its lines, and what the buyer wrote.

Source: woocommerce-rest-api-docs @13d6196, "Orders"; YITH WooCommerce Request a Quote (statuses `ywraq-*`, meta data
`ywraq_*`).  Its markers stay when a quote becomes an order, so the status alone says which it is.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from intake import documents, emails, phones
from intake.lead import Attribution, Contact, Enquiry, Item, Lead, Phone
from intake.sources.decoding import Json, decimal, mapping, plain, sequence, text
from intake.sources.fields import CURRENCY
from intake.sources.known_names import FIELD_OF
from intake.sources.leaves import folded

QUOTE_STATUS = "ywraq-"
# What advisers call it, and the words of the shop's own pages for the states that they ask about.
STATUS = "estado"
STATUSES = {
    "ywraq-new": "cotización pedida",
    "ywraq-pending": "cotización enviada",
    "ywraq-accepted": "cotización aceptada",
    "ywraq-rejected": "cotización rechazada",
    "ywraq-expired": "cotización vencida",
    "pending": "pendiente de pago",
    "processing": "procesando",
    "on-hold": "en espera",
    "completed": "completado",
    "cancelled": "cancelado",
    "refunded": "reembolsado",
    "failed": "fallido",
}
# Order attribution, in WooCommerce itself since 8.5.
UTM = "_wc_order_attribution_utm_"
ADDRESS = ("address_1", "address_2", "city", "state", "postcode", "country")
# The buyer and the lines, as the shop has them; ids, keys, addresses of the network and times are left out.
BUYER = ("first_name", "last_name", "company", "email", "phone")
LINE = ("name", "sku", "quantity", "total")


@dataclass(frozen=True, slots=True)
class Order:
    """`status` is without the prefix that some plugins leave on it.  `content` is for the fingerprint."""

    lead: Lead
    status: str
    content: Mapping[str, object] = field(repr=False)

    @property
    def has_contact_point(self) -> bool:
        return bool(self.lead.contact.phone or self.lead.contact.email)


def read(body: dict[str, Json], region: str, flags: tuple[str, ...]) -> Order:
    meta = _meta(body)
    status = (text(body.get("status")) or "").removeprefix("wc-")
    contact, wanted = _contact(mapping(body.get("billing")), meta, region), _email(body, meta)
    lead = Lead(
        contact=contact,
        enquiry=_enquiry(body, meta, is_quote=status.startswith(QUOTE_STATUS)),
        attribution=Attribution(utm=tuple(_utm(meta))),
        answers=tuple(_answers(body, status, wanted if contact.email is None else None)),
        flags=(*flags, *_flags(contact, wanted, region)),
        occurred_at=_moment(body.get("date_created_gmt")),
        as_of=_moment(body.get("date_modified_gmt")),
    )
    return Order(lead, status, _content(body, meta, status))


def _meta(body: dict[str, Json]) -> dict[str, str]:
    listed = [mapping(one) for one in sequence(body.get("meta_data"))]
    return {key: value for one in listed if (key := text(one.get("key"))) and (value := text(one.get("value")))}


def _email(body: dict[str, Json], meta: Mapping[str, str]) -> str | None:
    return text(mapping(body.get("billing")).get("email")) or meta.get("ywraq_customer_email")


def _contact(billing: dict[str, Json], meta: Mapping[str, str], region: str) -> Contact:
    names = [name for key in ("first_name", "last_name") if (name := text(billing.get(key)))]
    phone = text(billing.get("phone")) or meta.get("ywraq_billing_phone")
    email = text(billing.get("email")) or meta.get("ywraq_customer_email")
    return Contact(
        name=" ".join(names) or meta.get("ywraq_customer_name"),
        phone=_phone(phone, text(billing.get("country")), region) if phone else None,
        email=emails.read(email) if email else None,
        company=text(billing.get("company")),
        document=_document(meta),
    )


def _phone(raw: str, country: str | None, region: str) -> Phone:
    """A buyer abroad writes a number of that country."""
    there = phones.read(raw, country) if country else None
    return there if there and there.e164 else phones.read(raw, region)


def _document(meta: Mapping[str, str]) -> str | None:
    """Peruvian shops ask for RUC or DNI by a plugin, each under a name of its own: `_billing_ruc`, `billing_dni`..."""
    named = ((folded(key.strip("_").removeprefix("billing_")), value) for key, value in meta.items())
    return next((value for name, value in named if FIELD_OF.get(name) == "document"), None)


def _enquiry(body: dict[str, Json], meta: Mapping[str, str], *, is_quote: bool) -> Enquiry:
    items = tuple(_item(mapping(line)) for line in sequence(body.get("line_items")))
    total, currency = decimal(body.get("total")), text(body.get("currency")) or ""
    written = text(body.get("customer_note")) or meta.get("ywraq_customer_message")
    return Enquiry(
        text=html.unescape(written or ("[solicitud de cotización]" if is_quote else "[pedido de la tienda]")),
        product=items[0].name if len(items) == 1 else None,
        # A quote that is not priced yet has a total of 0.
        amount=None if is_quote and not total else total,
        currency=currency if CURRENCY.fullmatch(currency) else None,
        items=items,
    )


def _item(line: dict[str, Json]) -> Item:
    """Names come with the HTML entities of the shop's pages."""
    name, quantity = html.unescape(text(line.get("name")) or "[producto]"), decimal(line.get("quantity"))
    return Item(name, text(line.get("sku")), quantity, _price(line, quantity))


def _price(line: dict[str, Json], quantity: Decimal | None) -> Decimal | None:
    price, subtotal = decimal(line.get("price")), decimal(line.get("subtotal"))
    if price is not None or subtotal is None or not quantity:
        return price
    return round(subtotal / quantity, 6)


def _utm(meta: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((key.removeprefix(UTM), value) for key, value in meta.items() if key.startswith(UTM))


def _answers(body: dict[str, Json], status: str, unread_email: str | None) -> Iterator[tuple[str, str]]:
    """What else an adviser asks for; both addresses only where they differ."""
    if unread_email:
        yield "email", unread_email
    home, there = (_place(mapping(body.get(kind))) for kind in ("billing", "shipping"))
    told = {
        STATUS: _named(status),
        "dirección": home,
        "envío": there if there != home else None,
        "pago": text(body.get("payment_method_title")),
    }
    yield from ((label, value) for label, value in told.items() if value)


def _named(status: str) -> str | None:
    """With the shop's own key, by which it can be found there; plugins have states of their own."""
    told = STATUSES.get(status)
    return f"{told} ({status})" if told else status or None


def _place(address: dict[str, Json]) -> str | None:
    parts = [part for key in ADDRESS if (part := text(address.get(key)))]
    # A country alone is the shop's default.
    return ", ".join(parts) if len(parts) > 1 else None


def _flags(contact: Contact, email: str | None, region: str) -> Iterator[str]:
    if contact.phone and contact.phone.e164 is None:
        yield "phone_unreadable"
    if email and contact.email is None:
        yield "email_unreadable"
    if contact.document and (invalid := documents.flag(contact.document, region)):
        yield invalid
    if contact.phone is None and contact.email is None:
        yield "no_contact_point"


def _moment(stamp: Json) -> datetime | None:
    """UTC, without saying so."""
    try:
        return datetime.fromisoformat(text(stamp) or "").replace(tzinfo=UTC)
    except ValueError:
        return None


def _content(body: dict[str, Json], meta: Mapping[str, str], status: str) -> Mapping[str, object]:
    billing, lines = mapping(body.get("billing")), [mapping(line) for line in sequence(body.get("line_items"))]
    return {
        "status": status,
        "total": plain(body.get("total")),
        "currency": plain(body.get("currency")),
        "note": plain(body.get("customer_note")),
        "message": meta.get("ywraq_customer_message"),
        "buyer": {key: plain(billing.get(key)) for key in BUYER},
        "lines": [{key: plain(line.get(key)) for key in LINE} for line in lines],
    }
