"""What is read in WhatsApp messages, sample by sample."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from intake.lead import Attribution, Item
from intake.sources.base import Conversation, Delivered, Incoming, Reading
from intake.sources.whatsapp_cloud import WhatsAppCloud

SAMPLES = Path(__file__).parent / "samples" / "whatsapp_cloud"
NOW = datetime(2026, 3, 2, 16, 0, tzinfo=UTC)
ROSA, LUIS = "51912345678", "51987000111"
OURS = "5115550100"


def read(name: str) -> Reading:
    body = (SAMPLES / f"{name}.json").read_bytes()
    return WhatsAppCloud().read(Delivered(body, "application/json", {}, NOW, "PE"))


def event(name: str) -> Incoming:
    (only,) = read(name).events
    return only


def conversation(name: str) -> Conversation:
    talk = event(name).conversation
    assert talk is not None
    return talk


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("text", "Hola, ¿tienen sillas?"),
        ("image_without_caption", "[imagen]"),
        ("document", "[documento: Cotización.pdf]"),
        ("voice_note", "[nota de voz]"),
        ("location_at_zero", "[ubicación: 0.0, -78.5]"),
        ("contact_card", "[contacto compartido: Pedro Tercero +51 900 000 001]"),
        ("own_number_shared", "[compartió su número]"),
        ("catalog_order", "[pedido del catálogo]"),
        ("list_reply", "Sillas (de oficina)"),
        ("quick_reply", "Sí, llámenme"),
        ("flow", "10 sillas"),
        ("flow_broken", "[formulario]"),
        ("unsupported_first_of_ad", "[contenido no disponible]"),
        ("kind_of_next_year", "[contenido no disponible: hologram]"),
    ],
)
def test_every_kind_of_message_gives_a_text(name: str, text: str) -> None:
    assert event(name).lead.enquiry.text == text


def test_person_has_number_id_and_name() -> None:
    contact = event("text").lead.contact
    assert contact.phone is not None
    assert (contact.name, contact.wa_id, contact.bsuid) == ("Rosa Prueba", ROSA, "PE.7001")
    assert contact.phone.e164 == f"+{ROSA}"


def test_number_is_the_strongest_id_of_a_conversation() -> None:
    assert conversation("text") == Conversation("100200300", ROSA, ("PE.7001",), number=OURS)


def test_person_with_a_username_only_is_a_lead_without_phone() -> None:
    lead = event("username_only").lead
    assert (lead.contact.bsuid, lead.contact.username, lead.contact.phone) == ("PE.7001", "rosa", None)
    assert conversation("username_only") == Conversation("100200300", "PE.7001", ("PE.ENT.9",), number=OURS)


def test_business_scoped_id_in_the_place_of_a_number_is_no_number() -> None:
    contact = event("bsuid_in_from").lead.contact
    assert (contact.wa_id, contact.phone, contact.bsuid) == (None, None, "PE.912345678")


def test_shared_card_is_a_third_person() -> None:
    assert event("contact_card").lead.contact.wa_id == ROSA


def test_number_given_when_asked_for_joins_both_ids() -> None:
    assert conversation("own_number_shared") == Conversation("100200300", ROSA, ("PE.7001",), number=OURS)


def test_names_are_matched_by_id_and_not_by_position() -> None:
    names = [found.lead.contact.name for found in read("batch_with_bad_items").events]
    assert names == ["Luis Prueba", "Rosa Prueba", "Rosa Prueba"]


def test_one_id_on_two_of_our_numbers_is_two_identities() -> None:
    ids = [found.request_id for found in read("batch_with_bad_items").events]
    assert ids == ["100200300:wamid.S021", "100200300:wamid.S022", "100200301:wamid.S022"]


def test_bad_items_are_named_and_the_rest_goes_on() -> None:
    reasons = [item.reason for item in read("batch_with_bad_items").quarantined]
    assert reasons == ["unreadable_message", "unreadable_time", "message_without_sender"]


def test_order_is_a_quote_with_items_and_a_sum() -> None:
    enquiry = event("catalog_order").lead.enquiry
    assert (enquiry.amount, enquiry.currency) == (Decimal("1021.0"), "PEN")
    assert enquiry.items[0] == Item("SILLA-02", "SILLA-02", Decimal(2), Decimal("410.5"))


@pytest.mark.parametrize(
    ("name", "opens"), [("ad_referral", True), ("catalog_order", True), ("product_enquiry", True), ("text", False)]
)
def test_ad_order_and_product_enquiry_open_a_need(name: str, opens: bool) -> None:
    assert conversation(name).opens_need is opens


def test_product_that_is_asked_about_is_the_product() -> None:
    assert event("product_enquiry").lead.enquiry.product == "SILLA-02"


def test_ad_is_attribution_and_its_words_are_not_the_persons() -> None:
    lead = event("ad_referral").lead
    assert lead.attribution == Attribution(ad_id="5255", ad_headline="Sillas en oferta", click_id="Aff1")
    assert lead.enquiry.text == "Quiero información"


def test_flow_fills_fields_and_keeps_every_answer() -> None:
    lead = event("flow").lead
    assert (lead.contact.company, lead.contact.email) == ("Muebles SAC", "rosa@example.com")
    assert ("color", "rojo") in lead.answers
    assert "flow_token" not in dict(lead.answers)


def test_broken_flow_keeps_what_was_sent() -> None:
    assert event("flow_broken").lead.answers == (("formulario", "{broken"),)


@pytest.mark.parametrize(
    ("name", "moment"),
    [("text", datetime(2026, 3, 2, 15, tzinfo=UTC)), ("milliseconds", datetime(2026, 3, 2, 15, 0, 0, 123000, UTC))],
)
def test_time_is_the_messages_own(name: str, moment: datetime) -> None:
    assert event(name).lead.occurred_at == moment


@pytest.mark.parametrize(
    ("name", "about", "kind"),
    [
        ("edit", "100200300:wamid.S001", "edit"),
        ("revoke", "100200300:wamid.S001", "revoke"),
        ("number_changed", None, "user_changed_number"),
    ],
)
def test_news_about_what_stands_is_an_update(name: str, about: str | None, kind: str) -> None:
    (update,) = read(name).updates
    assert (update.about, update.kind) == (about, kind)


def test_edit_holds_the_words_of_now_and_a_deletion_holds_none() -> None:
    (edit,), (revoke,) = read("edit").updates, read("revoke").updates
    assert (edit.text, edit.mark) == ("Hola, sillas", "[editado]")
    assert (revoke.text, revoke.mark) == (None, "[eliminado por quien lo escribió]")


def test_other_content_under_one_id_stays_to_be_seen() -> None:
    first, second = read("same_id_other_content").events
    assert first.request_id == second.request_id
    assert first.content != second.content


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ({"hub.mode": "subscribe", "hub.verify_token": "tókén", "hub.challenge": "1158201444"}, "1158201444"),
        ({"hub.mode": "subscribe", "hub.verify_token": "other", "hub.challenge": "1158201444"}, None),
        ({"hub.mode": "unsubscribe", "hub.verify_token": "tókén", "hub.challenge": "1158201444"}, None),
        ({"hub.mode": "subscribe", "hub.verify_token": "\ud800", "hub.challenge": "1"}, None),
        ({}, None),
    ],
)
def test_handshake_gives_the_challenge_back_to_who_knows_the_token(query: dict[str, str], answer: str | None) -> None:
    assert WhatsAppCloud().handshake(query, "tókén") == answer


@pytest.mark.parametrize("token", [None, ""])
def test_handshake_without_a_token_of_ours_is_refused(token: str | None) -> None:
    query = {"hub.mode": "subscribe", "hub.verify_token": "", "hub.challenge": "1"}
    assert WhatsAppCloud().handshake(query, token) is None
