"""What is Bitrix24's own: a secret in the address, codes instead of numbers, and a key that makes a task once."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from crm_clients.abilities import FormsAccount
from crm_clients.base import (
    Absent,
    Account,
    Capability,
    ContactDraft,
    Draft,
    Duplicate,
    Found,
    Kind,
    NoteDraft,
    OpportunityDraft,
    Rejected,
    Response,
    Retry,
    TaskDraft,
    Uncertain,
    UnreadableAnswer,
    Unsure,
)
from crm_clients.bitrix24.client import PLACE, Bitrix24, from_settings
from crm_clients.options import BadSetting
from tests.contract.drafts import DUE, ordinary

CLIENT = Bitrix24(maker=1, currencies=("PEN", "USD"))


def answer(status: int, body: object) -> Response:
    return Response(status, {}, json.dumps(body).encode())


def sent(draft: Draft) -> dict[str, object]:
    fields = json.loads(CLIENT.create(draft, "need-1").body or b"")["fields"]
    assert isinstance(fields, dict)
    return fields


def refused(status: int, code: str, kind: Kind = Kind.OPPORTUNITY) -> object:
    return CLIENT.created(kind, answer(status, {"error": code, "error_description": "no"}))


def deals(*rows: object, **more: object) -> Response:
    return answer(200, {"result": {"items": list(rows)}, "total": len(rows)} | more)


def deal(**more: object) -> dict[str, object]:
    row: dict[str, object] = {"id": 9, "originatorId": "intake", "originId": "need-1", "title": "Bomba", "closed": "N"}
    return row | {"contactIds": [12], "opportunity": 0, "currencyId": "USD", "comments": None} | more


# --- requests ---


def test_the_webhook_is_left_to_the_transport() -> None:
    forms: FormsAccount = CLIENT
    account = forms.account("crm", "https://acme.bitrix24.example", "1/abc123")
    assert (account.headers, account.places) == ((), ((PLACE, "1/abc123"),))
    assert CLIENT.create(ordinary(Kind.CONTACT), "c-1").path == f"/rest/{PLACE}/crm.item.add"


def test_a_token_stands_in_the_body_and_no_user_in_the_address() -> None:
    account = CLIENT.with_token(Account("crm", "https://acme.bitrix24.example"), "t0ken")
    ((place, nothing),) = account.places
    paths = [CLIENT.create(ordinary(kind), "c-1").path.replace(place, nothing, 1) for kind in (Kind.CONTACT, Kind.TASK)]
    assert paths == ["/rest/crm.item.add", "/rest/api/tasks.task.add"]
    assert (account.headers, account.members) == ((), (("auth", "t0ken"),))


@pytest.mark.parametrize("wrong", ["abc123", "1/../x", "1/abc/", "https://acme.bitrix24.example/rest/1/abc123"])
def test_a_credential_that_is_no_webhook_is_refused_and_not_shown(wrong: str) -> None:
    with pytest.raises(ValueError, match="webhook") as refusal:
        CLIENT.account("crm", "https://acme.bitrix24.example", wrong)
    assert wrong not in str(refusal.value)


def test_a_task_is_made_by_the_new_interface_with_a_key_of_its_reference() -> None:
    request = CLIENT.create(TaskDraft("Llamar", "9", DUE, owner="7"), "t-1")
    assert request.path == f"/rest/api/{PLACE}/tasks.task.add"
    assert ("Idempotency-Key", "t-1") in request.headers


def test_a_task_says_its_deal_its_time_and_its_reference() -> None:
    fields = sent(TaskDraft("Llamar", "9", DUE))
    assert (fields["crmItemIds"], fields["deadline"], fields["xmlId"]) == (["D_9"], DUE.isoformat(), "need-1")
    assert (fields["description"], fields["creatorId"], fields["responsibleId"]) == ("[ref:need-1]", 1, 1)


def test_a_deal_carries_contact_origin_and_stage_in_one_request() -> None:
    fields = sent(
        OpportunityDraft("Bomba", "Quiero", "12", Decimal("5.5"), "PEN", owner="7", pipeline="2", stage="NEW")
    )
    assert (fields["contactIds"], fields["originatorId"], fields["originId"]) == ([12], "intake", "need-1")
    assert (fields["categoryId"], fields["stageId"], fields["assignedById"]) == (2, "NEW", 7)
    assert (fields["opportunity"], fields["currencyId"]) == (5.5, "PEN")


def test_an_amount_in_a_currency_that_the_crm_lacks_stands_in_the_text() -> None:
    fields = sent(OpportunityDraft("Bomba", "x", "12", Decimal("5.5"), "EUR"))
    assert (fields.get("opportunity"), fields["comments"]) == (None, "EUR 5.5\n\nx")


def test_phone_and_e_mail_are_multiple_fields() -> None:
    assert sent(ContactDraft("Rosa Quispe", "+51987654321"))["fm"] == [
        {"typeId": "PHONE", "valueType": "WORK", "value": "+51987654321"}
    ]


def test_a_note_is_a_comment_on_the_deal() -> None:
    assert sent(NoteDraft("Hola", "9")) == {"ENTITY_ID": 9, "ENTITY_TYPE": "deal", "COMMENT": "Hola\n\n[ref:need-1]"}


def test_people_are_looked_for_in_every_form_of_their_number() -> None:
    by_phone, by_email = CLIENT.matches(ContactDraft("Rosa", "+51987654321", "rosa@example.com"))
    assert {"+51987654321", "987654321"} <= set(json.loads(by_phone.body or b"")["values"])
    assert json.loads(by_email.body or b"")["values"] == ["rosa@example.com"]


# --- answers ---


@pytest.mark.parametrize(
    ("status", "code", "means"),
    [
        (400, "CRM_FIELD_ERROR_VALUE_NOT_VALID", Rejected("validation", (("CRM_FIELD_ERROR_VALUE_NOT_VALID", "no"),))),
        (400, "ACCESS_DENIED", Retry("forbidden", scope="account")),
        (403, "insufficient_scope", Retry("forbidden", scope="account")),
        (403, "INVALID_CREDENTIALS", Retry("bad_credential", scope="account")),
        (404, "ERROR_METHOD_NOT_FOUND", Retry("method_missing", scope="account")),
        (429, "OPERATION_TIME_LIMIT", Retry("rate_limited", scope="account", passing=True)),
        (503, "QUERY_LIMIT_EXCEEDED", Retry("rate_limited", scope="account", passing=True)),
        (503, "OVERLOAD_LIMIT", Retry("overloaded", scope="account")),
    ],
)
def test_a_refusal_is_known_by_its_code(status: int, code: str, means: object) -> None:
    assert refused(status, code) == means


@pytest.mark.parametrize(("status", "code"), [(500, "INTERNAL_SERVER_ERROR"), (503, "PORTAL"), (502, "ACCESS_DENIED")])
def test_any_other_failure_of_the_server_is_doubt(status: int, code: str) -> None:
    assert isinstance(refused(status, code), Uncertain)


def test_a_key_that_was_used_for_another_body_means_that_the_task_stands() -> None:
    error = {"error": {"code": "BITRIX_REST_V3_EXCEPTION_IDEMPOTENCYKEYREUSEDEXCEPTION", "message": "no"}}
    assert CLIENT.created(Kind.TASK, answer(422, error)) == Duplicate("reference")


def test_a_comment_s_number_leads_to_no_comment() -> None:
    assert CLIENT.created(Kind.NOTE, answer(200, {"result": 999})) == Uncertain("no_id_by_design")
    assert not CLIENT.capability(Kind.NOTE).returns_id


def test_the_reference_of_another_system_is_not_ours() -> None:
    looked = CLIENT.found(Kind.OPPORTUNITY, "need-1", deals(deal(originatorId="shop")))
    assert looked == Absent()


def test_a_filter_that_is_passed_over_finds_only_what_bears_the_reference() -> None:
    looked = CLIENT.found(Kind.OPPORTUNITY, "need-1", deals(deal(id=8, originId="x"), deal()))
    assert isinstance(looked, Found)
    assert looked.seen.crm_id == "9"


@pytest.mark.parametrize("more", [{"total": 60}, {"next": 50}])
def test_a_page_of_a_longer_list_proves_no_absence(more: dict[str, object]) -> None:
    looked = CLIENT.found(Kind.OPPORTUNITY, "need-2", deals(deal(), **more))
    assert looked == Unsure("more_than_one_page")


def test_a_deal_that_hides_its_origin_proves_nothing() -> None:
    hidden = {name: value for name, value in deal().items() if name != "originId"}
    assert isinstance(CLIENT.found(Kind.OPPORTUNITY, "need-1", deals(hidden)), Unsure)


def test_a_deal_shows_contact_closing_and_text_however_it_is_kept() -> None:
    row = deal(closed="Y", comments="<p>Una<br>bomba</p>")
    looked = CLIENT.was_read(Kind.OPPORTUNITY, "9", answer(200, {"result": {"item": row}}))
    assert isinstance(looked, Found)
    assert (looked.seen.contact_id, looked.seen.closed) == ("12", True)
    assert (looked.seen.values["text"], looked.seen.values["amount"]) == ("Una\nbomba", "")


def test_people_are_told_by_their_numbers_and_nobody_by_an_empty_list() -> None:
    draft = ContactDraft("Rosa", "+51987654321")
    assert [each.crm_id for each in CLIENT.matched(draft, answer(200, {"result": {"CONTACT": [12, 5]}}))] == ["12", "5"]
    assert CLIENT.matched(draft, answer(200, {"result": []})) == ()
    with pytest.raises(UnreadableAnswer):
        CLIENT.matched(draft, answer(400, {"error": "x"}))


def test_the_documented_limit_counts_when_the_owner_says_that_it_is_the_cloud() -> None:
    assert from_settings({"user": "1"}).capability(Kind.OPPORTUNITY).limit is None
    told = from_settings({"user": "1", "limit_seconds": "60"}).capability(Kind.TASK)
    assert isinstance(told, Capability)
    assert told.limit is not None


@pytest.mark.parametrize("wrong", [{}, {"user": "ana"}, {"user": "1", "currencies": "soles"}], ids=str)
def test_options_that_cannot_be_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        from_settings(wrong)
