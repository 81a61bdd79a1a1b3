"""A shop's orders and quotes: one need an order, whatever states it goes through."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from intake.lead import Item
from intake.sources.base import Unreadable, Update
from tests.contract.sources.samples_of import SamplesOf

WOO = SamplesOf("woocommerce")
NO_PAID_ORDERS = replace(WOO, settings=replace(WOO.settings, order_policy="ignore"))


def about(topic: str) -> SamplesOf:
    return replace(WOO, settings=replace(WOO.settings, headers={"x-wc-webhook-topic": topic}))


def with_fields(sample: str, **fields: object) -> bytes:
    return json.dumps({**json.loads(WOO.bytes(sample)), **fields}).encode()


def test_order_is_known_by_its_number_in_every_state() -> None:
    first, later = WOO.event("order.json"), WOO.event("order_paid.json")
    assert (first.request_id, first.need_key) == (later.request_id, later.need_key) == ("order:727", "727")


def test_later_state_is_an_update_by_design() -> None:
    first, later = WOO.event("order.json"), WOO.event("order_paid.json")
    assert (first.content != later.content, later.on_change) == (True, "update")


def test_same_state_sent_again_is_the_same_content() -> None:
    again = WOO.event(with_fields("order.json", date_modified_gmt="2026-03-02T20:00:00", customer_user_agent="x"))
    assert again.content == WOO.event("order.json").content


def test_quote_that_became_an_order_is_the_same_need() -> None:
    quote, order = WOO.event("yith_quote.json"), WOO.event("yith_quote_ordered.json")
    assert (quote.request_id, quote.need_key) == (order.request_id, order.need_key)


def test_quote_has_its_buyer_and_message_in_yiths_fields() -> None:
    lead = WOO.event("yith_quote.json").lead
    assert lead.contact.phone is not None
    assert (lead.contact.name, lead.contact.email) == ("Luis Prueba", "luis@example.com")
    assert (lead.contact.phone.e164, lead.enquiry.text) == ("+51987000111", "Necesito 20 sillas")


def test_quote_without_prices_has_no_amount() -> None:
    assert WOO.event("yith_quote.json").lead.enquiry.amount is None


def test_order_has_buyer_lines_and_sum() -> None:
    lead = WOO.event("order.json").lead
    assert (lead.contact.name, lead.contact.company, lead.contact.document) == (
        "Rosa Prueba",
        "Muebles SAC",
        "20100070970",
    )
    assert (lead.enquiry.amount, lead.enquiry.currency) == (Decimal("1020.00"), "PEN")
    assert lead.enquiry.items == (
        Item("Silla \u2013 Negra", "SILLA-02", Decimal(2), Decimal(410)),
        Item("Mesa", None, Decimal(1), Decimal(200)),
    )


def test_addresses_and_campaign_are_kept() -> None:
    lead = WOO.event("order.json").lead
    answers = dict(lead.answers)
    assert (answers["envío"], lead.attribution.utm) == ("Jr. Otro 5, Lima, LIM, PE", (("source", "ig"),))


def test_buyer_abroad_has_a_number_of_that_country() -> None:
    billing = {"first_name": "Ana", "country": "CL", "phone": "9 6123 4567"}
    phone = WOO.event(with_fields("order.json", billing=billing)).lead.contact.phone
    assert phone is not None
    assert phone.e164 == "+56961234567"


def test_time_without_a_zone_is_utc() -> None:
    assert WOO.event("order.json").lead.occurred_at == datetime(2026, 3, 2, 14, 0, tzinfo=UTC)


def test_number_that_a_plugin_gave_does_not_join_two_orders() -> None:
    event = WOO.event("number_of_its_own.json")
    assert (event.request_id, event.need_key) == ("order:729", "A-0007 (729)")


@pytest.mark.parametrize("sample", ["order_paid.json", "yith_quote_ordered.json"])
def test_paid_order_may_be_ignored(sample: str) -> None:
    assert NO_PAID_ORDERS.read(sample).ignored == 1


@pytest.mark.parametrize("sample", ["order_paid.json", "yith_quote_ordered.json"])
def test_ignored_paid_order_is_news_of_one_that_stands(sample: str) -> None:
    (news,) = NO_PAID_ORDERS.read(sample).if_known
    assert (news.about, news.kind) == (WOO.event(sample).request_id, "paid")
    assert [label for label, _ in news.news] == ["estado"]


def test_state_is_told_in_the_words_of_people_with_the_shops_key() -> None:
    told = {
        status: dict(WOO.event(with_fields("order.json", status=status)).lead.answers)["estado"]
        for status in ("ywraq-accepted", "wc-on-hold", "of-a-plugin")
    }
    assert told == {
        "ywraq-accepted": "cotización aceptada (ywraq-accepted)",
        "wc-on-hold": "en espera (on-hold)",
        "of-a-plugin": "of-a-plugin",
    }


def test_change_of_an_order_is_the_time_of_its_state() -> None:
    lead = WOO.event(with_fields("order.json", date_modified_gmt="2026-03-02T20:00:00")).lead
    assert lead.as_of == datetime(2026, 3, 2, 20, 0, tzinfo=UTC)


@pytest.mark.parametrize("sample", ["order.json", "yith_quote.json"])
def test_order_that_is_not_paid_and_quote_are_leads_all_the_same(sample: str) -> None:
    assert len(NO_PAID_ORDERS.read(sample).events) == 1


def test_cart_with_a_buyer_is_a_lead_and_without_one_is_not() -> None:
    assert len(WOO.read("cart_left_behind.json").events) == 1
    assert WOO.read("draft_without_buyer.json").ignored == 1


def test_deleted_order_is_news_and_a_deleted_coupon_is_nothing() -> None:
    topics = {
        topic: replace(WOO.settings, headers={"x-wc-webhook-topic": f"{topic}.deleted"})
        for topic in ("order", "coupon")
    }
    found = {topic: replace(WOO, settings=settings).read("deleted.json") for topic, settings in topics.items()}
    assert found["order"].updates == (Update("order:727", "deleted", news=(("estado", "eliminado en la tienda"),)),)
    assert found["coupon"].ignored == 1


def test_unsigned_topic_makes_no_lead_of_a_customer() -> None:
    assert about("order.created").read("customer.json").ignored == 1


@pytest.mark.parametrize("body", [b"webhook_id=7&x=1", b"other=1", b"", b"[]", b"{"])
def test_other_bytes_are_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        WOO.read(body)
