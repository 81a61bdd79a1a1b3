"""What is Salesforce's own: queries, refusals in a list, fields that must be there, and an update without an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from crm_clients.base import (
    Absent,
    Confirmed,
    ContactDraft,
    Duplicate,
    Found,
    Kind,
    NoteDraft,
    OpportunityDraft,
    Rejected,
    Request,
    Response,
    Retry,
    Seen,
    Uncertain,
    UnreadableAnswer,
    Unsure,
)
from crm_clients.options import BadSetting
from crm_clients.registry import build
from crm_clients.salesforce import Salesforce
from tests.contract.drafts import longest, ordinary
from workers.strategy import Never, Refused, strategy

CLIENT = Salesforce()
ROSA = ContactDraft("Rosa María Quispe", "+51987654321", "rosa@example.com")
DEAL = "0065g00000AbCdEAAV"


def answer(status: int, body: object) -> Response:
    return Response(status, {}, json.dumps(body).encode())


def sent(request: Request) -> dict[str, object]:
    body = json.loads(request.body or b"{}")
    assert isinstance(body, dict)
    return body


def soql(request: Request) -> str:
    return dict(request.query)["q"]


def rows(*records: Mapping[str, object], done: bool = True) -> Response:
    return answer(200, {"totalSize": len(records), "done": done, "records": list(records)})


def refused(code: str, message: str = "x", *fields: str) -> Response:
    return answer(400, [{"errorCode": code, "message": message, "fields": list(fields)}])


def deal(client: Salesforce = CLIENT, **values: object) -> Seen:
    looked = client.was_read(Kind.OPPORTUNITY, DEAL, rows({"Id": DEAL, "Lead_Ref__c": None, **values}))
    assert isinstance(looked, Found)
    return looked.seen


def test_an_opportunity_has_a_contact_a_stage_and_a_day_to_close() -> None:
    came = datetime(2026, 11, 29, 15, 0, tzinfo=UTC)
    draft = OpportunityDraft("Bomba", "Urgente", "0035g00000AbCdEAAV", received_at=came)
    body = sent(CLIENT.create(draft, "need-1-o"))
    assert (body["ContactId"], body["StageName"], body["CloseDate"]) == (
        "0035g00000AbCdEAAV", "Prospecting", "2026-12-29",
    )  # fmt: skip
    assert sent(CLIENT.create(replace(draft, stage="Calificado"), "need-1-o"))["StageName"] == "Calificado"


def test_a_record_is_created_and_never_upserted() -> None:
    request = CLIENT.create(ordinary(Kind.OPPORTUNITY), "need-1-o")
    assert (request.method, request.path) == ("POST", "/services/data/v62.0/sobjects/Opportunity")
    assert sent(request)["Lead_Ref__c"] == "need-1-o"


def test_a_look_sees_what_is_deleted_and_asks_for_owner_and_liveness() -> None:
    request = CLIENT.find(Kind.OPPORTUNITY, "need-1-o", parent_id=None)
    assert request.path.endswith("/queryAll")
    assert "OwnerId, IsDeleted, Lead_Ref__c" in soql(request)


def test_a_task_is_looked_for_under_its_opportunity() -> None:
    assert f"WHERE Lead_Ref__c = 't-1' AND WhatId = '{DEAL}'" in soql(CLIENT.find(Kind.TASK, "t-1", parent_id=DEAL))


def test_a_note_bears_its_reference_in_the_title() -> None:
    body = sent(CLIENT.create(NoteDraft("¿Cuánto demora?", DEAL), "n-1"))
    assert (body["Title"], body["Body"], body["ParentId"]) == ("[ref:n-1]", "¿Cuánto demora?", DEAL)
    assert len(f"[ref:{'x' * 64}]") <= 80
    looked = CLIENT.found(Kind.NOTE, "n-1", rows({"Id": "0025g00000AbCdEEAV", **body}))
    assert isinstance(looked, Found)
    assert looked.seen.values["text"] == "¿Cuánto demora?"


@pytest.mark.parametrize("value", ["x' OR Name != '", "\\' OR Name != '", "x\nLIMIT 1"])
def test_a_value_cannot_leave_its_quotes(value: str) -> None:
    query = soql(CLIENT.read(Kind.CONTACT, value))
    inside = query.partition("WHERE Id = '")[2].rpartition("' LIMIT")[0]
    assert "'" not in inside.replace("\\\\", "").replace("\\'", "")
    assert "\n" not in query


def test_a_reference_in_other_letters_is_another_s() -> None:
    """SOQL compares without regard to case."""
    record = {"Id": DEAL, "Lead_Ref__c": "NEED-1-o"}
    assert CLIENT.found(Kind.OPPORTUNITY, "need-1-o", rows(record)) == Absent()


def test_a_long_lead_is_cut_where_salesforce_would_refuse_it() -> None:
    contact, opportunity = (sent(CLIENT.create(longest(kind), "r-1")) for kind in (Kind.CONTACT, Kind.OPPORTUNITY))
    assert (len(str(contact["LastName"])) <= 80, len(str(contact["FirstName"])) <= 40) == (True, True)
    assert (len(str(opportunity["Name"])) <= 120, len(str(opportunity["Description"])) <= 32_000) == (True, True)


def test_a_contact_without_a_name_has_a_last_name_all_the_same() -> None:
    assert sent(CLIENT.create(ContactDraft(""), "c-1"))["LastName"] == "-"


def test_an_amount_in_a_currency_that_the_org_lacks_stands_in_the_text() -> None:
    draft = OpportunityDraft("Bomba", "Urgente", "", Decimal("1200.50"), "PEN")
    body = sent(Salesforce(currencies=("USD",)).create(draft, "o-1"))
    assert (body.get("Amount"), body["Description"]) == (None, "PEN 1200.50\n\nUrgente")


def test_one_of_several_currencies_is_named_and_read_back() -> None:
    client = Salesforce(currencies=("PEN", "USD"))
    assert sent(client.create(ordinary(Kind.OPPORTUNITY), "o-1"))["CurrencyIsoCode"] == "USD"
    assert "CurrencyIsoCode" in soql(client.read(Kind.OPPORTUNITY, DEAL))
    assert "CurrencyIsoCode" not in soql(CLIENT.read(Kind.OPPORTUNITY, DEAL))
    assert deal(client, Amount=5, CurrencyIsoCode="USD").values["currency"] == "USD"


def test_an_update_is_done_without_an_answer() -> None:
    request = CLIENT.update(Kind.OPPORTUNITY, DEAL, {"text": "", "title": "Dos bombas"})
    assert (request.method, sent(request)) == ("PATCH", {"Description": None, "Name": "Dos bombas"})
    assert CLIENT.updated(Kind.OPPORTUNITY, DEAL, Response(204, {}, b"")) == Confirmed(DEAL)
    assert isinstance(CLIENT.created(Kind.OPPORTUNITY, Response(204, {}, b"")), Uncertain)


@pytest.mark.parametrize(
    ("message", "means"),
    [
        ("Lead_Ref__c duplicates value on record with id: 0065g00000AbCdE", Duplicate("reference", "0065g00000AbCdE")),
        ("LEAD_REF__C duplicates value on record with id: <unknown>", Duplicate("reference")),
        ("RUC__c duplicates value on record with id: 0035g00000AbCdE", Duplicate("other", "0035g00000AbCdE")),
        ("duplicate value found", Duplicate("other")),
    ],
)
def test_a_value_that_is_taken_names_field_and_record(message: str, means: Duplicate) -> None:
    assert CLIENT.created(Kind.OPPORTUNITY, refused("DUPLICATE_VALUE", f"duplicate value found: {message}")) == means


def test_a_duplicate_rule_is_not_about_our_reference() -> None:
    assert CLIENT.created(Kind.CONTACT, refused("DUPLICATES_DETECTED")) == Duplicate("other")


def test_a_refusal_names_fields_and_not_what_the_visitor_wrote() -> None:
    told = CLIENT.created(Kind.CONTACT, refused("INVALID_EMAIL_ADDRESS", "Email: invalid: rosa@", "Email"))
    assert told == Rejected("validation", (("Email", "INVALID_EMAIL_ADDRESS"),))


def test_the_limit_of_calls_comes_as_a_403() -> None:
    limit = answer(403, [{"errorCode": "REQUEST_LIMIT_EXCEEDED", "message": "TotalRequests Limit exceeded."}])
    assert CLIENT.created(Kind.CONTACT, limit) == Retry("rate_limited", scope="account", passing=True)
    assert CLIENT.found(Kind.CONTACT, "c-1", limit) == Unsure("rate_limited", scope="account")


def test_a_lock_of_somebody_else_s_is_tried_again() -> None:
    assert CLIENT.created(Kind.TASK, refused("UNABLE_TO_LOCK_ROW")) == Retry("locked")


def test_a_number_is_asked_for_as_it_may_have_been_typed() -> None:
    by_email, by_phone = CLIENT.matches(ROSA)
    assert "WHERE Email = 'rosa@example.com'" in soql(by_email)
    assert "MobilePhone IN ('+51987654321', '987654321', '987 654 321'" in soql(by_phone)
    assert by_email.path.endswith("/query")


def test_only_who_really_has_the_number_is_the_same_person() -> None:
    them = [{"Id": f"003{n}", "Lead_Ref__c": None, "MobilePhone": f"987 654 32{n}"} for n in (1, 2)]
    assert [one.crm_id for one in CLIENT.matched(ROSA, rows(*them))] == ["0031"]


def test_a_whatsapp_number_is_looked_for_where_it_stands() -> None:
    client = build("salesforce", {"whatsapp_field": "WhatsApp__c"})
    draft = ContactDraft("Rosa", fields=(("contact.WhatsApp__c", "51987654321"),))
    (request,) = client.matches(draft)
    assert "(WhatsApp__c = '51987654321')" in soql(request)
    theirs = {"Id": "0031", "Lead_Ref__c": None, "WhatsApp__c": "51987654321"}
    assert [one.crm_id for one in client.matched(draft, rows(theirs))] == ["0031"]


@pytest.mark.parametrize("count", [1, 200])
def test_a_query_that_may_have_more_says_nothing(count: int) -> None:
    them = [{"Id": f"003{n}", "Lead_Ref__c": None} for n in range(count)]
    with pytest.raises(UnreadableAnswer):
        CLIENT.matched(ROSA, rows(*them, done=count == 200))


def test_the_opportunities_of_a_contact_are_those_whose_primary_one_it_is() -> None:
    records = [{"Id": f"006{n}", "Lead_Ref__c": f"o-{n}", "ContactId": owner} for n, owner in ((8, "401"), (9, None))]
    assert [one.reference for one in CLIENT.listed("401", rows(*records))] == ["o-8"]


def test_a_record_that_was_merged_away_is_not_alive_and_names_the_one_that_was_kept() -> None:
    gone = {"Id": "0031", "Lead_Ref__c": "c-1", "IsDeleted": True, "MasterRecordId": "0032"}
    looked = CLIENT.was_read(Kind.CONTACT, "0031", rows(gone))
    assert isinstance(looked, Found)
    assert (looked.seen.live, looked.seen.merged_into) == (False, "0032")


def test_a_won_or_lost_opportunity_is_closed() -> None:
    assert (deal(IsClosed=True).closed, deal(IsClosed=False).closed, deal().closed) == (True, False, None)


def test_nothing_is_made_twice_until_the_owner_has_seen_it_refused() -> None:
    assert strategy(Kind.OPPORTUNITY, CLIENT.capability(Kind.OPPORTUNITY), None).proof == Never()
    tried = build("salesforce", {"enforced": "contact opportunity"})
    assert strategy(Kind.OPPORTUNITY, tried.capability(Kind.OPPORTUNITY), None).proof == Refused()
    assert strategy(Kind.TASK, tried.capability(Kind.TASK), None).proof == Never()


@pytest.mark.parametrize(
    "options",
    [
        {"enforced": "note"},
        {"reference_field": "x y"},
        {"whatsapp_field": "a'b"},
        {"close_days": "soon"},
        {"currency": "PEN"},
    ],
)
def test_an_option_that_means_nothing_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        build("salesforce", options)


def test_all_that_bear_a_reference_are_listed_in_the_order_of_their_ids() -> None:
    first, following = (CLIENT.all_of(Kind.TASK, after=after) for after in (None, "00T9"))
    assert first is not None
    assert following is not None
    assert "WHERE Lead_Ref__c != null ORDER BY Id LIMIT 200" in soql(first)
    assert "WHERE Lead_Ref__c != null AND Id > '00T9' ORDER BY Id" in soql(following)
    full = [{"Id": f"00T{n:03}", "Lead_Ref__c": f"t-{n}"} for n in range(200)]
    assert CLIENT.page_of(Kind.TASK, rows(*full), after=None).after == "00T199"
    assert CLIENT.page_of(Kind.TASK, rows(*full[:5]), after="00T9").after is None


def test_notes_are_listed_by_their_titles() -> None:
    request = CLIENT.all_of(Kind.NOTE, after=None)
    assert request is not None
    assert "Title LIKE '[ref:%'" in soql(request)
