"""WhatsApp Cloud API (Meta), and what resellers pass on of it.

A POST holds entries of changes of messages and statuses, each several times and in any order: one bad item never stops
the others.  Only messages of people are events; statuses, reactions, echoes of our own phone app, calls, preferences
and notices are ignored, and news about a message that stands already is an update.
Source: Meta, "Create a webhook endpoint" (7 Nov 2025) and "Set up webhooks".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from intake import authenticity
from intake.lead import Attribution, Contact, Enquiry, Lead
from intake.sources import fields, meta, whatsapp_content, whatsapp_news
from intake.sources.base import (
    Conversation,
    Delivered,
    Incoming,
    Quarantined,
    Reading,
    SourceKind,
    Unreadable,
    Update,
)
from intake.sources.decoding import Json, mapping, plain, read_json, sequence, text
from intake.sources.whatsapp_content import Content
from intake.sources.whatsapp_ids import message_id, moment
from intake.sources.whatsapp_people import WA_ID, Cards, Person, cards, is_of_a_group, sender

# A reaction is activity on an older message; `request_welcome`: somebody only opened the chat.
IGNORED = frozenset({"reaction", "request_welcome"})
# What a change holds; resellers of the older on-premise API send it alone (courier, dialog360 fixtures).
AT_THE_ROOT = ("messages", "statuses", "errors")
# What we wrote ourselves, with the phone app.
ECHOES = "smb_message_echoes"


@dataclass(frozen=True, slots=True)
class Ignored:
    """A status, a notice, somebody's emoji: authentic, and nobody's enquiry."""


Found = Incoming | Update | Quarantined | Ignored


@dataclass(frozen=True, slots=True)
class WhatsAppCloud:
    """`name` is "whatsapp_cloud", or a reseller's that sends the same bodies under another proof."""

    name: str = "whatsapp_cloud"
    kinds: frozenset[SourceKind] = frozenset({"whatsapp"})
    content_types: frozenset[str] = frozenset({"application/json"})

    def read(self, delivered: Delivered) -> Reading:
        decoded = read_json(delivered.body)
        body = mapping(decoded.value)
        if not any(isinstance(body.get(name), list) for name in ("entry", *AT_THE_ROOT)):
            raise Unreadable("not_a_whatsapp_body")
        found = list(_found(body, delivered.region, decoded.flags))
        return Reading(
            events=tuple(_without_repeats([item for item in found if isinstance(item, Incoming)])),
            updates=tuple(item for item in found if isinstance(item, Update)),
            quarantined=tuple(item for item in found if isinstance(item, Quarantined)),
            ignored=sum(isinstance(item, Ignored) for item in found),
        )

    def handshake(self, query: Mapping[str, str], verify_token: str | None) -> str | None:
        return meta.handshake(query, verify_token)

    def sign(self, body: bytes, *, secret: str, url: str, now: datetime, delivery_id: str) -> Mapping[str, str]:
        proof = authenticity.sign(self.name, secret=secret, body=body, url=url, now=now, delivery_id=delivery_id)
        return {"content-type": "application/json", **proof}


@dataclass(frozen=True, slots=True)
class _Change:
    """What the messages of one change have in common."""

    value: dict[str, Json] = field(repr=False)
    cards: Cards
    channel: str
    region: str
    flags: tuple[str, ...]


def _found(body: dict[str, Json], region: str, flags: tuple[str, ...]) -> Iterator[Found]:
    if "entry" not in body:
        yield from _in_change(_Change(body, cards(body), _channel(body, ""), region, flags))
    for entry in sequence(body.get("entry")):
        account, changes = text(mapping(entry).get("id")) or "", mapping(entry).get("changes")
        if not isinstance(changes, list):
            yield Quarantined("unreadable_entry")
        for change in sequence(changes):
            value = mapping(change).get("value")
            if mapping(change).get("field") == ECHOES:
                yield Ignored()
            elif isinstance(value, dict):
                yield from _in_change(_Change(value, cards(value), _channel(value, account), region, flags))
            else:
                yield Quarantined("unreadable_change")


def _channel(value: dict[str, Json], account: str) -> str:
    """Our number by its id: the number itself is formatted at will."""
    return text(mapping(value.get("metadata")).get("phone_number_id")) or account


def _in_change(change: _Change) -> Iterator[Found]:
    """The items of one change.  Its keys tell what it holds: `field` is "messages" for statuses too."""
    yield from (Ignored() for _ in sequence(change.value.get("statuses")))
    if "messages" not in change.value and "statuses" not in change.value:
        yield Ignored()
    messages = change.value.get("messages", [])
    if not isinstance(messages, list):
        yield Quarantined("unreadable_messages")
    yield from (_in_message(message, change) for message in sequence(messages))


def _in_message(message: Json, change: _Change) -> Found:
    if not isinstance(message, dict):
        return Quarantined("unreadable_message")
    kind = text(message.get("type")) or next((key for key in whatsapp_content.READERS if key in message), "")
    if kind in IGNORED or is_of_a_group(message) or _is_ours(message, change):
        return Ignored()
    if kind in whatsapp_news.KINDS:
        return whatsapp_news.read(kind, message, change.channel, _our_number(change.value))
    return _in_enquiry(kind, message, change)


