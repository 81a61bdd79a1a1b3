"""Shopify: identity from the signed bytes, drafts as versions of a quote, orders as needs, accounts as nothing."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import pytest

from intake.lead import Item
from intake.sources.base import Unreadable, Update
from tests.contract.sources.reading import event, reading, with_members

DRAFT = "shopify/draft_orders_create.json"
REVISED = "shopify/draft_orders_update.json"
ORDER = "shopify/orders_create.json"


def test_true_id_is_not_the_rounded_number() -> None:
    assert event(DRAFT).request_id == "DraftOrder:890612572568261001"


@pytest.mark.parametrize("headers", [{}, {"x-shopify-event-id": "e2"}, {"x-shopify-topic": "customers/create"}])
def test_unsigned_headers_change_nothing(headers: Mapping[str, str]) -> None:
    assert event(DRAFT, headers=headers) == event(DRAFT)


def test_draft_is_a_quote_with_its_lines() -> None:
    enquiry = event(DRAFT).lead.enquiry
    assert (enquiry.amount, enquiry.currency, enquiry.text) == (Decimal("2340.00"), "PEN", "Entrega en marzo")
    assert enquiry.items == (
        Item("Silla - Roja", "SI-R", Decimal(20), Decimal("92.00")),
        Item("Mesa", "ME-1", Decimal(1), Decimal("500.00")),
    )


def test_revised_draft_is_a_later_version_of_the_same_need() -> None:
    first, second = event(DRAFT), event(REVISED)
    assert (first.request_id, first.need_key) == (second.request_id, second.need_key)
    assert (first.version or 0) < (second.version or 0)


def test_phone_is_the_first_that_reads_as_one() -> None:
    phone = event(DRAFT).lead.contact.phone
    assert phone is not None
    assert phone.e164 == "+51912345678"


def test_choice_of_a_phone_is_no_part_of_the_fingerprint() -> None:
    assert event(DRAFT, region="US").content == event(DRAFT).content


def test_attributes_of_a_cart_are_answers() -> None:
    lead = event(DRAFT).lead
    assert (lead.contact.document, lead.attribution.utm) == ("20100070970", (("source", "facebook"),))


def test_draft_of_nobody_is_a_lead_all_the_same() -> None:
    assert event("shopify/draft_order_of_nobody.json").lead.flags == ("no_contact_point",)


def test_later_state_of_an_order_is_an_update_of_it() -> None:
    paid = event(ORDER, body=with_members(ORDER, financial_status="paid", updated_at="2026-03-04T10:00:00-05:00"))
    assert (paid.request_id, paid.version, paid.on_change) == ("Order:5900000000000000001", None, "update")


def test_state_of_an_order_is_among_its_answers() -> None:
    body = with_members(ORDER, financial_status="paid", cancelled_at="2026-03-04T10:00:00-05:00")
    answers = dict(event(ORDER, body=body).lead.answers)
    assert (answers["pago"], answers["cancelado"]) == ("pagado (paid)", "2026-03-04T10:00:00-05:00")


def test_draft_tells_that_it_became_an_order() -> None:
    assert dict(event(DRAFT, body=with_members(DRAFT, status="completed")).lead.answers)["estado"].endswith(
        "(completed)"
    )


def test_ignored_paid_order_is_news_of_one_that_stands() -> None:
    found = reading(ORDER, body=with_members(ORDER, financial_status="paid"), order_policy="ignore")
    (news,) = found.if_known
    assert (found.ignored, news.about, dict(news.news)["pago"]) == (1, "Order:5900000000000000001", "pagado (paid)")


def test_order_and_draft_of_one_number_are_two_needs() -> None:
    assert event(ORDER, body=with_members(ORDER, name="#D12")).need_key == "Order:5900000000000000001"


@pytest.mark.parametrize(("status", "events"), [("pending", 1), ("paid", 0), ("refunded", 0)])
def test_paid_orders_may_be_unwanted(status: str, events: int) -> None:
    body = with_members(ORDER, financial_status=status)
    assert len(reading(ORDER, body=body, order_policy="ignore").events) == events


def test_deletion_is_news_about_the_draft() -> None:
    found = reading("shopify/only_an_id.json", headers={"x-shopify-topic": "draft_orders/delete"})
    deleted = Update("DraftOrder:890612572568261001", "deleted", news=(("estado", "eliminado en la tienda"),))
    assert found.updates == (deleted,)


def test_lines_without_any_id_are_unreadable() -> None:
    with pytest.raises(Unreadable):
        reading(DRAFT, body=with_members(DRAFT, admin_graphql_api_id=None))
