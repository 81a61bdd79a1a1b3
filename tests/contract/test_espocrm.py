"""What is EspoCRM's own: filters in PHP's form, reasons in a header, and a unique index that answers with nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from crm_clients.base import (
    Absent,
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
    Unsure,
)
from crm_clients.espocrm.client import EspoCRM, from_settings
from crm_clients.espocrm.drafts import Usual
from crm_clients.options import BadSetting
from tests.contract.drafts import DUE, ordinary

CLIENT = EspoCRM(usual=Usual(currencies=("PEN", "USD")))
CAME = datetime(2026, 11, 29, 15, tzinfo=UTC)


def answer(status: int, body: object, **headers: str) -> Response:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status, told, b"" if body is None else json.dumps(body).encode())


def sent(draft: Draft, client: EspoCRM = CLIENT) -> dict[str, object]:
    body = json.loads(client.create(draft, "need-1").body or b"")
    assert isinstance(body, dict)
    return body


def opportunity(**more: object) -> dict[str, object]:
    row: dict[str, object] = {"id": "o-1", "cExternalRef": "need-1", "name": "Bomba", "stage": "Prospecting"}
    return row | {"contactId": "c-1", "amount": 0, "amountCurrency": "USD"} | more


# --- requests ---


def test_the_key_has_a_header_of_its_own() -> None:
    account = CLIENT.account("crm", "https://crm.example.com/api/v1", "k-1")
    assert account.headers == (("X-Api-Key", "k-1"),)


def test_a_filter_is_written_as_php_reads_it() -> None:
    request = CLIENT.find(Kind.OPPORTUNITY, "need-1", parent_id=None)
    assert {
        ("where[0][type]", "equals"),
        ("where[0][attribute]", "cExternalRef"),
        ("where[0][value]", "need-1"),
    } <= set(request.query)
    assert dict(request.query)["select"].startswith("id,name,")


def test_a_phone_is_looked_for_in_every_form_at_once() -> None:
    (request,) = CLIENT.matches(ContactDraft("Rosa", "+51987654321"))
    query = dict(request.query)
    assert query["where[0][type]"] == "or"
    asked = {value for name, value in query.items() if name.endswith("[value]")}
    assert {"+51987654321", "987654321", "+51 987 654 321"} <= asked


def test_espocrm_is_told_not_to_take_two_of_one_name_for_one() -> None:
    assert ("X-Skip-Duplicate-Check", "true") in CLIENT.create(ordinary(Kind.CONTACT), "c-1").headers


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [("Rosa Quispe Mamani", "Rosa", "Quispe Mamani"), ("Rosa", None, "Rosa"), ("", None, "-")],
)
def test_one_name_alone_is_the_last(name: str, first: str | None, last: str) -> None:
    body = sent(ContactDraft(name))
    assert (body.get("firstName"), body["lastName"]) == (first, last)


def test_what_espocrm_requires_is_there_though_the_lead_says_nothing() -> None:
    body = sent(OpportunityDraft("", "", "c-1", received_at=CAME))
    assert (body["name"], body["amount"], body["closeDate"], body["stage"]) == ("-", 0.0, "2026-12-29", "Prospecting")


def test_the_contact_is_the_one_contact_and_one_of_them() -> None:
    body = sent(ordinary(Kind.OPPORTUNITY, parent_id="c-1"))
    assert (body["contactId"], body["contactsIds"]) == ("c-1", ["c-1"])


def test_an_amount_in_a_currency_that_the_crm_lacks_stands_in_the_text() -> None:
    body = sent(OpportunityDraft("Bomba", "x", "c-1", Decimal("5.5"), "EUR"))
    assert (body["amount"], body["description"]) == (0.0, "EUR 5.5\n\nx")
    assert "amountCurrency" not in body


def test_a_task_s_time_is_in_utc_and_somebody_gets_it() -> None:
    assert sent(TaskDraft("Llamar", "o-1", DUE, owner="u-1"))["dateEnd"] == "2026-12-24 15:30:00"
    usual = EspoCRM(usual=Usual(assignee="u-9"))
    assert sent(TaskDraft("Llamar", "o-1", DUE), usual)["assignedUserId"] == "u-9"


def test_a_note_is_a_post_that_ends_with_its_reference() -> None:
    body = sent(NoteDraft("¿Cuánto?", "o-1"))
    assert (body["type"], body["parentType"], body["post"]) == ("Post", "Opportunity", "¿Cuánto?\n\n[ref:need-1]")


# --- answers ---


def test_a_refusal_names_the_field() -> None:
    told = {"messageTranslation": {"label": "validationFailure", "data": {"field": "phoneNumber", "type": "valid"}}}
    assert CLIENT.created(Kind.CONTACT, answer(400, told)) == Rejected("validation", (("phoneNumber", "valid"),))


def test_a_duplicate_names_the_record_if_it_is_one() -> None:
    one = answer(409, [{"id": "c-1"}], x_status_reason="duplicate")
    two = answer(409, [{"id": "c-1"}, {"id": "c-2"}], x_status_reason="Duplicate")
    assert CLIENT.created(Kind.CONTACT, one) == Duplicate("other", "c-1")
    assert CLIENT.created(Kind.CONTACT, two) == Duplicate("other")


@pytest.mark.parametrize("status", [400, 403, 404, 409])
def test_a_number_without_espocrm_s_own_words_is_doubt(status: int) -> None:
    assert isinstance(CLIENT.created(Kind.CONTACT, answer(status, None)), Uncertain)


def test_an_empty_500_may_be_a_record_that_stands() -> None:
    assert CLIENT.created(Kind.OPPORTUNITY, answer(500, None)) == Uncertain("status_500")


def test_a_lock_out_is_the_account_s() -> None:
    locked = answer(403, None, x_status_reason="Max failed attempt number exceeded")
    assert CLIENT.created(Kind.CONTACT, locked) == Retry("forbidden", scope="account")


def test_only_espocrm_itself_says_that_a_record_is_gone() -> None:
    gone = answer(404, None, x_status_reason="Record o-1 does not exist.")
    assert CLIENT.was_read(Kind.OPPORTUNITY, "o-1", gone) == Absent()
    assert isinstance(CLIENT.was_read(Kind.OPPORTUNITY, "o-1", answer(404, None)), Unsure)
    assert CLIENT.updated(Kind.OPPORTUNITY, "o-1", gone) == Rejected("gone")


@pytest.mark.parametrize(("total", "absent"), [(0, True), (-2, True), (-1, False), (5, False)])
def test_a_list_proves_absence_only_if_it_is_whole(total: int, absent: bool) -> None:
    looked = CLIENT.found(Kind.OPPORTUNITY, "need-1", answer(200, {"total": total, "list": []}))
    assert (looked == Absent()) is absent


def test_a_list_that_hides_the_reference_proves_nothing() -> None:
    hidden = {name: value for name, value in opportunity().items() if name != "cExternalRef"}
    assert isinstance(CLIENT.found(Kind.OPPORTUNITY, "need-1", answer(200, {"total": 1, "list": [hidden]})), Unsure)


def test_an_amount_of_nothing_is_none_and_a_won_deal_is_closed() -> None:
    looked = CLIENT.was_read(Kind.OPPORTUNITY, "o-1", answer(200, opportunity(stage="Closed Won")))
    assert isinstance(looked, Found)
    assert (looked.seen.values["amount"], looked.seen.closed) == ("", True)


def test_what_espocrm_writes_into_the_stream_is_no_note() -> None:
    rows = [{"id": "n-1", "type": "Create"}, {"id": "n-2", "type": "Post", "post": "Hola\n\n[ref:n]"}]
    looked = CLIENT.found(Kind.NOTE, "n", answer(200, {"total": 2, "list": rows}))
    assert isinstance(looked, Found)
    assert (looked.seen.crm_id, looked.seen.values["text"]) == ("n-2", "Hola")


def test_only_the_owner_s_word_makes_references_enforced() -> None:
    assert from_settings({}).capability(Kind.TASK).reference == "stored"
    told = from_settings({"enforced": "task", "closed_stages": "Ganada, Perdida", "currencies": "PEN"})
    assert told.capability(Kind.TASK).reference == "enforced"
    assert told.closed == {"Ganada", "Perdida"}
    with pytest.raises(BadSetting):
        from_settings({"enforced": "note"})
