"""What is Dolibarr's own: bare numbers for answers, 404 for an empty list, and projects without owners."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from crm_clients.base import (
    Absent,
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
from crm_clients.dolibarr.client import Dolibarr, from_settings
from crm_clients.dolibarr.drafts import Company, labelled
from crm_clients.options import BadSetting
from tests.contract.drafts import DUE

CLIENT = Dolibarr(Company(user=1, currency="PEN", owner_field="intake_owner"))


def answer(status: int, body: object) -> Response:
    return Response(status, {}, json.dumps(body).encode())


def failure(status: int, message: str = "no") -> Response:
    return answer(status, {"error": {"code": status, "message": message}, "debug": {}})


def sent(draft: Draft, client: Dolibarr = CLIENT) -> dict[str, object]:
    body = json.loads(client.create(draft, "need-1").body or b"")
    assert isinstance(body, dict)
    return body


def project(**more: object) -> dict[str, object]:
    row: dict[str, object] = {"id": "1", "ref": "need-1", "title": "Bomba", "socid": "4", "status": "1"}
    return row | {"opp_amount": None, "array_options": []} | more


def read(row: dict[str, object], client: Dolibarr = CLIENT) -> Found:
    looked = client.was_read(Kind.OPPORTUNITY, "1", answer(200, row))
    assert isinstance(looked, Found)
    return looked


# --- requests ---


def test_a_contact_is_a_prospect_that_gets_the_next_number() -> None:
    body = sent(ContactDraft("Rosa", "+51987654321", fields=(("contact.ruc", "20"), ("text", "x"))))
    assert (body["client"], body["code_client"], body["ref_ext"]) == (2, "-1", "need-1")
    assert (body["array_options"], body["note_private"]) == ({"options_ruc": "20"}, "x")


def test_a_project_s_reference_is_its_own_and_its_owner_an_extra_field() -> None:
    body = sent(OpportunityDraft("Bomba", "x", "4", owner="7", stage="3"))
    assert (body["ref"], body["socid"], body["usage_opportunity"], body["opp_status"]) == ("need-1", 4, 1, 3)
    assert body["array_options"] == {"options_intake_owner": "7"}


def test_without_a_field_for_it_an_owner_is_not_sent() -> None:
    plain = replace(CLIENT, company=Company(user=1))
    assert "array_options" not in sent(OpportunityDraft("Bomba", "x", "4", owner="7"), plain)


def test_an_amount_in_another_currency_than_the_company_s_stands_in_the_text() -> None:
    assert sent(OpportunityDraft("Bomba", "x", "4", Decimal("5.5"), "PEN"))["opp_amount"] == 5.5
    foreign = sent(OpportunityDraft("Bomba", "x", "4", Decimal("5.5"), "USD"))
    assert ("opp_amount" in foreign, foreign["description"]) == (False, "USD 5.5\n\nx")


def test_a_task_is_an_event_to_do_and_a_note_one_that_nobody_has_to() -> None:
    task, note = sent(TaskDraft("Llamar", "1", DUE)), sent(NoteDraft("Hola", "1", said_at=DUE))
    assert (task["type_code"], task["percentage"], task["userownerid"]) == ("AC_TEL", 0, 1)
    assert (note["type_code"], note["percentage"], note["note_private"]) == ("AC_OTH", -1, "Hola")
    assert task["datep"] == note["datep"] == int(DUE.timestamp())
    assert (task["label"], note["label"]) == ("Llamar [ref:need-1]", "Mensaje [ref:need-1]")


def test_a_long_label_keeps_its_reference() -> None:
    label = labelled("Llamar " * 100, "need-1")
    assert len(label) <= 255
    assert label.endswith(" [ref:need-1]")


def test_a_filter_cannot_be_left_by_what_stands_in_it() -> None:
    (request,) = CLIENT.matches(ContactDraft("Rosa", email="rosa@example.com"))
    assert dict(request.query)["sqlfilters"] == "(t.email:=:'rosa@example.com')"
    assert CLIENT.matches(ContactDraft("Rosa", email="o'brien@example.com")) == ()
    assert dict(CLIENT.find(Kind.TASK, "t", parent_id="1') or (1:=:1").query)["sqlfilters"].count("'") == 2


def test_a_phone_is_looked_for_in_every_form_at_once() -> None:
    (request,) = CLIENT.matches(ContactDraft("Rosa", "+51987654321"))
    asked = dict(request.query)["sqlfilters"]
    assert "(t.phone:=:'+51987654321') or " in asked
    assert "(t.phone:=:'987654321')" in asked


# --- answers ---


def test_a_create_answers_with_a_bare_number() -> None:
    assert CLIENT.created(Kind.TASK, Response(200, {}, b"9")) == Confirmed("9")
    for other in (b'"9"', b"true", b"-1", b"0", b'{"id": 9}'):
        assert isinstance(CLIENT.created(Kind.TASK, Response(200, {}, other)), Uncertain)


def test_a_reference_that_stands_already_is_a_500_and_a_doubt() -> None:
    assert CLIENT.created(Kind.OPPORTUNITY, failure(500, "Duplicate entry 'need-1-1'")) == Uncertain("status_500")


@pytest.mark.parametrize(
    ("status", "means"),
    [
        (400, Rejected("validation", (("message", "no"),))),
        (401, Retry("bad_credential", scope="account")),
        (403, Retry("forbidden", scope="account")),
        (404, Rejected("gone")),
    ],
)
def test_a_refusal_is_dolibarr_s_own_words(status: int, means: object) -> None:
    assert CLIENT.created(Kind.TASK, failure(status)) == means


@pytest.mark.parametrize("status", [400, 403, 404])
def test_the_same_number_from_a_proxy_is_doubt(status: int) -> None:
    assert isinstance(CLIENT.created(Kind.TASK, answer(status, {"error": "no"})), Uncertain)


def test_an_empty_list_is_404_in_dolibarr_s_own_words() -> None:
    assert CLIENT.found(Kind.CONTACT, "c-1", failure(404, "Not Found: No thirdparties found")) == Absent()
    assert isinstance(CLIENT.found(Kind.CONTACT, "c-1", Response(404, {}, b"<html>")), Unsure)


def test_a_record_without_an_id_proves_nothing() -> None:
    assert isinstance(CLIENT.found(Kind.CONTACT, "c-1", answer(200, [{"id": None, "ref_ext": "c-1"}])), Unsure)


def test_a_full_page_proves_no_absence() -> None:
    log = [{"id": str(number), "label": "log"} for number in range(1, 101)]
    assert CLIENT.found(Kind.TASK, "t-1", answer(200, log)) == Unsure("more_than_one_page")


def test_dolibarr_s_own_log_is_no_task_of_ours() -> None:
    rows = [{"id": "8", "label": "Project created"}, {"id": "9", "label": "Llamar [ref:t-1]", "userownerid": "2"}]
    looked = CLIENT.found(Kind.TASK, "t-1", answer(200, rows))
    assert isinstance(looked, Found)
    assert (looked.seen.crm_id, looked.seen.owner, dict(looked.seen.values)) == ("9", "2", {"text": "Llamar"})


def test_a_project_shows_its_owner_where_a_field_names_one() -> None:
    seen = read(project(array_options={"options_intake_owner": "7"}, status="2", opp_amount="1200.50000000")).seen
    assert (seen.owner, seen.contact_id, seen.closed, seen.values["amount"]) == ("7", "4", True, "1200.5")
    assert read(project(socid="0")).seen.contact_id is None


def test_a_third_party_that_was_closed_is_not_live() -> None:
    row = {"id": "4", "ref_ext": "c-1", "status": "0"}
    looked = CLIENT.was_read(Kind.CONTACT, "4", answer(200, row))
    assert isinstance(looked, Found)
    assert not looked.seen.live


@pytest.mark.parametrize(("status", "there"), [("1", True), (0, False), ("9", None)])
def test_a_user_is_there_or_not(status: object, there: bool | None) -> None:
    assert CLIENT.is_there("7", answer(200, {"id": "7", "status": status})) is there
    assert CLIENT.is_there("7", failure(404)) is False


@pytest.mark.parametrize(
    "wrong",
    [{}, {"user": "ana"}, {"user": "1", "currency": "PEN USD"}, {"user": "1", "owner_field": "a-b"},
     {"user": "1", "enforced": "task"}],
    ids=str,
)  # fmt: skip
def test_options_that_cannot_be_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        from_settings(wrong)


def test_a_project_counts_as_enforced_by_the_owner_s_word_alone() -> None:
    assert from_settings({"user": "1"}).capability(Kind.OPPORTUNITY).reference == "stored"
    told = from_settings({"user": "1", "enforced": "opportunity"})
    assert told.capability(Kind.OPPORTUNITY).reference == "enforced"
