"""What a WhatsApp message says: every kind gives a text for the enquiry, and the raw fields of its fingerprint.

Kinds and their shapes: Meta, "Webhooks: messages" (2026), and the fixtures of pywa, courier and chatwoot.  Texts that
stand for something else are in square brackets and in the operators' language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from intake.lead import Enquiry, Item, Media
from intake.sources.base import Unreadable
from intake.sources.decoding import Json, decimal, mapping, plain, read_json, sequence, text
from intake.sources.leaves import Leaf, leaves

FORM = "formulario"
MEDIA = {
    "image": "imagen",
    "video": "video",
    "document": "documento",
    "audio": "audio",
    "voice": "nota de voz",
    "sticker": "sticker",
}


@dataclass(frozen=True, slots=True)
class Content:
    """One message's own part.  `raw` is the allow-list for the fingerprint; `form` the answers of a WhatsApp Flow.

    `shared_number` is the sender's own number, which they gave when the business asked for it.
    """

    enquiry: Enquiry
    raw: Mapping[str, object] = field(repr=False)
    form: tuple[Leaf, ...] = field(default=(), repr=False)
    flags: tuple[str, ...] = ()
    shared_number: str | None = field(default=None, repr=False)


def read(kind: str, message: dict[str, Json]) -> Content:
    """The content of a message that is somebody's enquiry; a kind that nobody has told us of is one too."""
    reader = READERS.get(kind)
    if reader:
        return reader(mapping(message.get(kind)))
    if kind in MEDIA:
        return _media(kind, mapping(message.get(kind)))
    if kind == "contacts":
        return _cards([mapping(card) for card in sequence(message.get("contacts"))])
    return _unknown(kind, message)


def _text(body: dict[str, Json]) -> Content:
    written = text(body.get("body"))
    return Content(Enquiry(text=written or "[mensaje sin texto]"), {"body": written})


def _media(kind: str, media: dict[str, Json]) -> Content:
    """Fetched later by its id; the short-lived URL is neither kept nor part of the fingerprint."""
    shown = "voice" if media.get("voice") is True else kind
    caption, filename = text(media.get("caption")), text(media.get("filename"))
    label = f"[{MEDIA[shown]}: {filename}]" if filename else f"[{MEDIA[shown]}]"
    attached = Media(shown, text(media.get("id")), text(media.get("mime_type")), filename)
    digest = text(media.get("sha256")) or attached.id
    return Content(
        Enquiry(text=caption or label, media=(attached,)), {"caption": caption, "filename": filename, "sha256": digest}
    )


def _location(place: dict[str, Json]) -> Content:
    """Latitude 0 is a place."""
    latitude, longitude = text(place.get("latitude")), text(place.get("longitude"))
    point = f"{latitude}, {longitude}" if latitude and longitude else None
    named = [part for part in (text(place.get("name")), text(place.get("address")), point) if part]
    raw = {key: plain(place.get(key)) for key in ("latitude", "longitude", "name", "address")}
    return Content(Enquiry(text=f"[ubicación: {', '.join(named)}]" if named else "[ubicación]"), raw)


def _cards(cards: list[dict[str, Json]]) -> Content:
    """Cards are of third persons, unless the business asked the sender for their own (`origin: contact_request`)."""
    raw = {"cards": [{"name": _card_name(card), "phones": _card_phones(card)} for card in cards]}
    own = next((card for card in cards if card.get("origin") == "contact_request"), None)
    if own is not None:
        number = next(iter(_card_ids(own)), None) or next(iter(_card_phones(own)), None)
        return Content(Enquiry(text="[compartió su número]"), raw, shared_number=number)
    shared = [" ".join(part for part in (_card_name(card), *_card_phones(card)) if part) for card in cards]
    listed = "; ".join(part for part in shared if part)
    return Content(Enquiry(text=f"[contacto compartido: {listed}]" if listed else "[contacto compartido]"), raw)


def _card_name(card: dict[str, Json]) -> str | None:
    name = mapping(card.get("name"))
    parts = [part for key in ("first_name", "last_name") if (part := text(name.get(key)))]
    return text(name.get("formatted_name")) or " ".join(parts) or None


def _card_phones(card: dict[str, Json]) -> list[str]:
    return [number for entry in sequence(card.get("phones")) if (number := text(mapping(entry).get("phone")))]


