"""Shopify: a draft order is a quote, an order is an order, and everything else that a shop tells is nobody's enquiry.

What a body is, and its id, is read in its signed bytes (`admin_graphql_api_id`), not in the unsigned headers; tools
round the numeric `id`, which lies above 2^53.  A retry carries the original payload, so `updated_at` is the version.
Source: shopify.dev, "DraftOrder", "Order" and "HTTPS webhooks"; hookdeck/webhook-samples, shopify 2024-10.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from intake import authenticity, phones
from intake.lead import Item, Lead
from intake.sources import fields
from intake.sources.base import Delivered, Incoming, Reading, SourceKind, Unreadable, Update
from intake.sources.decoding import Json, decimal, mapping, plain, read_json, sequence, text
from intake.sources.leaves import Leaf, leaves
from intake.sources.standard_webhooks import moment
from intake.sources.submission import JSON, pointer, without_links

GID = re.compile(r"gid://shopify/([A-Za-z]{1,40})/([0-9]{1,20})")
TOPIC_HEADERS = ("x-shopify-topic", "shopify-topic")
RESOURCES = {"draft_orders": "DraftOrder", "orders": "Order"}
# Where a person may stand in an order, the surest first.
PEOPLE = ("customer", "billing_address", "shipping_address")
# The drafts that staff made into an order: the quote stands already (shopify.dev, Order, `source_name`).
FROM_DRAFT = "shopify_draft_order"
PAID = frozenset({"paid", "partially_refunded", "refunded"})
# Of a draft; of an order.
STATUS = "estado"
STATES = (
    ("status", STATUS),
    ("financial_status", "pago"),
    ("fulfillment_status", "entrega"),
    ("cancelled_at", "cancelado"),
)
STATE_NAMES = {
    "open": "abierta (open)",
    "invoice_sent": "cotización enviada (invoice_sent)",
    "completed": "convertida en pedido (completed)",
    "pending": "pendiente (pending)",
    "authorized": "autorizado (authorized)",
    "paid": "pagado (paid)",
    "partially_paid": "pagado en parte (partially_paid)",
    "partially_refunded": "reembolsado en parte (partially_refunded)",
    "refunded": "reembolsado (refunded)",
    "voided": "anulado (voided)",
    "fulfilled": "entregado (fulfilled)",
    "partial": "entregado en parte (partial)",
}
LINE = ("title", "variant_title", "sku", "quantity", "price")


@dataclass(frozen=True, slots=True)
class Shopify:
    """One delivery is one state of one resource."""

    name: str = "shopify"
    kinds: frozenset[SourceKind] = frozenset({"quote"})
    content_types: frozenset[str] = frozenset({JSON})

    def read(self, delivered: Delivered) -> Reading:
        decoded = read_json(delivered.body)
        if not isinstance(decoded.value, dict):
            raise Unreadable("not_an_object", {"body": "must be an object"})
        body, (resource, number) = decoded.value, _resource(decoded.value, delivered.headers)
        if resource not in RESOURCES.values() or body.get("test") is True:
            return Reading(ignored=1)
        about = f"{resource}:{number}"
        if "line_items" not in body:
            return Reading(updates=(Update(about, "deleted", news=((STATUS, "eliminado en la tienda"),)),))
        if resource == "DraftOrder":
            return _reading(body, about, _version(body), delivered, decoded.flags)
        return _order(body, about, delivered, decoded.flags)

    def handshake(self, query: Mapping[str, str], verify_token: str | None) -> str | None:  # noqa: ARG002
        return None

    def sign(self, body: bytes, *, secret: str, url: str, now: datetime, delivery_id: str) -> Mapping[str, str]:
        proof = authenticity.sign(self.name, secret=secret, body=body, url=url, now=now, delivery_id=delivery_id)
        return {"content-type": JSON, "x-shopify-event-id": delivery_id, **proof}


def _resource(body: dict[str, Json], headers: Mapping[str, str]) -> tuple[str, str]:
    """What the body is about, and its number; the topic says it only where the body does not (a deletion)."""
    if named := GID.fullmatch(text(body.get("admin_graphql_api_id")) or ""):
        return named[1], named[2]
    topic = next((headers[name] for name in TOPIC_HEADERS if name in headers), "")
    resource, number = RESOURCES.get(topic.partition("/")[0]), text(body.get("id"))
    if resource and number:
        return resource, number
    if "line_items" in body:
        raise Unreadable("no_resource", {"admin_graphql_api_id": "is required"})
    return "", ""


def _version(body: dict[str, Json]) -> int | None:
    """The moment of the last change, in whole seconds."""
    changed = moment(body.get("updated_at"))
    return int(changed.timestamp()) if changed else None


def _order(body: dict[str, Json], about: str, delivered: Delivered, flags: tuple[str, ...]) -> Reading:
    """An order is one need; its later states are news about it."""
    if body.get("source_name") == FROM_DRAFT:
        return Reading(updates=(Update(None, "ordered"),))
    if delivered.order_policy == "ignore" and body.get("financial_status") in PAID:
        news = tuple((leaf.label, leaf.text) for leaf in _states(body))
        return Reading(ignored=1, if_known=(Update(about, "paid", news=news, at=moment(body.get("updated_at"))),))
    return _reading(body, about, None, delivered, flags)


def _reading(
    body: dict[str, Json], about: str, version: int | None, delivered: Delivered, flags: tuple[str, ...]
) -> Reading:
    form = fields.read(
        _answers(body, delivered.region),
        region=delivered.region,
        pointers=delivered.pointers,
        flags=flags,
        occurred_at=moment(body.get("updated_at" if version is not None else "created_at")),
    )
    if form is None:
        return Reading(ignored=1)
    lines = [{name: plain(mapping(line).get(name)) for name in LINE} for line in sequence(body.get("line_items"))]
    return Reading((
        Incoming(
            kind="quote",
            request_id=about,
            lead=replace(_with_items(form.lead, body), as_of=moment(body.get("updated_at"))),
            content={**without_links(form.content), "status": plain(body.get("status")), "line_items": lines},
            version=version,
            need_key=_need_key(body, about),
            on_change="conflict" if version is not None else "update",
        ),
    ))  # fmt: skip


def _need_key(body: dict[str, Json], about: str) -> str:
    """The number that people know.  An order whose shop gives its orders the drafts' prefix has its id instead."""
    number = text(body.get("name"))
    return number if number and number.startswith("#D") == about.startswith("DraftOrder") else about


