"""What is HubSpot's own: strings alone, associations in the create, unique properties, and what its texts name."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
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
    UnreadableAnswer,
    Unsure,
)
from crm_clients.hubspot import HubSpot
from crm_clients.options import BadSetting
from crm_clients.registry import build
from tests.contract.drafts import longest, ordinary
from tests.contract.recordings import recordings_of
from workers.strategy import Never, Refused, strategy

CLIENT = HubSpot()
ROSA = ContactDraft("Rosa Quispe", "+51987654321", "rosa@example.com")
OWN = {"correlationId": "aeb5f871-7f07-4993-9211-075dc63e7cbf", "category": "VALIDATION_ERROR"}


def answer(status: int, body: object) -> Response:
    return Response(status, {}, json.dumps(body).encode())


def sent(request: Request) -> dict[str, object]:
    body = json.loads(request.body or b"{}")
    assert isinstance(body, dict)
    return body


def properties(request: Request) -> dict[str, str]:
    named = sent(request)["properties"]
    assert isinstance(named, dict)
    return named


def contact(crm_id: str = "401", **values: str | None) -> dict[str, object]:
    return {"id": crm_id, "archived": False, "properties": values}


def batch(*rows: dict[str, object], **more: object) -> Response:
    return answer(200, {"status": "COMPLETE", "results": list(rows), **more})


def taken(text: str) -> object:
    return CLIENT.created(Kind.OPPORTUNITY, answer(400, {**OWN, "message": text}))


@pytest.mark.parametrize("kind", list(Kind))
def test_every_property_is_a_string(kind: Kind) -> None:
    assert all(isinstance(value, str) for value in properties(CLIENT.create(longest(kind), "need-1")).values())


def test_a_deal_is_linked_to_its_contact_in_the_same_write() -> None:
    link = {"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": 3}
    body = sent(CLIENT.create(ordinary(Kind.OPPORTUNITY, parent_id="401"), "need-1"))
    assert body["associations"] == [{"to": {"id": "401"}, "types": [link]}]


def test_a_create_has_associations_even_where_there_are_none() -> None:
    assert sent(CLIENT.create(ROSA, "c-1"))["associations"] == []


def test_an_amount_in_a_currency_that_the_account_lacks_stands_in_the_text() -> None:
    named = properties(HubSpot(currencies=("PEN",)).create(ordinary(Kind.OPPORTUNITY), "need-1"))
    assert "amount" not in named
    assert named["description"].startswith("USD 1200.50\n\n")


def test_the_only_currency_of_an_account_is_not_named_and_is_read_back() -> None:
    client = HubSpot(currencies=("USD",))
    named = properties(client.create(ordinary(Kind.OPPORTUNITY), "need-1"))
    assert (named["amount"], named.get("deal_currency_code")) == ("1200.50", None)
    looked = client.was_read(Kind.OPPORTUNITY, "9", answer(200, {"id": "9", "properties": {"amount": "1200.5"}}))
    assert isinstance(looked, Found)
    assert (looked.seen.values["amount"], looked.seen.values["currency"]) == ("1200.5", "USD")


def test_one_of_several_currencies_is_named() -> None:
    named = properties(HubSpot(currencies=("PEN", "USD")).create(ordinary(Kind.OPPORTUNITY), "need-1"))
    assert (named["amount"], named["deal_currency_code"]) == ("1200.50", "USD")


def test_an_update_leaves_an_amount_in_another_currency_alone() -> None:
    changes = {"title": "Bomba", "amount": "5", "currency": "USD"}
    assert properties(HubSpot(currencies=("PEN",)).update(Kind.OPPORTUNITY, "9", changes)) == {"dealname": "Bomba"}


def test_a_note_comes_back_as_it_was_written() -> None:
    text = 'Dos líneas,\ny <b>"esto"</b> & aquello'
    body = properties(CLIENT.create(NoteDraft(text, "9"), "n-1"))["hs_note_body"]
    assert "<b>" not in body
    looked = CLIENT.was_read(Kind.NOTE, "5", answer(200, {"id": "5", "properties": {"hs_note_body": body}}))
    assert isinstance(looked, Found)
    assert looked.seen.values["text"] == text


def test_a_note_that_grows_by_its_escapes_still_fits() -> None:
    assert len(properties(CLIENT.create(NoteDraft("&" * 30_000, "9"), "n-1"))["hs_note_body"]) <= 65_536


def test_a_note_stands_at_the_hour_at_which_it_was_said() -> None:
    said = NoteDraft("Hola", "9", datetime(2026, 11, 29, 15, 0, tzinfo=UTC))
    assert properties(CLIENT.create(said, "n-1"))["hs_timestamp"] == "1795964400000"


def test_a_value_of_our_property_that_is_taken_names_its_record() -> None:
    said = (
        "Cannot set PropertyValueCoordinates{propertyName=lead_ref, value=need-1} on 7. 18001 already has that value."
    )
    assert taken(said) == Duplicate("reference", "18001")


def test_a_value_of_another_property_that_is_taken_is_not_ours() -> None:
    said = (
        "Cannot set PropertyValueCoordinates{propertyName=ruc, value=20100070970} on 7. 18001 already has that value."
    )
    assert taken(said) == Duplicate("other", "18001")


def test_a_refusal_tells_the_property_and_not_what_the_visitor_wrote() -> None:
    errors = [
        {"message": "Email address rosa@ is invalid", "code": "INVALID_EMAIL", "context": {"propertyName": ["email"]}}
    ]
    refused = CLIENT.created(Kind.CONTACT, answer(400, {**OWN, "message": "rosa@ is invalid", "errors": errors}))
    assert refused == Rejected("validation", (("email", "INVALID_EMAIL"),))


def test_a_404_that_is_not_hubspot_s_own_proves_nothing() -> None:
    elsewhere = answer(404, {"status": "error", "message": "no such page"})
    assert isinstance(CLIENT.found(Kind.OPPORTUNITY, "need-1", elsewhere), Unsure)


def test_a_property_that_is_not_unique_tells_nothing() -> None:
    refused = answer(400, {**OWN, "message": "lead_ref is not unique"})
    assert CLIENT.found(Kind.OPPORTUNITY, "need-1", refused) == Unsure("reference_field_not_unique")


def test_an_e_mail_and_a_number_are_asked_for_without_standing_in_a_path() -> None:
    by_email, by_phone = CLIENT.matches(ROSA)
    assert sent(by_email)["inputs"] == [{"id": "rosa@example.com"}]
    assert "987654321" in json.dumps(sent(by_phone))
    assert not any("rosa" in each.path or each.query for each in (by_email, by_phone))


def test_a_whatsapp_number_is_looked_for_where_it_stands() -> None:
    client = HubSpot(whatsapp="whatsapp_id")
    draft = ContactDraft("Rosa", fields=(("whatsapp_id", "51987654321"),))
    (request,) = client.matches(draft)
    assert "whatsapp_id" in json.dumps(sent(request))
    row = contact(whatsapp_id="51987654321", phone=None)
    assert [one.crm_id for one in client.matched(draft, answer(200, {"total": 1, "results": [row]}))] == ["401"]


@pytest.mark.parametrize("phone", ["987 654 321", "+51 987-654-321", "0051987654321", "(51) 987654321"])
def test_a_number_is_the_same_however_it_was_typed(phone: str) -> None:
    assert CLIENT.matched(ROSA, answer(200, {"total": 1, "results": [contact(phone=phone)]}))


def test_another_number_is_another_person() -> None:
    assert CLIENT.matched(ROSA, answer(200, {"total": 1, "results": [contact(phone="+51 987654322")]})) == ()


def test_a_second_e_mail_of_a_contact_is_theirs_too() -> None:
    row = contact(email="otra@example.com", hs_additional_emails="x@example.com;ROSA@example.com")
    assert [one.crm_id for one in CLIENT.matched(ROSA, batch(row))] == ["401"]


def test_an_e_mail_that_nobody_has_matches_nobody() -> None:
    errors = [{"category": "OBJECT_NOT_FOUND", "message": "Could not get some CONTACT objects"}]
    assert CLIENT.matched(ROSA, batch(numErrors=1, errors=errors)) == ()


def test_a_batch_that_failed_otherwise_says_nothing() -> None:
    with pytest.raises(UnreadableAnswer):
        CLIENT.matched(ROSA, batch(errors=[{"category": "RATE_LIMITS"}]))


def test_a_search_with_more_than_it_shows_says_nothing() -> None:
    with pytest.raises(UnreadableAnswer):
        CLIENT.listed("401", answer(200, {"total": 3, "results": [{"id": "9", "properties": {}}]}))


def test_the_deals_of_a_contact_are_listed_with_their_references() -> None:
    row = {"id": "9", "properties": {"lead_ref": "need-1-o", "hs_is_closed": "true"}}
    (seen,) = CLIENT.listed("401", answer(200, {"total": 1, "results": [row]}))
    assert (seen.reference, seen.contact_id, seen.closed) == ("need-1-o", "401", True)


def test_nothing_is_made_twice_until_the_owner_has_seen_it_refused() -> None:
    assert strategy(Kind.OPPORTUNITY, CLIENT.capability(Kind.OPPORTUNITY), None).proof == Never()
    tried = build("hubspot", {"enforced": "opportunity, task"})
    assert strategy(Kind.OPPORTUNITY, tried.capability(Kind.OPPORTUNITY), None).proof == Refused()
    assert strategy(Kind.CONTACT, tried.capability(Kind.CONTACT), None).proof == Never()


@pytest.mark.parametrize(
    "options", [{"enforced": "deal"}, {"currencies": "soles"}, {"limit_seconds": "-1"}, {"reference": "x"}]
)
def test_an_option_that_means_nothing_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        build("hubspot", options)


def test_the_stage_of_an_opportunity_that_names_none_is_the_option_s() -> None:
    client = HubSpot(pipeline="default", stage="appointmentscheduled")
    draft = OpportunityDraft("Bomba", "", "401", Decimal(5))
    assert properties(client.create(draft, "need-1"))["dealstage"] == "appointmentscheduled"
    assert properties(client.create(replace(draft, stage="77"), "need-1"))["dealstage"] == "77"
    assert "dealstage" not in properties(client.create(replace(draft, pipeline="other"), "need-1"))


def test_a_record_that_is_gone_is_absent() -> None:
    assert CLIENT.was_read(Kind.OPPORTUNITY, "9", answer(404, {**OWN, "message": "resource not found"})) == Absent()


def test_a_contact_that_was_merged_answers_as_the_one_that_was_kept() -> None:
    (recorded,) = (each for each in recordings_of("hubspot") if each.name == "contact-read-merged")
    looked = CLIENT.was_read(Kind.CONTACT, "401", recorded.response)
    assert isinstance(looked, Found)
    assert (looked.seen.live, looked.seen.merged_into) == (False, "402")