def _card_ids(card: dict[str, Json]) -> list[str]:
    return [wa_id for entry in sequence(card.get("phones")) if (wa_id := text(mapping(entry).get("wa_id")))]


def _button(button: dict[str, Json]) -> Content:
    """A template's quick reply; its payload is the program's word and may lack."""
    written, payload = text(button.get("text")), text(button.get("payload"))
    return Content(Enquiry(text=written or payload or "[botón]"), {"text": written, "payload": payload})


def _interactive(answer: dict[str, Json]) -> Content:
    kind = text(answer.get("type")) or next((key for key in answer if key.endswith("_reply")), "")
    reply = mapping(answer.get(kind))
    if kind == "nfm_reply":
        return _flow(reply)
    title, detail = text(reply.get("title")), text(reply.get("description"))
    written = f"{title} ({detail})" if title and detail else title or detail or text(reply.get("id"))
    raw = {key: plain(reply.get(key)) for key in ("id", "title", "description")}
    if written is None and (response := text(reply.get("response"))):  # to a request such as that to be called
        written, raw = f"[{kind}: {response}]", {"response": response}
    return Content(Enquiry(text=written or "[respuesta interactiva no disponible]"), {"type": kind, **raw})


def _flow(reply: dict[str, Json]) -> Content:
    """A WhatsApp Flow is a form whose answers are a JSON text: an object, an array, broken, or absent."""
    written = text(reply.get("response_json"))
    answers = tuple(leaf for leaf in _flow_answers(written) if leaf.label != "flow_token")
    raw = {"answers": {leaf.pointer: leaf.text for leaf in answers}}
    return Content(Enquiry(text="[formulario]"), raw, form=answers)


def _flow_answers(written: str | None) -> tuple[Leaf, ...]:
    if written is None:
        return ()
    try:
        found = leaves(read_json(written.encode()).value)
    except Unreadable:
        return (Leaf("", FORM, written),)
    return tuple(replace(leaf, label=leaf.label or FORM) for leaf in found)


def _order(order: dict[str, Json]) -> Content:
    """A catalog order is a request for a quote; its lines have the shop's ids and no titles."""
    lines = [mapping(line) for line in sequence(order.get("product_items"))]
    items = tuple(_item(line) for line in lines)
    currencies = {text(line.get("currency")) for line in lines}
    single = currencies.pop() if len(currencies) == 1 else None
    note = text(order.get("text"))
    enquiry = Enquiry(
        text=note or "[pedido del catálogo]",
        product=items[0].name if len(items) == 1 else None,
        amount=_total(items) if single else None,
        currency=single,
        items=items,
    )
    raw = {"catalog_id": plain(order.get("catalog_id")), "text": note, "items": [_raw_item(line) for line in lines]}
    return Content(enquiry, raw, flags=("mixed_currencies",) if len(currencies) > 1 else ())


def _item(line: dict[str, Json]) -> Item:
    sku = text(line.get("product_retailer_id"))
    return Item(sku or "[producto]", sku, decimal(line.get("quantity")), decimal(line.get("item_price")))


def _raw_item(line: dict[str, Json]) -> dict[str, object]:
    return {key: plain(line.get(key)) for key in ("product_retailer_id", "quantity", "item_price", "currency")}


def _total(items: tuple[Item, ...]) -> Decimal | None:
    parts = [
        item.quantity * item.unit_price for item in items if item.quantity is not None and item.unit_price is not None
    ]
    return sum(parts, Decimal(0)) if len(parts) == len(items) and parts else None


def _unknown(kind: str, message: dict[str, Json]) -> Content:
    """Polls, deleted messages, and the first message of an ad on a number shared with the phone app (code 131060).

    The person did write: dropping it would lose a paid lead (chatwoot PR #14547).
    """
    real = text(mapping(message.get("unsupported")).get("type")) if kind == "unsupported" else kind
    written = text(mapping(message.get("text")).get("body"))
    label = f"[contenido no disponible: {real}]" if real else "[contenido no disponible]"
    return Content(Enquiry(text=written or label), {"body": written, "kind": real}, flags=("content_unavailable",))


READERS: Mapping[str, Callable[[dict[str, Json]], Content]] = {
    "text": _text,
    "location": _location,
    "button": _button,
    "interactive": _interactive,
    "order": _order,
}
