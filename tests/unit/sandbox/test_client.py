from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crm_clients.base import (
    Absent,
    Capability,
    Client,
    Confirmed,
    ContactDraft,
    Draft,
    Duplicate,
    Found,
    Kind,
    NoteDraft,
    OpportunityDraft,
    Rejected,
    Request,
    Response,
    Retry,
    Several,
    TaskDraft,
    Uncertain,
    UnreadableAnswer,
    Unsure,
    kind_of,
)
from crm_clients.sandbox.client import SandboxClient
from crm_clients.sandbox.profiles import PROFILES

CLIENT = SandboxClient()
MARKING = SandboxClient("no_task_reference")
KINDS = list(Kind)


def answered(status: int, body: object = None, **headers: str) -> Response:
    return Response(status, {name.replace("_", "-"): value for name, value in headers.items()}, dumped(body))


def dumped(body: object) -> bytes:
    return b"" if body is None else json.dumps(body).encode()


def record(**fields: object) -> dict[str, object]:
    return {"id": "opp-1", "reference": "o-1", "live": True, "owner_id": "ana", "merged_into": None} | fields


def listed(*records: dict[str, object], more: bool = False) -> Response:
    return answered(200, {"results": list(records), "more": more})


def sent_body(request: Request) -> object:
    assert request.body is not None
    return json.loads(request.body)


# --- what is asked ---


def test_it_is_a_client() -> None:
    client: Client = SandboxClient()
    assert client.name == "sandbox"


def test_a_contact_is_sent_with_the_accounts_own_fields() -> None:
    draft = ContactDraft("Eva", "+51999000111", "eva@example.com", fields=(("ruc", "20000000001"), ("text", "hola")))
    assert sent_body(CLIENT.create(draft, "c-1")) == {
        "name": "Eva",
        "phone": "+51999000111",
        "email": "eva@example.com",
        "fields": {"ruc": "20000000001"},
        "text": "hola",
        "reference": "c-1",
    }


def test_an_amount_is_sent_as_plain_digits() -> None:
    draft = OpportunityDraft("T", "x", "con-1", Decimal("1E+3"), "PEN")
    body = sent_body(CLIENT.create(draft, "o-1"))
    assert isinstance(body, dict)
    assert body["amount"] == "1000"


def test_a_create_carries_a_key_made_of_its_reference() -> None:
    assert ("Idempotency-Key", "note-n-1") in CLIENT.create(NoteDraft("x", "opp-1"), "n-1").headers


def test_where_there_is_no_field_the_reference_stands_at_the_end_of_the_text() -> None:
    body = sent_body(MARKING.create(NoteDraft("Hola", "opp-1"), "n-1"))
    assert body == {"text": "Hola\n[ref:n-1]", "opportunity_id": "opp-1"}


def test_a_marked_record_is_looked_for_among_its_siblings() -> None:
    request = MARKING.find(Kind.TASK, "t-1", parent_id="opp-1")
    assert request.query == (("opportunity_id", "opp-1"),)


def test_ids_are_escaped_in_paths() -> None:
    assert CLIENT.read(Kind.TASK, "../me?x").path == "/api/tasks/..%2Fme%3Fx"


def test_a_marked_text_is_not_replaced() -> None:
    with pytest.raises(ValueError, match="marker"):
        MARKING.update(Kind.TASK, "tas-1", {"text": "x"})


def test_existing_contacts_are_looked_for_by_phone_and_then_by_email() -> None:
    draft = ContactDraft("Eva", "+51999000111", "eva@example.com")
    assert [dict(request.query) for request in CLIENT.matches(draft)] == [
        {"phone": "+51999000111"},
        {"email": "eva@example.com"},
    ]


def test_nobody_is_looked_for_without_phone_and_email() -> None:
    assert CLIENT.matches(ContactDraft("Eva")) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentinel_is_of_its_kind_and_below_its_parent(kind: Kind) -> None:
    draft = CLIENT.sentinel(kind, "installation-1", parent_id="opp-1")
    assert kind_of(draft) is kind
    assert "installation-1" in dumped(sent_body(CLIENT.create(draft, "s-1"))).decode()


# --- capabilities ---


@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("kind", KINDS)
def test_a_client_never_claims_more_than_the_servers_profile(profile: str, kind: Kind) -> None:
    served, claimed = PROFILES[profile], SandboxClient(profile).capability(kind)
    assert (claimed.reference == "enforced") <= served.unique_reference
    assert (claimed.reference == "marker") == (not served.child_reference and kind in (Kind.TASK, Kind.NOTE))
    assert (claimed.look == "strong") <= served.states_lag


def test_a_weak_profile_knows_no_limit() -> None:
    assert SandboxClient("weak").capability(Kind.TASK).limit is None