def _is_ours(message: dict[str, Json], change: _Change) -> bool:
    """Sent from the number that it came to: by the business itself."""
    display = mapping(change.value.get("metadata")).get("display_phone_number")
    our, their = (re.sub(r"[^0-9]", "", text(number) or "") for number in (display, message.get("from")))
    return our != "" and our == their


def _in_enquiry(kind: str, message: dict[str, Json], change: _Change) -> Incoming | Quarantined:
    known_as, person = message_id(message), sender(message, change.cards)
    if known_as is None:
        return Quarantined("message_without_id", {"id": "is required"})
    if person is None:
        return Quarantined("message_without_sender", {"from": "no number and no user id"})
    occurred_at = moment(message.get("timestamp"))
    if occurred_at is None and message.get("timestamp") is not None:
        return Quarantined("unreadable_time", {"timestamp": "must be unix seconds"})
    content = whatsapp_content.read(kind, message)
    return _incoming(f"{change.channel}:{known_as}", _Written(kind, message, content, person, occurred_at), change)


# --- one message as an event -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Written:
    """A message of somebody, with what was read in it."""

    kind: str
    message: dict[str, Json] = field(repr=False)
    content: Content
    person: Person
    occurred_at: datetime | None

    @property
    def referral(self) -> dict[str, Json]:
        """The ad that was pressed: only the first message has it.  Its texts are the ad's, not the person's."""
        return mapping(self.message.get("referral"))

    @property
    def product(self) -> str | None:
        """The catalog product that the message asks about."""
        referred = mapping(mapping(self.message.get("context")).get("referred_product"))
        return text(referred.get("product_retailer_id"))


def _incoming(request_id: str, written: _Written, change: _Change) -> Incoming:
    person = _with_shared_number(written.person, written.content.shared_number)
    opens_need = bool(written.referral or written.product or written.kind == "order")
    strongest, *others = person.ids
    return Incoming(
        kind="whatsapp",
        request_id=request_id,
        lead=_lead(written, person, change),
        content=_fingerprint(written),
        conversation=Conversation(change.channel, strongest, tuple(others), opens_need, _our_number(change.value)),
    )


def _our_number(value: dict[str, Json]) -> str | None:
    """In digits, however it is formatted."""
    display = text(mapping(value.get("metadata")).get("display_phone_number")) or ""
    return re.sub(r"[^0-9]", "", display) or None


def _with_shared_number(person: Person, number: str | None) -> Person:
    """The number that somebody gave when asked for it is theirs, and joins them with their other id."""
    if person.wa_id or number is None:
        return person
    digits = re.sub(r"[\s()-]", "", number)
    return replace(person, wa_id=digits.removeprefix("+")) if WA_ID.fullmatch(digits) else person


def _lead(written: _Written, person: Person, change: _Change) -> Lead:
    content, contact, enquiry = written.content, person.contact, written.content.enquiry
    form = fields.read(content.form, region=change.region, pointers={})
    if form is not None:
        contact, enquiry = _with_form(contact, enquiry, form.lead)
    if written.product:
        enquiry = replace(enquiry, product=written.product)
    return Lead(
        contact=contact,
        enquiry=enquiry,
        attribution=_attribution(written.referral),
        answers=tuple((leaf.label, leaf.text) for leaf in content.form),
        flags=(*change.flags, *content.flags, *_flags(contact, person)),
        occurred_at=written.occurred_at,
    )


def _with_form(contact: Contact, enquiry: Enquiry, form: Lead) -> tuple[Contact, Enquiry]:
    """What WhatsApp knows of a person stands; the form's answers fill the rest."""
    told = form.contact
    filled = replace(
        contact,
        name=told.name or contact.name,
        phone=contact.phone or told.phone,
        email=told.email,
        company=told.company,
        document=told.document,
    )
    asked = form.enquiry
    return filled, replace(
        enquiry, text=asked.text or enquiry.text, product=asked.product, amount=asked.amount, currency=asked.currency
    )


def _attribution(referral: dict[str, Json]) -> Attribution:
    return Attribution(
        ad_id=text(referral.get("source_id")),
        ad_headline=text(referral.get("headline")),
        click_id=text(referral.get("ctwa_clid")),
    )


def _flags(contact: Contact, person: Person) -> Iterator[str]:
    if contact.phone and contact.phone.e164 is None:
        yield "phone_unreadable"
    if person.ids == (person.other_id,):
        yield "sender_id_unknown"


def _fingerprint(written: _Written) -> Mapping[str, object]:
    """Who sent it and when are the envelope's, and differ between apps that hear the same message."""
    ad = {key: plain(written.referral.get(key)) for key in ("source_id", "ctwa_clid")} if written.referral else None
    return {"kind": written.kind, "content": dict(written.content.raw), "ad": ad, "product": written.product}


def _without_repeats(events: list[Incoming]) -> Iterator[Incoming]:
    """Meta may list one message twice in a body.  Other content under the same id stays, to be seen as a conflict."""
    seen: set[tuple[str | None, str]] = set()
    for event in events:
        known = (event.request_id, json.dumps(event.content, sort_keys=True))
        if known not in seen:
            seen.add(known)
            yield event
