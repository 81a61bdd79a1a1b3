"""Messages by WhatsApp and SMS, with or without a number, and an answer that is TwiML."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from intake.lead import Attribution, Media
from intake.sources.base import Conversation, OwnAnswer
from intake.sources.twilio import Twilio
from tests.contract.sources.samples_of import SamplesOf

TWILIO = SamplesOf("twilio")
ROSA, OURS = "51912345678", "51100200300"


def test_message_id_with_its_account_is_identity() -> None:
    assert TWILIO.event("whatsapp.txt").request_id == "AC01:SM01"


def test_older_names_of_the_id_are_the_same_id() -> None:
    assert TWILIO.event(b"SmsSid=SM01&AccountSid=AC01&From=whatsapp:%2B51912345678").request_id == "AC01:SM01"


def test_same_id_twice_is_one_message_with_one_content() -> None:
    again = TWILIO.bytes("whatsapp.txt") + b"&NewFieldOfNextYear=1"
    assert replace(TWILIO.event(again), lead=TWILIO.event("whatsapp.txt").lead) == TWILIO.event("whatsapp.txt")


def test_person_has_number_and_profile_name() -> None:
    contact = TWILIO.event("whatsapp.txt").lead.contact
    assert contact.phone is not None
    assert (contact.name, contact.phone.e164, contact.wa_id) == ("Rosa Prueba", f"+{ROSA}", ROSA)


@pytest.mark.parametrize("sample", ["whatsapp.txt", "sms.txt", "prefix_missing.txt"])
def test_channel_and_prefix_do_not_split_a_conversation(sample: str) -> None:
    assert TWILIO.event(sample).conversation == Conversation(OURS, ROSA)


def test_sms_has_a_phone_and_no_whatsapp_number() -> None:
    lead = TWILIO.event("sms.txt").lead
    assert lead.contact.phone is not None
    assert (lead.contact.phone.e164, lead.contact.wa_id, lead.flags) == (f"+{ROSA}", None, ("sms",))


def test_plus_that_became_a_blank_is_still_a_number() -> None:
    assert TWILIO.event(b"MessageSid=SM01&To=whatsapp:+1&From=whatsapp:+51912345678").lead.contact.wa_id == ROSA


def test_business_scoped_id_beside_a_number_joins_it() -> None:
    event = TWILIO.event("bsuid_beside_number.txt")
    assert event.conversation == Conversation(OURS, ROSA, ("PE.7001",))


def test_business_scoped_id_in_the_place_of_a_number_is_a_lead_without_phone() -> None:
    contact = TWILIO.event("bsuid_only.txt").lead.contact
    assert (contact.bsuid, contact.phone, contact.wa_id) == ("PE.912345678", None, None)


@pytest.mark.parametrize(
    ("sample", "text"),
    [
        ("whatsapp.txt", "Hola, ¿tienen sillas?"),
        ("media_without_body.txt", "[imagen] [documento]"),
        ("base64_body.txt", "Hola, quiero cotizar 20 sillas"),
        ("location_at_zero.txt", "[ubicación: 0.0, -78.5]"),
        ("quick_reply.txt", "Sí, llámenme"),
    ],
)
def test_every_message_gives_a_text(sample: str, text: str) -> None:
    assert TWILIO.event(sample).lead.enquiry.text == text


@pytest.mark.parametrize("body", ["Sillas", "AAAABBBBCCCCDDDDEEEEFFFF", "SG9sYVF1aWVyb1NpbGxhczEyMzQ1", "https"])
def test_body_that_only_looks_like_base64_is_what_it_says(body: str) -> None:
    lead = TWILIO.event(f"MessageSid=SM01&From=%2B51912345678&Body={body}".encode()).lead
    assert (lead.enquiry.text, lead.flags) == (body, ("sms",))


def test_media_of_twilios_own_shape_are_named_by_account_message_and_file() -> None:
    ids = ("AC" + "0a" * 16, "MM" + "1b" * 16, "ME" + "2c" * 16)
    address = "https://api.twilio.com/2010-04-01/Accounts/{}/Messages/{}/Media/{}".format(*ids)
    fields = {"MessageSid": ids[1], "AccountSid": ids[0], "From": "whatsapp:+51912345678", "MediaUrl0": address}
    assert TWILIO.event(urlencode(fields).encode()).lead.enquiry.media == (Media("document", "/".join(ids)),)


def test_media_are_kept_by_id_and_not_by_address() -> None:
    assert TWILIO.event("media_without_body.txt").lead.enquiry.media == (
        Media("image", "ME01", "image/jpeg"),
        Media("document", "ME02", "application/pdf"),
    )


def test_ad_is_attribution_and_opens_a_need() -> None:
    event = TWILIO.event("ad_referral.txt")
    assert event.conversation is not None
    assert event.conversation.opens_need
    assert event.lead.attribution == Attribution(ad_id="5255", ad_headline="Sillas en oferta", click_id="Aff1")


def test_stop_is_news_about_consent_and_no_enquiry() -> None:
    assert [update.kind for update in TWILIO.read("stop.txt").updates] == ["consent_stop"]


def test_answer_is_empty_twiml_with_the_events_in_a_header() -> None:
    provider = Twilio()
    assert isinstance(provider, OwnAnswer)
    answer = provider.answer({"received": True, "events": [{"event_id": "é", "duplicate": True}]})
    assert answer.text.endswith("<Response></Response>")
    assert answer.headers["Intake-Events"].isascii()
    assert json.loads(answer.headers["Intake-Events"]) == [{"event_id": "é", "duplicate": True}]
