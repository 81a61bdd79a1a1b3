"""What is Kommo's own: lists of one, custom fields by number, and 204 for nothing."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from crm_clients.base import (
    Absent,
    Capability,
    Confirmed,
    ContactDraft,
    Draft,
    Found,
    Kind,
    NoteDraft,
    OpportunityDraft,
    Rejected,
    Response,
    Retry,
    TaskDraft,
    Uncertain,
    Unsure,
)
from crm_clients.kommo.client import Kommo, from_settings
from crm_clients.kommo.drafts import Fields
from crm_clients.options import BadSetting
from tests.contract.drafts import DUE, ordinary

CLIENT = Kommo(Fields(contact=701, lead=702, text=703, currency="PEN"))
NEEDED = {"contact_reference": "701", "lead_reference": "702", "lead_text": "703"}


def answer(status: int, body: object) -> Response:
    return Response(status, {}, json.dumps(body).encode())


def sent(draft: Draft) -> dict[str, object]:
    (body,) = json.loads(CLIENT.create(draft, "need-1").body or b"")
    assert isinstance(body, dict)
    return body


def custom(field: int, value: str) -> dict[str, object]:
    return {"field_id": field, "values": [{"value": value}]}


def lead(**more: object) -> dict[str, object]:
    row: dict[str, object] = {"id": 42, "name": "Bomba", "price": 0, "status_id": 1, "custom_fields_values": None}
    return row | {"_embedded": {"contacts": [{"id": 30}, {"id": 31, "is_main": True}]}} | more


def test_a_lead_carries_its_contact_its_text_and_its_reference() -> None:
    body = sent(OpportunityDraft("Bomba", "Quiero una", "31", owner="9", stage="142"))
    assert body["_embedded"] == {"contacts": [{"id": 31}]}
    assert body["custom_fields_values"] == [custom(703, "Quiero una"), custom(702, "need-1")]
    assert (body["responsible_user_id"], body["status_id"]) == (9, 142)


def test_phone_and_e_mail_are_fields_with_a_code_of_their_own() -> None:
    values = sent(ordinary(Kind.CONTACT))["custom_fields_values"]
    assert isinstance(values, list)
    assert [each.get("field_code") for each in values] == ["PHONE", "EMAIL", None]


def test_own_fields_go_by_number_or_by_code() -> None:
    draft = ContactDraft("Rosa", fields=(("contact.88", "x"), ("contact.RUC", "20"), ("opportunity.9", "y")))
    values = sent(draft)["custom_fields_values"]
    assert values == [custom(88, "x"), {"field_code": "RUC", "values": [{"value": "20"}]}, custom(701, "need-1")]


@pytest.mark.parametrize(
    ("amount", "currency", "price", "text"),
    [("1200.50", "PEN", 1201, "x"), ("5", None, 5, "x"), ("5.5", "USD", None, "USD 5.5\n\nx")],
)
def test_a_price_is_a_whole_number_in_the_account_s_currency(
    amount: str, currency: str | None, price: int | None, text: str
) -> None:
    body = sent(OpportunityDraft("Bomba", "x", "31", Decimal(amount), currency))
    assert body.get("price") == price
    assert custom(703, text) in list(body["custom_fields_values"])  # type: ignore[call-overload]  # a list, as seen above


def test_a_task_ends_with_its_reference_and_is_due_in_unix_time() -> None:
    body = sent(TaskDraft("Llamar", "42", DUE, type="2"))
    assert (body["text"], body["complete_till"], body["task_type_id"]) == (
        "Llamar\n\n[ref:need-1]",
        int(DUE.timestamp()),
        2,
    )


def test_a_note_is_made_and_read_below_its_lead() -> None:
    assert CLIENT.create(NoteDraft("Hola", "42"), "n-1").path == "/api/v4/leads/42/notes"
    assert CLIENT.read(Kind.NOTE, "42:501").path == "/api/v4/leads/42/notes/501"
    made = {"_embedded": {"notes": [{"id": 501, "entity_id": 42}]}}
    assert CLIENT.created(Kind.NOTE, answer(200, made)) == Confirmed("42:501")
    nameless = {"_embedded": {"notes": [{"id": 501}]}}
    assert isinstance(CLIENT.created(Kind.NOTE, answer(200, nameless)), Uncertain)


def test_two_records_where_one_was_sent_are_doubt() -> None:
    made = {"_embedded": {"leads": [{"id": 1}, {"id": 2}]}}
    assert isinstance(CLIENT.created(Kind.OPPORTUNITY, answer(200, made)), Uncertain)


def test_nothing_is_204_without_a_body() -> None:
    nothing = Response(204, {}, b"")
    assert CLIENT.found(Kind.OPPORTUNITY, "need-1", nothing) == Absent()
    assert CLIENT.was_read(Kind.OPPORTUNITY, "42", nothing) == Absent()
    assert isinstance(CLIENT.created(Kind.OPPORTUNITY, nothing), Uncertain)


def test_a_page_with_a_next_one_proves_no_absence() -> None:
    page = {"_links": {"next": {"href": "x"}}, "_embedded": {"leads": [lead()]}}
    assert CLIENT.found(Kind.OPPORTUNITY, "need-1", answer(200, page)) == Unsure("more_than_one_page")


def test_a_lead_shows_its_main_contact_and_its_text() -> None:
    row = lead(status_id=142, custom_fields_values=[custom(703, "Quiero"), custom(702, "need-1")])
    looked = CLIENT.was_read(Kind.OPPORTUNITY, "42", answer(200, row))
    assert isinstance(looked, Found)
    seen = looked.seen
    assert (seen.reference, seen.contact_id, seen.closed) == ("need-1", "31", True)
    assert dict(seen.values) == {"title": "Bomba", "text": "Quiero", "amount": "", "currency": "PEN"}


def test_a_refusal_tells_path_and_code_and_no_value() -> None:
    wrong = {"errors": [{"code": "NotSupportedChoice", "path": "status_id", "detail": "Rosa is no status"}]}
    body = {"title": "Bad Request", "status": 400, "validation-errors": [wrong]}
    told = CLIENT.created(Kind.OPPORTUNITY, answer(400, body))
    assert told == Rejected("validation", (("status_id", "NotSupportedChoice"),))


@pytest.mark.parametrize("status", [402, 403])
def test_plan_and_rights_are_the_account_s(status: int) -> None:
    own = answer(status, {"title": "Forbidden", "status": status})
    assert CLIENT.created(Kind.TASK, own) == Retry("forbidden", scope="account")
    assert isinstance(CLIENT.created(Kind.TASK, Response(status, {}, b"<html>")), Uncertain)


def test_an_update_of_the_amount_in_another_currency_is_left() -> None:
    request = CLIENT.update(Kind.OPPORTUNITY, "42", {"amount": "5", "currency": "USD", "title": "Bomba"})
    assert json.loads(request.body or b"") == {"name": "Bomba"}


def test_a_look_is_weak_until_the_owner_measured_a_lag() -> None:
    assert from_settings(NEEDED).capability(Kind.TASK) == Capability("marker", look="weak", sees_archived=False)
    assert from_settings(NEEDED | {"lag_seconds": "30"}).capability(Kind.CONTACT).look == "strong"


@pytest.mark.parametrize("wrong", [{}, NEEDED | {"lead_text": "text"}, NEEDED | {"currency": "PEN USD"}], ids=str)
def test_options_that_cannot_be_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        from_settings(wrong)
