"""What is Tryton's own: filters in base64, errors in HTML, and tasks that know no opportunity."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal

import pytest

from crm_clients.base import (
    Absent,
    Confirmed,
    ContactDraft,
    Duplicate,
    Found,
    Kind,
    OpportunityDraft,
    Rejected,
    Response,
    Retry,
    Several,
    TaskDraft,
    Uncertain,
    Unsure,
)
from crm_clients.options import BadSetting
from crm_clients.tryton.client import Tryton, from_settings
from tests.contract.asking import said
from tests.contract.drafts import DUE, ordinary

CLIENT = Tryton(currency="PEN")
CODED = Tryton(contact_reference="code")
AMOUNT = Decimal("1200.505")


def answer(status: int, body: object) -> Response:
    return Response(status, {}, json.dumps(body).encode())


def sent(draft: ContactDraft | OpportunityDraft | TaskDraft, client: Tryton = CLIENT) -> dict[str, object]:
    body = json.loads(client.create(draft, "need-1").body or b"")
    assert isinstance(body, dict)
    return body


def refused(message: str) -> object:
    return CLIENT.created(Kind.OPPORTUNITY, answer(400, {"status": 400, "message": message, "description": ""}))


def party(*codes: str, **more: object) -> dict[str, object]:
    identifiers = [{"id": number, "code": code, "type": None} for number, code in enumerate(codes, 1)]
    row: dict[str, object] = {"id": 4, "name": "Rosa", "code": "12", "active": True, "contact_mechanisms": []}
    return row | {"identifiers": identifiers} | more


def opportunity(**more: object) -> dict[str, object]:
    row: dict[str, object] = {"id": 9, "reference": "need-1", "description": "Bomba", "comment": None, "party": 4}
    worth = {"amount": None, "currency": {"id": 1, "code": "PEN"}}
    return row | {"employee": 2, "state": "lead"} | worth | more


def test_the_company_is_told_with_every_request() -> None:
    account = Tryton(company=3).account("crm", "https://tryton.example.com", "k-1")
    assert account.headers == (("Authorization", "Bearer k-1"), ("X-Tryton-Context", "eyJjb21wYW55IjogM30="))


def test_a_contact_s_reference_is_an_identifier_or_the_code() -> None:
    assert sent(ContactDraft("Rosa"))["identifiers"] == [["create", [{"code": "need-1"}]]]
    assert sent(ContactDraft("Rosa"), CODED)["code"] == "need-1"


def test_only_a_unique_code_counts_as_enforced() -> None:
    assert CODED.capability(Kind.CONTACT).reference == "enforced"
    assert CLIENT.capability(Kind.CONTACT).reference == "stored"
    assert CODED.capability(Kind.OPPORTUNITY).reference == "stored"


def test_inactive_parties_are_asked_for_by_name() -> None:
    for request in (CLIENT.find(Kind.CONTACT, "need-1", parent_id=None), CLIENT.read(Kind.CONTACT, "4")):
        assert '["active", "in", [true, false]]' in said(request)


def test_a_task_names_opportunity_due_time_and_employee_in_its_comment() -> None:
    task = sent(TaskDraft("Llamar a Rosa\\Ana", "9", DUE, owner="2"))
    assert task["comment"] == "sale.opportunity,9\n2026-12-24 15:30 UTC\ncompany.employee,2\n\n[ref:need-1]"
    assert task["name"] == "Llamar a Rosa/Ana"


def test_an_amount_has_two_decimals_and_the_company_s_currency() -> None:
    dollars = sent(OpportunityDraft("Bomba", "x", "4", currency="USD", amount=AMOUNT))
    assert "amount" not in dollars
    assert dollars["comment"] == "USD 1200.505\n\nx"
    assert sent(OpportunityDraft("Bomba", "x", "4", currency="PEN", amount=AMOUNT))["amount"] == "1200.50"


def test_a_code_that_stands_already_is_a_duplicate_by_reference() -> None:
    assert refused("The code on party must be unique.") == Duplicate("reference")


@pytest.mark.parametrize(
    ("message", "field", "rule"),
    [
        ('The value "99" for field "Employee" in "Sale Opportunity" does not exist.', "Employee", "The value …"),
        ('A value is required for field "Company" in "Party".', "Company", "A value is required for field …"),
        ('The phone number "+519" for party "Rosa Quispe" is not valid.', "message", "The phone number …"),
    ],
)
def test_a_refusal_tells_the_field_and_no_value(message: str, field: str, rule: str) -> None:
    assert refused(message) == Rejected("validation", ((field, rule),))


def test_a_record_that_may_not_be_read_is_made_and_unknown() -> None:
    assert isinstance(CLIENT.created(Kind.TASK, Response(204, {}, b"")), Uncertain)


def test_a_wrong_key_is_the_account_s_though_its_answer_is_html() -> None:
    assert CLIENT.created(Kind.TASK, Response(401, {}, b"<!doctype html>")) == Retry("bad_credential", scope="account")


def test_an_update_is_done_when_the_same_record_comes_back() -> None:
    assert CLIENT.updated(Kind.OPPORTUNITY, "9", answer(200, {"id": 9})) == Confirmed("9")
    assert isinstance(CLIENT.updated(Kind.OPPORTUNITY, "9", answer(200, {"id": 8})), Uncertain)


def test_a_filter_that_lists_everything_finds_only_what_bears_the_reference() -> None:
    rows = [opportunity(), opportunity(id=10, reference="need-2"), opportunity(id=11, reference=None)]
    looked = CLIENT.found(Kind.OPPORTUNITY, "need-1", answer(200, rows))
    assert isinstance(looked, Found)
    assert looked.seen.crm_id == "9"
    assert CLIENT.found(Kind.OPPORTUNITY, "need-3", answer(200, rows)) == Absent()
    assert CLIENT.found(Kind.OPPORTUNITY, "need-1", answer(200, [*rows, opportunity(id=12)])) == Several(("9", "12"))


def test_a_field_that_the_key_may_not_read_makes_the_look_worthless() -> None:
    hidden = {name: value for name, value in opportunity().items() if name != "reference"}
    assert CLIENT.found(Kind.OPPORTUNITY, "need-1", answer(200, [hidden])) == Unsure("unreadable")


def test_people_s_own_identifiers_hide_no_reference() -> None:
    looked = CLIENT.found(Kind.CONTACT, "need-1", answer(200, [party("feria-2026", "need-1")]))
    assert isinstance(looked, Found)
    assert looked.seen.reference == "need-1"


def test_a_party_that_was_replaced_names_the_one_that_was_kept() -> None:
    looked = CLIENT.was_read(Kind.CONTACT, "4", answer(200, [party("need-1", active=False, replaced_by=5)]))
    assert isinstance(looked, Found)
    assert (looked.seen.live, looked.seen.merged_into) == (False, "5")


def test_a_party_that_is_not_active_is_not_live() -> None:
    looked = CLIENT.was_read(Kind.CONTACT, "4", answer(200, [party("need-1", active=False)]))
    assert isinstance(looked, Found)
    assert not looked.seen.live


@pytest.mark.parametrize(("state", "closed"), [("lead", False), ("opportunity", False), ("won", True), ("lost", True)])
def test_a_state_tells_whether_it_is_over(state: str, closed: bool) -> None:
    looked = CLIENT.was_read(Kind.OPPORTUNITY, "9", answer(200, [opportunity(state=state)]))
    assert isinstance(looked, Found)
    assert looked.seen.closed is closed


def test_a_contact_is_compared_on_our_side() -> None:
    draft = ordinary(Kind.CONTACT)
    assert isinstance(draft, ContactDraft)
    mechanisms = [{"type": "mobile", "value": "987 654 321", "value_compact": "+51987654321"}]
    rows = [party(contact_mechanisms=mechanisms), party(id=5)]
    assert [each.crm_id for each in CLIENT.matched(draft, answer(200, rows))] == ["4"]


def test_an_e_mail_is_no_pattern() -> None:
    (request,) = CLIENT.matches(ContactDraft("Rosa", email="rosa_q@example.com"))
    assert '"rosa\\\\_q@example.com"' in said(request)


@pytest.mark.parametrize("wrong", [{"company": "one"}, {"contact_reference": "name"}, {"currency": "PEN USD"}])
def test_options_that_cannot_be_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        from_settings(wrong)


def test_a_limit_is_the_owner_s_to_declare() -> None:
    assert from_settings({"limit_seconds": "120"}).capability(Kind.TASK).limit == timedelta(seconds=120)


def test_an_opportunity_is_cancelled_before_it_is_removed_and_nothing_else_is() -> None:
    asked = CLIENT.cancel(Kind.OPPORTUNITY, "7")
    assert asked is not None
    assert (asked.method, asked.path) == ("POST", "/sale.opportunity/7/cancel")
    assert CLIENT.cancel(Kind.CONTACT, "7") is None