def test_limit_and_lag_are_the_declared_ones() -> None:
    client = SandboxClient("lagging", limit=timedelta(seconds=3), lag=timedelta(seconds=2))
    assert client.capability(Kind.NOTE) == Capability("stored", lag=timedelta(seconds=2), limit=timedelta(seconds=3))


# --- what an answer to a write means ---


@pytest.mark.parametrize(
    ("response", "meaning"),
    [
        (answered(201, record()), Confirmed("opp-1")),
        (answered(201, {"reference": "o-1"}), Uncertain("unreadable")),
        (answered(200, None), Uncertain("unreadable")),
        (answered(302, None), Uncertain("status_302")),
        (answered(400, {"error": "bad_request"}), Uncertain("status_400")),
        (answered(401, {"error": "x"}), Retry("bad_credential", scope="account")),
        (answered(403), Retry("bad_credential", scope="account")),
        (answered(404, {"error": "not_found"}), Uncertain("status_404")),
        (answered(408), Uncertain("status_408")),
        (answered(409, {"error": "duplicate", "by": "reference", "id": "c"}), Duplicate("reference", "c")),
        (answered(409, {"error": "duplicate", "by": "email", "id": "c"}), Duplicate("email", "c")),
        (answered(409, {"error": "duplicate", "by": ["x"]}), Duplicate("other")),
        (answered(409), Uncertain("status_409")),
        (
            answered(422, {"error": "validation", "fields": {"email": "Not valid."}}),
            Rejected("validation", (("email", "Not valid."),)),
        ),
        (answered(422, {"error": "validation", "fields": 5}), Rejected("validation")),
        (
            answered(422, {"error": "idempotency_key_reused", "by": "idempotency_key", "id": "c"}),
            Duplicate("reference", "c"),
        ),
        (answered(422), Uncertain("status_422")),
        (answered(429, retry_after="9"), Retry("rate_limited", timedelta(seconds=9), "account", passing=True)),
        (answered(500, {"error": "x", "id": "c"}), Uncertain("status_500", ("c",))),
        (answered(503), Uncertain("status_503")),
    ],
)
def test_an_answer_to_a_create_is_read_conservatively(response: Response, meaning: object) -> None:
    assert CLIENT.created(Kind.OPPORTUNITY, response) == meaning


@pytest.mark.parametrize(
    ("response", "meaning"),
    [
        (answered(200, record()), Confirmed("opp-1")),
        (answered(200, record(id="opp-2")), Uncertain("unreadable", ("opp-2",))),
        (answered(404, {"error": "not_found"}), Rejected("gone")),
        (answered(404, {"error": "no_such_path"}), Uncertain("status_404")),
        (answered(500), Uncertain("status_500")),
    ],
)
def test_an_answer_to_an_update_is_about_that_record(response: Response, meaning: object) -> None:
    assert CLIENT.updated(Kind.OPPORTUNITY, "opp-1", response) == meaning


# --- what a look sees ---


def test_one_record_under_the_reference_is_found_with_its_guarded_values() -> None:
    row = record(title="T", text="x", amount="1200.50", currency="PEN", contact_id="con-1")
    looked = CLIENT.found(Kind.OPPORTUNITY, "o-1", listed(row))
    assert isinstance(looked, Found)
    assert looked.seen.values == {"title": "T", "text": "x", "amount": "1200.5", "currency": "PEN"}
    assert (looked.seen.owner, looked.seen.contact_id, looked.seen.live) == ("ana", "con-1", True)


@pytest.mark.parametrize("other", ["O-1", "o-11", None])
def test_a_record_of_another_reference_is_not_found(other: str | None) -> None:
    assert CLIENT.found(Kind.OPPORTUNITY, "o-1", listed(record(reference=other))) == Absent()


def test_two_that_live_are_several() -> None:
    looked = CLIENT.found(Kind.TASK, "o-1", listed(record(id="a"), record(id="b")))
    assert looked == Several(("a", "b"))


def test_one_that_lives_outranks_one_in_the_trash() -> None:
    looked = CLIENT.found(Kind.TASK, "o-1", listed(record(id="a", live=False), record(id="b")))
    assert isinstance(looked, Found)
    assert looked.seen.crm_id == "b"


def test_one_in_the_trash_is_found_and_shown_so() -> None:
    looked = CLIENT.found(Kind.TASK, "o-1", listed(record(live=False)))
    assert isinstance(looked, Found)
    assert not looked.seen.live


@pytest.mark.parametrize(
    "response",
    [
        answered(200, None),
        answered(200, {"results": 5}),
        answered(200, {"results": [record(), 5], "more": False}),
        answered(200, {"results": [{"reference": "o-1", "live": True}], "more": False}),
        answered(200, {"results": [record(live="yes")], "more": False}),
        answered(302, {"results": [], "more": False}),
        answered(404, {"error": "not_found"}),
        answered(500, {"results": [], "more": False}),
    ],
)
def test_what_is_no_sound_list_tells_nothing(response: Response) -> None:
    assert isinstance(CLIENT.found(Kind.OPPORTUNITY, "o-1", response), Unsure)


