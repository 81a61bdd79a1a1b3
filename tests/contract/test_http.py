"""What the client for a CRM of one's own makes of its options: requests, bodies, pointers, conditions."""

from __future__ import annotations

import json
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
from crm_clients.generic.client import from_settings
from crm_clients.options import BadSetting
from tests.contract.drafts import DUE, ordinary

MARKING = {
    "marker": "task, note",
    "task_body": '{"subject": "{marked_title}", "deal": "{opportunity}", "until": "{due_at:unix}"}',
    "task_find": "GET /deals/{opportunity}/tasks",
    "task_title": "/subject",
    "note_body": '{"text": "{marked_text}"}',
    "note_create": "POST /deals/{opportunity}/notes",
    "note_find": "GET /deals/{opportunity}/notes",
}


def answer(status: int, body: object) -> Response:
    return Response(status, {}, json.dumps(body).encode())


def sent(draft: Draft, **options: str) -> dict[str, object]:
    body = json.loads(from_settings(options).create(draft, "need-1").body or b"")
    assert isinstance(body, dict)
    return body


def contact(**more: object) -> dict[str, object]:
    return {"id": "c-1", "reference": "need-1", "live": True} | more


# --- requests ---


def test_a_body_is_the_owner_s_with_its_holes_filled_and_what_is_empty_left_out() -> None:
    written = '{"who": {"full": "{name}", "tel": ["{phone}"], "mail": "{email}"}, "kind": 7, "ext": "{reference}"}'
    body = sent(ContactDraft("Rosa", "+51987654321"), contact_body=written)
    assert body == {"who": {"full": "Rosa", "tel": ["+51987654321"]}, "kind": 7, "ext": "need-1"}


def test_what_a_person_wrote_is_no_hole_and_no_json() -> None:
    body = sent(OpportunityDraft('{owner} "', '"}, "x": {"', "c-1", owner="ana"))
    assert (body["title"], body["text"], body["owner_id"]) == ('{owner} "', '"}, "x": {"', "ana")


def test_numbers_and_times_have_the_form_that_is_asked_for() -> None:
    body = sent(
        OpportunityDraft("Bomba", "", "c-1", Decimal("1200.50"), received_at=DUE),
        opportunity_body='{"r": "{reference}", "n": "{amount:number}", "s": "{amount}", "d": "{received_at:date}"}',
    )
    assert body == {"r": "need-1", "n": 1200.5, "s": "1200.50", "d": "2026-12-24"}


def test_own_fields_are_an_object_of_their_own() -> None:
    assert sent(ContactDraft("Rosa", fields=(("contact.ruc", "20"), ("opportunity.x", "1"))))["fields"] == {"ruc": "20"}


def test_a_marker_stands_in_the_title_of_a_task_and_at_the_end_of_a_note() -> None:
    assert sent(TaskDraft("Llamar", "d-1", DUE), **MARKING)["subject"] == "Llamar [ref:need-1]"
    note = from_settings(MARKING).create(NoteDraft("Hola", "d/1"), "n-1")
    assert (note.path, json.loads(note.body or b"")) == ("/deals/d%2F1/notes", {"text": "Hola\n\n[ref:n-1]"})


def test_a_key_is_the_same_for_every_try_at_one_record() -> None:
    client = from_settings({"key_header": "Idempotency-Key"})
    assert ("Idempotency-Key", "task-t-1") in client.create(ordinary(Kind.TASK), "t-1").headers


def test_the_credential_has_the_header_that_the_owner_names() -> None:
    client = from_settings({"auth_header": "X-Api-Key", "auth_value": "key {credential}"})
    assert client.account("crm", "https://crm.example.com", "k").headers == (("X-Api-Key", "key k"),)


def test_an_update_sends_only_what_changes() -> None:
    client = from_settings({"opportunity_update_body": '{"a": "{amount:number}", "t": "{title}"}'})
    assert json.loads(client.update(Kind.OPPORTUNITY, "o-1", {"amount": "5.5"}).body or b"") == {"a": 5.5}


def test_what_this_crm_cannot_do_is_not_asked() -> None:
    client = from_settings({"match_phone": "-", "opportunities_of": "-"})
    assert [each.path for each in client.matches(ContactDraft("Rosa", "+51987654321", "a@example.com"))] == [
        "/api/contacts"
    ]
    assert client.opportunities_of("c-1") is None


# --- answers ---


