"""Twilio, for WhatsApp and SMS: one message a request, as a form, signed field by field.

Statuses of our own messages come to the same address and are ignored.  The sender reads the answer as TwiML, so ours is
empty and the list of events goes into a header.  SMS and WhatsApp of one person to one number are one conversation.
Source: Twilio, "Twilio's request to your incoming message Webhook URL" (9 Mar 2026); nyaruka/courier @350e935,
handlers/twiml (what really arrives).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from intake import authenticity, phones
from intake.lead import Attribution, Contact, Lead
from intake.sources import twilio_content
from intake.sources.base import (
    Answer,
    Conversation,
    Delivered,
    Incoming,
    Quarantined,
    Reading,
    SourceKind,
    Update,
)
from intake.sources.decoding import Json, mapping, read_form, text
from intake.sources.submission import URLENCODED
from intake.sources.twilio_content import Content
from intake.sources.whatsapp_people import Cards, Person, sender

# Twilio writes the old names beside the new one.
SIDS = ("MessageSid", "SmsMessageSid", "SmsSid")
RECEIVED = frozenset({"received", "receiving"})
# Twilio, "Advanced Opt-Out": it answers these words itself, and tells us.
CONSENT_WORDS = frozenset({"STOP", "START"})
# "Attempt to send to unsubscribed recipient" (www.twilio.com/docs/api/errors/21610), on the status of our message.
STOPPED = "21610"
WHATSAPP = "whatsapp:"
EMPTY_TWIML = '<?xml version="1.0" encoding="UTF-8"?><Response></Response>'
EVENTS_HEADER = "Intake-Events"


@dataclass(frozen=True, slots=True)
class Twilio:
    """One delivery is one message."""

    name: str = "twilio"
    kinds: frozenset[SourceKind] = frozenset({"whatsapp"})
    content_types: frozenset[str] = frozenset({URLENCODED})

    def read(self, delivered: Delivered) -> Reading:
        decoded = read_form(delivered.body)
        message = mapping(decoded.value)
        status = _first(message, "MessageStatus", "SmsStatus") or "received"
        if text(message.get("ErrorCode")) == STOPPED:
            return Reading(updates=(Update(None, "consent_stop"),))
        if status.lower() not in RECEIVED:
            return Reading(ignored=1)
        consent = text(message.get("OptOutType")) or ""
        if consent.upper() in CONSENT_WORDS:
            return Reading(updates=(Update(None, f"consent_{consent.lower()}"),))
        match _incoming(message, decoded.flags):
            case Incoming() as event:
                return Reading(events=(event,))
            case Quarantined() as broken:
                return Reading(quarantined=(broken,))

    def answer(self, document: Mapping[str, object]) -> Answer:
        return Answer(EMPTY_TWIML, "text/xml", {EVENTS_HEADER: json.dumps(document.get("events", []))})

    def handshake(self, query: Mapping[str, str], verify_token: str | None) -> str | None:  # noqa: ARG002
        return None

    def sign(self, body: bytes, *, secret: str, url: str, now: datetime, delivery_id: str) -> Mapping[str, str]:
        proof = authenticity.sign(self.name, secret=secret, body=body, url=url, now=now, delivery_id=delivery_id)
        return {"content-type": URLENCODED, **proof}


def _first(message: dict[str, Json], *names: str) -> str | None:
    return next((found for name in names if (found := text(message.get(name)))), None)


def _incoming(message: dict[str, Json], flags: tuple[str, ...]) -> Incoming | Quarantined:
    sid, person = _first(message, *SIDS), _person(message)
    if sid is None:
        return Quarantined("message_without_id", {"MessageSid": "is required"})
    if person is None:
        return Quarantined("message_without_sender", {"From": "no number and no user id"})
    content = twilio_content.read(message)
    written = _Written(message, content, person, flags)
    account, (strongest, *others) = text(message.get("AccountSid")) or "", person.ids
    ad = written.attribution
    return Incoming(
        kind="whatsapp",
        request_id=f"{account}:{sid}",
        lead=_lead(written),
        content={**content.raw, "ad": [ad.ad_id, ad.click_id]},
        conversation=Conversation(_address(message, "To") or "", strongest, tuple(others), ad != Attribution()),
    )


# --- who wrote, and what --------------------------------------------------------------------------------------------


def _address(message: dict[str, Json], name: str) -> str | None:
    """A number or id without its channel, which may be missing anyway.  An unescaped plus has become a blank."""
    given = text(message.get(name)) or ""
    return given.removeprefix(WHATSAPP).strip().removeprefix("+") or None


def _person(message: dict[str, Json]) -> Person | None:
    """In Meta's words, by which ids are told apart: numbers and business-scoped ids stand in each other's place."""
    ids: dict[str, Json] = {
        "from": _address(message, "From"),
        "from_user_id": _address(message, "ExternalUserId"),
    }
    profile: Json = {"name": text(message.get("ProfileName"))}
    card: dict[str, Json] = {"wa_id": _address(message, "WaId"), "profile": profile}
    return sender(ids, Cards({known: card for known in ids.values() if isinstance(known, str)}, card))


@dataclass(frozen=True, slots=True)
class _Written:
    """A message of somebody, with what was read in it."""

    message: dict[str, Json] = field(repr=False)
    content: Content
    person: Person
    flags: tuple[str, ...]

    @property
    def by_sms(self) -> bool:
        addresses = [text(self.message.get(name)) or "" for name in ("From", "To")]
        named = any(address.startswith(WHATSAPP) for address in addresses)
        return not (named or text(self.message.get("WaId")) or self.person.bsuid)

    @property
    def attribution(self) -> Attribution:
        """The ad that was pressed before the first message."""
        told = {name: text(self.message.get(f"Referral{name}")) for name in ("SourceId", "Headline", "CtwaClid")}
        return Attribution(ad_id=told["SourceId"], ad_headline=told["Headline"], click_id=told["CtwaClid"])


def _lead(written: _Written) -> Lead:
    return Lead(
        contact=_contact(written),
        enquiry=written.content.enquiry,
        attribution=written.attribution,
        flags=(*written.flags, *written.content.flags, *_flags(written)),
    )


def _contact(written: _Written) -> Contact:
    contact = written.person.contact
    return replace(contact, wa_id=None, bsuid=None) if written.by_sms else contact


def _flags(written: _Written) -> Iterator[str]:
    number = written.person.wa_id
    if number and phones.read(number, None).e164 is None:
        yield "phone_unreadable"
    if written.person.ids == (written.person.other_id,):
        yield "sender_id_unknown"
    if written.by_sms:
        yield "sms"
