"""WooCommerce: orders, and the quotes that YITH Request a Quote makes of them.

An order's number is its identity: the body is built when it is sent, so "created" may show a later state already, and
each later state is an update of the event that stands.  What a body is shows in itself: its topic stands in a header
that nobody signed.  The sender never tries again, and switches the webhook off after five failures.
Source: WooCommerce, class-wc-webhook.php at 00e1bc4; woocommerce-rest-api-docs @13d6196 (an order).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from intake import authenticity
from intake.sources import woocommerce_order
from intake.sources.base import Delivered, Incoming, Reading, SourceKind, Unreadable, Update
from intake.sources.decoding import Json, read_form, read_json, text
from intake.sources.submission import JSON, URLENCODED, content_type_of
from intake.sources.woocommerce_order import STATUS, Order

PING = {"webhook_id"}
TOPIC = "x-wc-webhook-topic"
PAID = frozenset({"processing", "completed", "refunded"})
# A cart that became no order, or an order in the bin.
NO_ORDER = frozenset({"checkout-draft", "auto-draft", "draft", "trash"})


@dataclass(frozen=True, slots=True)
class WooCommerce:
    """One delivery is one state of one thing of the shop; only orders are events."""

    name: str = "woocommerce"
    kinds: frozenset[SourceKind] = frozenset({"quote", "form"})
    content_types: frozenset[str] = frozenset({JSON, URLENCODED})

    def read(self, delivered: Delivered) -> Reading:
        if content_type_of(delivered.body) != JSON:
            return _ping(delivered.body)
        decoded = read_json(delivered.body)
        if not isinstance(decoded.value, dict):
            raise Unreadable("not_an_object", {"body": "must be an object"})
        if not _is_order(decoded.value):
            return _other(decoded.value, delivered.headers)
        return _order(decoded.value, delivered, decoded.flags)

    def handshake(self, query: Mapping[str, str], verify_token: str | None) -> str | None:  # noqa: ARG002
        return None

    def sign(self, body: bytes, *, secret: str, url: str, now: datetime, delivery_id: str) -> Mapping[str, str]:
        proof = authenticity.sign(self.name, secret=secret, body=body, url=url, now=now, delivery_id=delivery_id)
        return {"content-type": content_type_of(body), **proof}


def _ping(body: bytes) -> Reading:
    """The unsigned test call when a webhook is saved; it wants 200, like everything."""
    if isinstance(fields := read_form(body).value, dict) and fields.keys() == PING:
        return Reading(ignored=1)
    raise Unreadable("neither_json_nor_ping")


def _is_order(body: dict[str, Json]) -> bool:
    """Not a customer (no lines), a refund (no buyer) or a subscription (its orders come by themselves)."""
    whole = isinstance(body.get("line_items"), list) and isinstance(body.get("billing"), dict)
    return whole and text(body.get("id")) is not None and "billing_period" not in body


def _other(body: dict[str, Json], headers: Mapping[str, str]) -> Reading:
    """An account, a product, a coupon: nobody's enquiry.  Of a deleted order only its id is left."""
    order = text(body.get("id")) if headers.get(TOPIC) == "order.deleted" else None
    deleted = Update(_request_id(order), "deleted", news=((STATUS, "eliminado en la tienda"),)) if order else None
    return Reading(updates=(deleted,)) if deleted else Reading(ignored=1)


def _order(body: dict[str, Json], delivered: Delivered, flags: tuple[str, ...]) -> Reading:
    order = woocommerce_order.read(body, delivered.region, flags)
    paid = order.status in PAID or text(body.get("date_paid_gmt")) is not None
    order_id = text(body.get("id")) or ""
    if paid and delivered.order_policy == "ignore":
        return Reading(ignored=1, if_known=(_paid(order_id, order),))
    if order.status in NO_ORDER and not order.has_contact_point:
        return Reading(ignored=1)
    number = text(body.get("number")) or order_id
    event = Incoming(
        kind="quote",
        request_id=_request_id(order_id),
        lead=order.lead,
        content=order.content,
        # Plugins that count orders anew may give one number twice.
        need_key=number if number == order_id else f"{number} ({order_id})",
        on_change="update",
    )
    return Reading(events=(event,))


def _paid(order_id: str, order: Order) -> Update:
    """A quote that was paid is no new lead, and its adviser wants to know."""
    news = tuple(answer for answer in order.lead.answers if answer[0] == STATUS)
    return Update(_request_id(order_id), "paid", news=news, at=order.lead.as_of)


def _request_id(order_id: str) -> str:
    return f"order:{order_id}"