def _with_items(lead: Lead, body: dict[str, Json]) -> Lead:
    lines = [mapping(line) for line in sequence(body.get("line_items"))]
    items = tuple(
        Item(
            name=text(line.get("name")) or text(line.get("title")) or "?",
            sku=text(line.get("sku")),
            quantity=decimal(line.get("quantity")),
            unit_price=decimal(line.get("price")),
        )
        for line in lines
    )
    product = items[0].name if len(items) == 1 else None
    return replace(lead, enquiry=replace(lead.enquiry, items=items, product=lead.enquiry.product or product))


# --- who asks, as answers of a form ------------------------------------------------------------------------------


def _answers(body: dict[str, Json], region: str) -> Iterator[Leaf]:
    yield from _name(body)
    yield from _phones(body, region)
    yield from _first(body, (("email",), ("contact_email",), ("customer", "email")), "email")
    yield from _first(body, (("billing_address", "company"), ("shipping_address", "company")), "company")
    yield from _first(body, (("note",), ("customer", "note")), "message")
    for name, label in (("total_price", "amount"), ("currency", "currency"), ("name", "number"), ("tags", "tags")):
        yield from _first(body, ((name,),), label)
    yield from _states(body)
    for index, each in enumerate(sequence(body.get("note_attributes"))):
        place = pointer("note_attributes", str(index))
        yield from (Leaf(place + leaf.pointer, leaf.label, leaf.text) for leaf in leaves(each))


def _states(body: dict[str, Json]) -> Iterator[Leaf]:
    """How it stands in the shop: an adviser asks for it, and each change of it is news."""
    for name, label in STATES:
        yield from (
            replace(leaf, text=STATE_NAMES.get(leaf.text, leaf.text)) for leaf in _first(body, ((name,),), label)
        )


def _name(body: dict[str, Json]) -> Iterator[Leaf]:
    """First and last name of the first of the people who has one."""
    for where in PEOPLE:
        told = [
            *_first(body, ((where, "first_name"),), "first_name"),
            *_first(body, ((where, "last_name"),), "last_name"),
        ]
        if told:
            yield from told
            return


def _phones(body: dict[str, Json], region: str) -> Iterator[Leaf]:
    """All that were given; the first that reads as one is the lead's, since addresses hold what somebody typed."""
    given: dict[str, Leaf] = {}
    for place in (("phone",), *((where, "phone") for where in PEOPLE)):
        for leaf in _first(body, (place,), " ".join(place)):
            given.setdefault(leaf.text, leaf)
    readable = (typed for typed in given if phones.read(typed, region).e164)
    chosen = next(readable, next(iter(given), None))
    yield from (replace(leaf, label="phone") if leaf.text == chosen else leaf for leaf in given.values())


def _first(body: dict[str, Json], places: tuple[tuple[str, ...], ...], label: str) -> Iterator[Leaf]:
    for place in places:
        value: Json = body
        for name in place:
            value = mapping(value).get(name)
        if written := text(value):
            yield Leaf(pointer(*place), label, written)
            return