def test_a_list_that_goes_on_proves_no_absence() -> None:
    assert CLIENT.found(Kind.NOTE, "n-1", listed(more=True)) == Unsure("more_than_one_page")


def test_a_marker_counts_at_the_end_of_a_text_and_is_not_shown() -> None:
    row = record(reference=None, text="Hola [ref:n-2]\n[ref:n-1]")
    looked = MARKING.found(Kind.NOTE, "n-1", listed(row))
    assert isinstance(looked, Found)
    assert looked.seen.values == {"text": "Hola [ref:n-2]"}


def test_a_marker_that_a_visitor_wrote_does_not_count() -> None:
    assert MARKING.found(Kind.NOTE, "n-2", listed(record(text="Hola [ref:n-2]\n[ref:n-1]"))) == Absent()


def test_where_references_have_a_field_no_marker_counts() -> None:
    assert CLIENT.found(Kind.NOTE, "n-1", listed(record(reference=None, text="[ref:n-1]"))) == Absent()


def test_a_record_that_is_read_must_be_the_one_asked_for() -> None:
    assert CLIENT.was_read(Kind.TASK, "tas-1", answered(200, record())) == Unsure("unreadable")


@pytest.mark.parametrize(
    ("body", "meaning"),
    [
        ({"error": "not_found"}, Absent()),
        ({"error": "no_such_path"}, Unsure("status_404")),
        (None, Unsure("status_404")),
    ],
)
def test_only_the_crms_own_word_makes_a_record_absent(body: object, meaning: object) -> None:
    assert CLIENT.was_read(Kind.TASK, "tas-1", answered(404, body)) == meaning


def test_only_live_contacts_that_really_match_are_matched() -> None:
    draft = ContactDraft("Eva", "+51999000111", "Eva@example.com")
    response = listed(
        record(id="a", phone="+51 999 000 111"),
        record(id="b", email="eva@EXAMPLE.com"),
        record(id="c", phone="+51999000112", email=""),
        record(id="d", phone="+51999000111", live=False),
    )
    assert [seen.crm_id for seen in CLIENT.matched(draft, response)] == ["a", "b"]


def test_an_unreadable_match_is_no_answer() -> None:
    with pytest.raises(UnreadableAnswer):
        CLIENT.matched(ContactDraft("Eva", "+51999000111"), answered(200, {"results": "x"}))


def test_the_control_call_wants_to_hear_that_all_is_well() -> None:
    assert CLIENT.controlled(answered(200, {"ok": True})) is None
    assert CLIENT.controlled(answered(200, {"ok": 1})) == Unsure("unreadable")
    assert CLIENT.controlled(answered(401)) == Unsure("bad_credential", scope="account")


# --- whatever comes ---

WORDS = st.sampled_from(
    ["id", "results", "more", "error", "by", "fields", "live", "ok", "text", "reference", "duplicate", "validation"]
)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(), inner, max_size=6),
    max_leaves=20,
)
RESPONSES = st.builds(
    Response,
    status=st.sampled_from([200, 201, 204, 302, 400, 401, 404, 409, 422, 429, 500]) | st.integers(100, 999),
    headers=st.dictionaries(st.sampled_from(["retry-after", "date", "content-type"]) | st.text(), st.text()),
    body=st.binary() | JSONS.map(dumped),
)


@given(RESPONSES, st.sampled_from(KINDS), st.sampled_from([CLIENT, MARKING]))
def test_no_answer_makes_a_client_raise(response: Response, kind: Kind, client: SandboxClient) -> None:
    client.created(kind, response)
    client.updated(kind, "x", response)
    client.found(kind, "x", response)
    client.was_read(kind, "x", response)
    client.controlled(response)


@given(RESPONSES)
def test_no_answer_is_matched_or_anything_but_unreadable(response: Response) -> None:
    try:
        matched = CLIENT.matched(ContactDraft("Eva", "+51999000111"), response)
    except UnreadableAnswer:
        return
    assert all(seen.live for seen in matched)


@given(RESPONSES.filter(lambda response: response.status >= 500 or response.status == 408))
def test_a_servers_failure_is_always_doubt(response: Response) -> None:
    assert isinstance(CLIENT.created(Kind.CONTACT, response), Uncertain)


@given(st.text(), st.text(), st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=0, max_value=10**9))
def test_every_draft_becomes_a_request(title: str, text: str, amount: Decimal) -> None:
    drafts: tuple[Draft, ...] = (
        ContactDraft(title, fields=(("text", text),)),
        OpportunityDraft(title, text, "con-1", amount),
        TaskDraft(title, "opp-1", datetime(2026, 3, 2, tzinfo=UTC)),
        NoteDraft(text, "opp-1"),
    )
    for draft in drafts:
        assert CLIENT.create(draft, "x-1").body
        assert MARKING.create(draft, "x-1").body
