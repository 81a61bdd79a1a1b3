"""What is Pipedrive's own: fields known by keys, nothing unique, and references that stand in texts."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from crm_clients.base import (
    Absent,
    ContactDraft,
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
from crm_clients.pipedrive import Pipedrive
from crm_clients.registry import build
from tests.contract.built import NEEDED
from tests.contract.drafts import ordinary
from workers.strategy import Never, Proven, strategy

PERSON, DEAL, TEXT = "1a" * 20, "2b" * 20, "3c" * 20
CLIENT = Pipedrive(PERSON, DEAL, TEXT)
ROSA = ContactDraft("Rosa Quispe", "+51987654321", "rosa@example.com")


def answer(status: int, body: object, **headers: str) -> Response:
    return Response(status, headers, json.dumps(body).encode())


def done(data: object, **more: object) -> Response:
    return answer(200, {"success": True, "data": data, "additional_data": more})


def sent(request: Request) -> dict[str, object]:
    body = json.loads(request.body or b"{}")
    assert isinstance(body, dict)
    return body


def people(*items: dict[str, object], cursor: str | None = None) -> Response:
    found = [{"result_score": 1, "item": {"id": 401, **item}} for item in items]
    return done({"items": found}, next_cursor=cursor)


def deal(**values: object) -> Seen:
    row = {"id": 9, "custom_fields": {}, **values}
    looked = CLIENT.was_read(Kind.OPPORTUNITY, "9", done(row))
    assert isinstance(looked, Found)
    return looked.seen


def test_the_token_has_a_header_of_its_own() -> None:
    account = CLIENT.account("crm", "https://acme.pipedrive.example", "abc123")
    assert account.headers == (("x-api-token", "abc123"),)
    assert "abc123" not in repr(account)


def test_a_deal_names_its_person_and_holds_the_text_in_a_field() -> None:
    body = sent(CLIENT.create(ordinary(Kind.OPPORTUNITY, parent_id="401", owner="77"), "need-1-o"))
    assert (body["person_id"], body["owner_id"], body["value"], body["currency"]) == (401, 77, 1200.5, "USD")
    assert body["custom_fields"] == {TEXT: "Quiero una bomba de 2 HP.", DEAL: "need-1-o"}


def test_the_account_s_own_fields_do_not_take_the_reference_s_place() -> None:
    draft = OpportunityDraft("Bomba", "x", "401", fields=((DEAL, "otra"), ("opportunity." + "4d" * 20, "2 HP")))
    assert sent(CLIENT.create(draft, "need-1-o"))["custom_fields"] == {TEXT: "x", DEAL: "need-1-o", "4d" * 20: "2 HP"}


def test_an_activity_is_due_in_utc_and_bears_the_reference_in_its_note() -> None:
    body = sent(CLIENT.create(ordinary(Kind.TASK, parent_id="9"), "need-1-t"))
    assert (body["due_date"], body["due_time"], body["deal_id"]) == ("2026-12-24", "15:30", 9)
    assert body["subject"] == "Llamar a Rosa Quispe a1"
    assert str(body["note"]).endswith("[ref:need-1-t]")


def test_a_note_comes_back_as_it_was_written() -> None:
    text = "Dos líneas,\ny <b>esto</b> & aquello"
    content = sent(CLIENT.create(NoteDraft(text, "9"), "n-1"))["content"]
    looked = CLIENT.was_read(Kind.NOTE, "5", done({"id": 5, "content": content, "user_id": 77}))
    assert isinstance(looked, Found)
    assert (looked.seen.reference, looked.seen.values["text"], looked.seen.owner) == ("n-1", text, "77")


def test_a_note_that_is_too_long_keeps_its_reference() -> None:
    assert str(sent(CLIENT.create(NoteDraft("&" * 40_000, "9"), "n-1"))["content"]).endswith("[ref:n-1]")


def test_an_id_that_is_none_is_left_to_pipedrive_to_refuse() -> None:
    assert sent(CLIENT.create(ordinary(Kind.TASK, parent_id="x-1"), "t-1"))["deal_id"] == "x-1"


def test_a_text_that_is_taken_away_is_cleared() -> None:
    assert sent(CLIENT.update(Kind.OPPORTUNITY, "9", {"text": ""})) == {"custom_fields": {TEXT: None}}


def test_nothing_but_a_deal_is_updated() -> None:
    with pytest.raises(ValueError, match="not a guarded field"):
        CLIENT.update(Kind.TASK, "7", {"title": "x"})


@pytest.mark.parametrize("value", ["Urgente", {"type": "text", "value": "Urgente"}])
def test_a_field_is_read_plain_or_with_its_type(value: object) -> None:
    assert deal(custom_fields={TEXT: value}).values["text"] == "Urgente"


@pytest.mark.parametrize(("status", "closed"), [("open", False), ("won", True), ("lost", True), ("?", None)])
def test_a_deal_that_is_won_or_lost_is_closed(status: str, closed: bool | None) -> None:
    assert deal(status=status).closed is closed


@pytest.mark.parametrize("flag", ["is_deleted", "is_archived"])
def test_what_is_away_is_not_alive(flag: str) -> None:
    assert not deal(**{flag: True}).live


def test_an_empty_list_of_the_old_api_is_null() -> None:
    assert CLIENT.found(Kind.NOTE, "n-1", done(None)) == Absent()


@pytest.mark.parametrize("more", [{"next_cursor": "abc"}, {"pagination": {"more_items_in_collection": True}}])
def test_a_page_is_not_the_whole(more: dict[str, object]) -> None:
    assert CLIENT.found(Kind.NOTE, "n-1", done([], **more)) == Unsure("more_than_one_page")


def test_a_hit_that_shows_no_values_tells_nothing() -> None:
    hit = {"item": {"id": 9, "title": "Bomba"}}
    assert isinstance(CLIENT.found(Kind.OPPORTUNITY, "need-1-o", done({"items": [hit]})), Unsure)


def test_a_hit_tells_owner_person_and_whether_it_is_closed() -> None:
    item = {"id": 9, "custom_fields": ["need-1-o"], "owner": {"id": 77}, "person": {"id": 401}, "status": "won"}
    looked = CLIENT.found(Kind.OPPORTUNITY, "need-1-o", done({"items": [{"item": item}]}))
    assert isinstance(looked, Found)
    assert (looked.seen.owner, looked.seen.contact_id, looked.seen.closed) == ("77", "401", True)


def test_a_number_is_searched_for_without_its_country() -> None:
    by_email, by_phone = CLIENT.matches(ROSA)
    assert dict(by_email.query) == {
        "term": "rosa@example.com", "fields": "email", "exact_match": "true", "limit": "100",
    }  # fmt: skip
    assert (dict(by_phone.query)["term"], dict(by_phone.query)["exact_match"]) == ("987654321", "false")


def test_only_who_really_has_the_number_is_the_same_person() -> None:
    assert CLIENT.matched(ROSA, people({"phones": ["+51 987 654 321"]})) == (Seen("401", None),)
    assert CLIENT.matched(ROSA, people({"phones": ["01 2987654321 99"]})) == ()


def test_a_whatsapp_number_is_looked_for_where_it_stands() -> None:
    client = build("pipedrive", NEEDED["pipedrive"] | {"whatsapp_field": "5e" * 20})
    draft = ContactDraft("Rosa", fields=((f"contact.{'5e' * 20}", "51987654321"),))
    (request,) = client.matches(draft)
    assert dict(request.query)["term"] == "51987654321"
    assert [one.crm_id for one in client.matched(draft, people({"custom_fields": ["51987654321"]}))] == ["401"]


def test_a_search_with_more_than_it_shows_says_nothing() -> None:
    with pytest.raises(UnreadableAnswer):
        CLIENT.matched(ROSA, people({"phones": ["987654321"]}, cursor="abc"))


def test_the_deals_of_a_person_are_listed_with_their_references() -> None:
    rows = [{"id": n, "person_id": p, "custom_fields": {DEAL: f"o-{n}"}} for n, p in ((8, 401), (9, 77))]
    assert [one.reference for one in CLIENT.listed("401", done(rows))] == ["o-8"]


def test_the_limit_of_the_plan_is_nothing_that_goes_by_itself() -> None:
    capped = answer(403, {"success": False, "error": "x", "code": "feature_capping_deals_limit"})
    assert CLIENT.created(Kind.OPPORTUNITY, capped) == Rejected(
        "plan_limit", (("code", "feature_capping_deals_limit"),)
    )


def test_a_page_of_cloudflare_s_is_a_block_and_any_other_is_doubt() -> None:
    page = b"<html>Access denied</html>"
    blocked, other = Response(403, {"server": "cloudflare"}, page), Response(403, {"server": "nginx"}, page)
    assert CLIENT.created(Kind.TASK, blocked) == Retry("blocked", scope="account", passing=True)
    assert isinstance(CLIENT.created(Kind.TASK, other), Uncertain)
    assert CLIENT.found(Kind.TASK, "t-1", blocked) == Unsure("blocked", scope="account")


def test_a_refusal_does_not_repeat_what_the_visitor_wrote() -> None:
    refused = answer(400, {"success": False, "error": "rosa@ is no e-mail", "code": "ERR_SCHEMA_VALIDATION_FAILED"})
    assert "rosa" not in repr(CLIENT.created(Kind.CONTACT, refused))


def test_a_person_or_deal_is_never_made_again_by_itself_even_where_the_limit_is_known() -> None:
    client = Pipedrive(PERSON, DEAL, TEXT, limit=CLIENT.capability(Kind.TASK).lag)
    for kind in (Kind.CONTACT, Kind.OPPORTUNITY):
        assert isinstance(strategy(kind, client.capability(kind), None).proof, Never)
    assert isinstance(strategy(Kind.TASK, client.capability(Kind.TASK), None).proof, Proven)


@pytest.mark.parametrize("key", ["", "lead_ref", "2B" * 20, "2b" * 19])
def test_what_is_no_key_of_a_field_is_refused_at_the_start(key: str) -> None:
    with pytest.raises(BadSetting, match="deal_reference"):
        build("pipedrive", NEEDED["pipedrive"] | {"deal_reference": key})


def test_an_amount_is_a_number() -> None:
    draft = OpportunityDraft("Bomba", "", "401", Decimal(10), "PEN")
    assert sent(CLIENT.create(draft, "o-1"))["value"] == 10


def test_all_deals_are_listed_page_after_page() -> None:
    first = CLIENT.all_of(Kind.OPPORTUNITY, after=None)
    assert first is not None
    assert dict(first.query) == {"limit": "500"}
    rows = [{"id": 8, "custom_fields": {DEAL: "o-8"}}, {"id": 9, "custom_fields": {}}]
    page = CLIENT.page_of(Kind.OPPORTUNITY, done(rows, next_cursor="abc"), after=None)
    assert ([one.reference for one in page.seen], page.after) == (["o-8", None], "abc")
    following = CLIENT.all_of(Kind.OPPORTUNITY, after="abc")
    assert following is not None
    assert dict(following.query)["cursor"] == "abc"
    assert CLIENT.page_of(Kind.OPPORTUNITY, done([], next_cursor=None), after="abc").after is None


def test_notes_are_counted_from_a_number() -> None:
    pages = {"pagination": {"more_items_in_collection": True, "next_start": 100}}
    assert CLIENT.page_of(Kind.NOTE, done([{"id": 5, "content": "x"}], **pages), after=None).after == "100"
    following = CLIENT.all_of(Kind.NOTE, after="100")
    assert following is not None
    assert dict(following.query)["start"] == "100"


def test_a_page_that_names_no_next_one_is_not_believed() -> None:
    with pytest.raises(UnreadableAnswer):
        CLIENT.page_of(Kind.NOTE, done([], pagination={"more_items_in_collection": True}), after=None)
