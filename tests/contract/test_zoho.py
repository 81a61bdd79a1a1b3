"""What is Zoho's own: outcomes inside `data`, external fields, lists without content, and notes that have no field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal

import pytest

from crm_clients.base import (
    Absent,
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
    UnreadableAnswer,
    Unsure,
)
from crm_clients.options import BadSetting
from crm_clients.registry import build
from crm_clients.zoho import Zoho
from tests.contract.drafts import longest, ordinary
from workers.strategy import Never, Refused, strategy

CLIENT = Zoho()
ROSA = ContactDraft("Rosa María Quispe", "+51987654321", "rosa@example.com")


def answer(status: int, body: object) -> Response:
    return Response(status, {}, json.dumps(body).encode())


def row(request: Request) -> Mapping[str, object]:
    (only,) = json.loads(request.body or b"{}")["data"]
    assert isinstance(only, dict)
    return only


def refused(code: str, message: str = "x", status: int = 400, **details: object) -> Response:
    return answer(status, {"data": [{"code": code, "message": message, "status": "error", "details": details}]})


def contacts(*rows: Mapping[str, object], more: bool = False) -> Response:
    shown = [{"id": "401", "Lead_Ref": None, **each} for each in rows]
    return answer(200, {"data": shown, "info": {"more_records": more}})


def deal(**values: object) -> Seen:
    looked = CLIENT.was_read(Kind.OPPORTUNITY, "9", answer(200, {"data": [{"id": "9", "Lead_Ref": None, **values}]}))
    assert isinstance(looked, Found)
    return looked.seen


def test_the_token_stands_behind_zoho_s_own_word() -> None:
    account = CLIENT.account("crm", "https://www.zohoapis.example", "1000.abc")
    assert account.headers == (("Authorization", "Zoho-oauthtoken 1000.abc"),)
    assert "1000.abc" not in repr(account)


def test_a_record_is_asked_for_by_its_external_field() -> None:
    request = CLIENT.find(Kind.OPPORTUNITY, "need-1", parent_id=None)
    assert request.path == "/crm/v8/Deals/need-1"
    assert ("X-EXTERNAL", "Deals.Lead_Ref") in request.headers
    assert "Owner" in dict(request.query)["fields"].split(",")


def test_the_last_word_of_a_name_is_the_last_name() -> None:
    named = row(CLIENT.create(ROSA, "c-1"))
    assert (named["First_Name"], named["Last_Name"]) == ("Rosa María", "Quispe")


def test_a_contact_without_a_name_has_a_last_name_all_the_same() -> None:
    assert row(CLIENT.create(ContactDraft(""), "c-1"))["Last_Name"] == "-"


def test_a_deal_points_to_its_contact_and_a_task_to_its_deal() -> None:
    assert row(CLIENT.create(ordinary(Kind.OPPORTUNITY, parent_id="401"), "o-1"))["Contact_Name"] == {"id": "401"}
    task = row(CLIENT.create(ordinary(Kind.TASK, parent_id="9"), "t-1"))
    assert (task["What_Id"], task["$se_module"], task["Due_Date"]) == ({"id": "9"}, "Deals", "2026-12-24")


def test_a_long_lead_is_cut_where_zoho_would_refuse_it() -> None:
    named = row(CLIENT.create(longest(Kind.OPPORTUNITY), "o-1"))
    assert len(str(named["Deal_Name"])) <= 120
    assert len(str(named["Description"])) <= 32_000


def test_a_note_that_is_too_long_keeps_its_reference() -> None:
    content = str(row(CLIENT.create(NoteDraft("x" * 40_000, "9"), "n-1"))["Note_Content"])
    assert len(content) <= 32_000
    assert content.endswith("[ref:n-1]")


def test_an_amount_is_a_number_and_its_currency_named_where_there_are_several() -> None:
    named = row(Zoho(currencies=("PEN", "USD")).create(ordinary(Kind.OPPORTUNITY), "o-1"))
    assert (named["Amount"], named["Currency"]) == (1200.5, "USD")


def test_an_amount_in_a_currency_that_the_account_lacks_stands_in_the_text() -> None:
    draft = OpportunityDraft("Bomba", "Urgente", "401", Decimal("1200.50"), "PEN")
    named = row(Zoho(currencies=("USD",)).create(draft, "o-1"))
    assert (named.get("Amount"), named["Description"]) == (None, "PEN 1200.50\n\nUrgente")


def test_a_text_that_is_taken_away_is_cleared() -> None:
    request = CLIENT.update(Kind.OPPORTUNITY, "9", {"text": "", "title": "Bomba"})
    assert (request.method, row(request)) == ("PUT", {"Description": None, "Deal_Name": "Bomba"})


@pytest.mark.parametrize(
    ("code", "means"),
    [
        ("PATTERN_NOT_MATCHED", Rejected("validation", (("data", "PATTERN_NOT_MATCHED"),))),
        ("RECORD_LOCKED", Rejected("record_locked", (("code", "RECORD_LOCKED"),))),
        ("INVALID_TOKEN", Retry("bad_credential", scope="account")),
        ("NO_PERMISSION", Retry("forbidden", scope="account")),
        ("LIMIT_EXCEEDED", Retry("plan_limit", scope="account")),
    ],
)
@pytest.mark.parametrize("status", [200, 202, 207, 400, 401, 403])
def test_the_code_decides_whatever_the_status(code: str, means: object, status: int) -> None:
    assert CLIENT.created(Kind.OPPORTUNITY, refused(code, status=status)) == means


def test_a_value_of_another_unique_field_is_not_ours() -> None:
    taken = refused("DUPLICATE_DATA", "duplicate data", api_name="RUC", duplicate_record={"id": "5"})
    assert CLIENT.created(Kind.CONTACT, taken) == Duplicate("other", "5")


def test_a_success_for_another_record_is_no_success_of_this_one() -> None:
    done = {"data": [{"code": "SUCCESS", "status": "success", "details": {"id": "8"}}]}
    assert CLIENT.updated(Kind.OPPORTUNITY, "9", answer(200, done)) != CLIENT.updated(
        Kind.OPPORTUNITY, "8", answer(200, done)
    )


def test_a_list_without_content_is_empty() -> None:
    nothing = Response(204, {}, b"")
    assert CLIENT.found(Kind.NOTE, "n-1", nothing) == Absent()
    assert CLIENT.matched(ROSA, nothing) == ()
    assert CLIENT.listed("401", nothing) == ()


def test_an_error_where_records_stand_is_no_record() -> None:
    assert isinstance(CLIENT.found(Kind.OPPORTUNITY, "o-1", refused("INTERNAL_ERROR", status=200)), Unsure)


def test_a_record_that_does_not_show_its_reference_tells_nothing() -> None:
    assert isinstance(CLIENT.found(Kind.OPPORTUNITY, "o-1", answer(200, {"data": [{"id": "9"}]})), Unsure)


def test_an_e_mail_and_a_number_are_asked_for_in_the_query() -> None:
    by_email, by_phone = CLIENT.matches(ROSA)
    assert dict(by_email.query)["email"] == "rosa@example.com"
    assert "(Mobile:equals:987654321)" in dict(by_phone.query)["criteria"]


def test_signs_of_the_criteria_s_own_language_are_escaped() -> None:
    (by_phone,) = CLIENT.matches(ContactDraft("Rosa", "+5112345678"))
    assert "\\(01\\)" in dict(by_phone.query)["criteria"]


def test_a_whatsapp_number_is_looked_for_where_it_stands() -> None:
    client = build("zoho", {"whatsapp_field": "WhatsApp"})
    draft = ContactDraft("Rosa", fields=(("contact.WhatsApp", "51987654321"),))
    (request,) = client.matches(draft)
    assert dict(request.query)["criteria"] == "((WhatsApp:equals:51987654321))"
    assert [one.crm_id for one in client.matched(draft, contacts({"WhatsApp": "+51 987 654 321"}))] == ["401"]


def test_who_only_has_a_number_like_it_is_somebody_else() -> None:
    assert CLIENT.matched(ROSA, contacts({"Phone": "987654322"}, {"Mobile": "+51 987 654 321"})) != ()
    assert CLIENT.matched(ROSA, contacts({"Phone": "987654322"})) == ()


def test_a_search_with_more_than_it_shows_says_nothing() -> None:
    with pytest.raises(UnreadableAnswer):
        CLIENT.matched(ROSA, contacts({"Phone": "987654321"}, more=True))


def test_a_deal_in_which_the_contact_only_has_a_role_is_not_theirs() -> None:
    rows = [{"id": str(n), "Lead_Ref": f"o-{n}", "Contact_Name": {"id": owner}} for n, owner in ((8, "401"), (9, "77"))]
    listed = CLIENT.listed("401", answer(200, {"data": rows, "info": {"more_records": False}}))
    assert [one.reference for one in listed] == ["o-8"]


def test_whether_a_deal_is_closed_only_the_owner_s_stages_tell() -> None:
    assert deal(Stage="Closed Won").closed is None
    client = build("zoho", {"closed_stages": "Closed Won, Closed Lost"})
    for stage, closed in (("Closed Won", True), ("Qualification", False)):
        looked = client.was_read(
            Kind.OPPORTUNITY, "9", answer(200, {"data": [{"id": "9", "Lead_Ref": None, "Stage": stage}]})
        )
        assert isinstance(looked, Found)
        assert looked.seen.closed is closed


def test_nothing_is_made_twice_until_the_owner_has_seen_it_refused() -> None:
    assert strategy(Kind.OPPORTUNITY, CLIENT.capability(Kind.OPPORTUNITY), None).proof == Never()
    tried = build("zoho", {"enforced": "opportunity"})
    assert strategy(Kind.OPPORTUNITY, tried.capability(Kind.OPPORTUNITY), None).proof == Refused()


@pytest.mark.parametrize(
    "options", [{"enforced": "note"}, {"currencies": "pen"}, {"limit_seconds": "x"}, {"api": "v8"}]
)
def test_an_option_that_means_nothing_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        build("zoho", options)