def test_values_are_read_where_the_owner_says() -> None:
    options = {"rows": "/data/0/items", "more": "-", "total": "/data/0/n", "id": "/key", "live": "!/gone"}
    row = {"key": 7, "reference": "need-1", "gone": False}
    looked = from_settings(options).found(Kind.CONTACT, "need-1", answer(200, {"data": [{"items": [row], "n": 1}]}))
    assert isinstance(looked, Found)
    assert (looked.seen.crm_id, looked.seen.live) == ("7", True)


def test_a_pointer_may_be_said_for_one_kind_alone() -> None:
    client = from_settings({"task_id": "/number"})
    task = {"number": 5, "reference": "t-1", "live": True, "title": "Llamar"}
    assert isinstance(client.was_read(Kind.TASK, "5", answer(200, task)), Found)
    assert isinstance(client.was_read(Kind.CONTACT, "c-1", answer(200, contact())), Found)


def test_a_list_that_tells_no_total_is_whole_only_if_it_is_empty() -> None:
    client = from_settings({"more": "-"})
    assert client.found(Kind.CONTACT, "need-2", answer(200, {"results": []})) == Absent()
    assert isinstance(client.found(Kind.CONTACT, "need-2", answer(200, {"results": [contact()]})), Unsure)


@pytest.mark.parametrize("hidden", ["reference", "live"])
def test_a_record_that_does_not_show_what_it_should_proves_nothing(hidden: str) -> None:
    row = {name: value for name, value in contact().items() if name != hidden}
    listed = answer(200, {"results": [row], "more": False})
    assert isinstance(from_settings({}).found(Kind.CONTACT, "need-1", listed), Unsure)


def test_a_marked_task_is_found_by_its_title_and_shows_it_without_the_marker() -> None:
    listed = answer(200, {"results": [{"id": 1, "live": True, "subject": "Llamar [ref:t-1]"}], "more": False})
    looked = from_settings(MARKING).found(Kind.TASK, "t-1", listed)
    assert isinstance(looked, Found)
    assert looked.seen.values == {"text": "Llamar"}


def test_only_what_the_owner_names_is_a_refusal() -> None:
    client = from_settings({"refused": "400 /code=invalid; 422", "refused_fields": "/why"})
    told = answer(400, {"code": "invalid", "why": {"email": 'is "x"'}})
    assert client.created(Kind.CONTACT, told) == Rejected("validation", (("email", "is …"),))
    assert client.created(Kind.CONTACT, answer(422, {})) == Rejected("validation")
    assert isinstance(client.created(Kind.CONTACT, answer(400, {"code": "busy"})), Uncertain)
    assert isinstance(client.created(Kind.CONTACT, Response(422, {}, b"<html>")), Uncertain)


def test_a_duplicate_names_what_stands() -> None:
    told = answer(409, {"error": "duplicate", "by": "reference", "id": "c-9"})
    assert from_settings({}).created(Kind.CONTACT, told) == Duplicate("other", "c-9")


def test_a_401_is_the_credential_s_whatever_its_body() -> None:
    assert from_settings({}).created(Kind.CONTACT, Response(401, {}, b"")) == Retry("bad_credential", scope="account")


@pytest.mark.parametrize("value", [True, "ganada", "Won"])
def test_an_opportunity_is_over_if_its_word_or_truth_says_so(value: object) -> None:
    row = {"id": "o-1", "reference": "need-1", "live": True, "stage": value}
    looked = from_settings({}).was_read(Kind.OPPORTUNITY, "o-1", answer(200, row))
    assert isinstance(looked, Found)
    assert looked.seen.closed is True


@pytest.mark.parametrize(
    "wrong",
    [
        {"contact_create": "GET /people"},
        {"contact_find": "POST /people"},
        {"contact_find": "GET people"},
        {"contact_find": "GET /people?x={phone}"},
        {"contact_body": "[]"},
        {"contact_body": '{"name": "{nombre}"}'},
        {"contact_body": '{"name": "{name}"}'},
        {"marker": "task"},
        {"marker": "contact"},
        {"rows": "data"},
        {"refused": "503 /code=busy"},
        {"refused": "408"},
        {"refused": "anything"},
        {"auth_value": "Bearer"},
        {"key_header": "a b"},
        {"control_ok": "/ok"},
        {"task_nothing": "/x"},
        {"look": "sharp"},
    ],
    ids=lambda each: " ".join(f"{name} {value}" for name, value in each.items()),
)
def test_options_that_cannot_be_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        from_settings(wrong)
