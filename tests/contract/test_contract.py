"""What every CRM client promises, whichever CRM it speaks to.

A new client is a line in the registry and a folder of recordings, and this whole suite runs on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crm_clients.base import (
    Absent,
    Client,
    Confirmed,
    ContactDraft,
    Draft,
    Duplicate,
    Found,
    Kind,
    Rejected,
    Request,
    Response,
    Retry,
    Seen,
    Several,
    Uncertain,
    UnreadableAnswer,
    Unsure,
)
from crm_clients.registry import CLIENTS, BadSetting, UnknownClient, build
from tests.contract.drafts import emptiest, longest, ordinary
from tests.contract.record import About, meaning
from tests.contract.recordings import Recording, described, recordings_of

REFERENCE = "c-0123456789abcdef-opportunity"
NAMES = sorted(CLIENTS)
RECORDINGS = [recording for name in NAMES for recording in recordings_of(name)]
MAKERS: tuple[Callable[[Kind], Draft], ...] = (ordinary, emptiest, longest)

each_client = pytest.mark.parametrize("client", [build(name, {}) for name in NAMES], ids=NAMES)
each_kind = pytest.mark.parametrize("kind", list(Kind))
each_draft = pytest.mark.parametrize("make", MAKERS, ids=[make.__name__ for make in MAKERS])


# --- the registry ------------------------------------------------------------------------------------------------


def test_an_unknown_client_is_refused_with_the_known_ones_named() -> None:
    with pytest.raises(UnknownClient, match="bottlecrm, sandbox"):
        build("nowhere", {})


@pytest.mark.parametrize("seconds", ["", "soon", "-1", "0", "1e400", "nan"])
def test_a_limit_that_is_no_time_is_refused(seconds: str) -> None:
    with pytest.raises(BadSetting):
        build("bottlecrm", {"limit_seconds": seconds})


def test_a_limit_is_the_destination_s_to_declare() -> None:
    assert build("bottlecrm", {}).capability(Kind.CONTACT).limit is None
    assert build("bottlecrm", {"limit_seconds": "30"}).capability(Kind.TASK).limit == timedelta(seconds=30)


@each_client
def test_a_client_knows_its_own_name(client: Client) -> None:
    assert client.name in CLIENTS


# --- recorded answers --------------------------------------------------------------------------------------------


@each_client
@each_kind
@pytest.mark.parametrize(
    "needed", ["create", "create-again", "find-none", "find-one", "find-after", "read", "read-none"]
)
def test_a_client_has_recordings_of_each_kind(client: Client, kind: Kind, needed: str) -> None:
    assert f"{kind}-{needed}" in {recording.name for recording in recordings_of(client.name)}


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda each: f"{each.client}-{each.name}")
def test_a_recorded_answer_means_what_is_written_beside_it(recording: Recording) -> None:
    client = build(recording.client, {})
    about = About(recording.kind, recording.reference, recording.crm_id)
    assert described(meaning(client, recording.step, about, recording.response)) == recording.means


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda each: f"{each.client}-{each.name}")
def test_a_recording_says_where_it_is_from_and_holds_no_credential(recording: Recording) -> None:
    assert recording.source
    assert "Bearer" not in json.dumps(dict(recording.headers)) + recording.body
    assert "bcrm_pat_" not in recording.body


@pytest.mark.parametrize(
    "recording", [each for each in RECORDINGS if each.name.endswith("find-one")], ids=lambda e: f"{e.client}-{e.name}"
)
@pytest.mark.parametrize(
    "change", [lambda ref: f"{ref}x", str.upper, lambda ref: ref[:-1]], ids=["longer", "case", "cut"]
)
def test_a_record_of_another_reference_is_not_ours(recording: Recording, change: Callable[[str], str]) -> None:
    client = build(recording.client, {})
    assert client.found(recording.kind, change(recording.reference), recording.response) == Absent()


# --- requests ----------------------------------------------------------------------------------------------------


@each_client
@each_kind
@each_draft
def test_the_same_draft_gives_the_same_request(client: Client, kind: Kind, make: Callable[[Kind], Draft]) -> None:
    again = build(client.name, {})
    assert client.create(make(kind), REFERENCE) == again.create(make(kind), REFERENCE)


@each_client
@each_kind
@each_draft
def test_a_create_is_a_post_of_json_below_the_base_url(
    client: Client, kind: Kind, make: Callable[[Kind], Draft]
) -> None:
    request = client.create(make(kind), REFERENCE)
    assert request.method in {"POST", "PATCH", "PUT"}
    assert request.path.startswith("/")
    assert not request.path.startswith("//")
    assert isinstance(json.loads(request.body or b""), dict)


@each_client
@each_kind
@each_draft
def test_a_create_bears_the_reference(client: Client, kind: Kind, make: Callable[[Kind], Draft]) -> None:
    request = client.create(make(kind), REFERENCE)
    assert REFERENCE in f"{request.path}{request.query}{(request.body or b'').decode()}"


@each_client
@each_kind
def test_a_look_asks_for_the_reference_or_for_the_parent_s_children(client: Client, kind: Kind) -> None:
    request = client.find(kind, REFERENCE, parent_id="p-1")
    sought = "p-1" if client.capability(kind).reference == "marker" else REFERENCE
    assert request.method == "GET"
    assert sought in f"{request.path}{request.query}"


@each_client
@each_kind
def test_no_request_shows_a_person_in_its_repr(client: Client, kind: Kind) -> None:
    draft = ordinary(kind)
    shown = repr([client.create(draft, REFERENCE), *(client.matches(draft) if isinstance(draft, ContactDraft) else ())])
    for private in ("Rosa", "987654321", "example.com", "bomba", "demora"):
        assert private not in shown


@each_client
@each_kind
def test_an_id_cannot_leave_its_place_in_a_path(client: Client, kind: Kind) -> None:
    request = client.read(kind, "../../admin?x=1#")
    assert "?" not in request.path
    assert "#" not in request.path
    assert "/../" not in request.path


@each_client
@each_kind
def test_a_sentinel_is_a_draft_like_another_and_carries_the_installation(client: Client, kind: Kind) -> None:
    request = client.create(client.sentinel(kind, "installation-1", parent_id="p-1"), f"intake-sentinel-{kind}")
    assert "installation-1" in (request.body or b"").decode()


@each_client
def test_a_contact_without_phone_and_email_is_matched_with_nobody(client: Client) -> None:
    assert client.matches(ContactDraft("Rosa Quispe")) == ()


@each_client
def test_an_opportunity_is_updated_in_part_and_keeps_owner_and_stage(client: Client) -> None:
    request = client.update(Kind.OPPORTUNITY, "o-1", {"title": "Bomba", "text": "x", "amount": "5", "currency": "USD"})
    assert request.method == "PATCH"
    assert not {"owner", "owner_id", "assigned_to", "stage", "pipeline"} & set(json.loads(request.body or b"").keys())


# --- doubt -------------------------------------------------------------------------------------------------------

PAGES = (
    b"",
    b"<html>Bad gateway</html>",
    b'{"error": true}',
    b'{"id": "1"}',
    b'{"error": false, "message": "ok", "id": "1"}',
)


def writes(client: Client, kind: Kind, response: Response) -> Iterator[object]:
    yield client.created(kind, response)
    yield client.updated(kind, "1", response)


def looks(client: Client, kind: Kind, response: Response) -> Iterator[object]:
    yield client.found(kind, REFERENCE, response)
    yield client.was_read(kind, "1", response)


@each_client
@each_kind
@pytest.mark.parametrize("status", [408, 500, 501, 502, 503, 504, 520, 599])
@pytest.mark.parametrize("page", [*PAGES, *{recording.response.body for recording in RECORDINGS[::7]}])
def test_a_failing_server_is_doubt(client: Client, kind: Kind, status: int, page: bytes) -> None:
    response = Response(status, {"retry-after": "5"}, page)
    assert all(isinstance(each, Uncertain) for each in writes(client, kind, response))
    assert all(isinstance(each, Unsure) for each in looks(client, kind, response))


@each_client
@each_kind
@pytest.mark.parametrize("status", [300, 301, 302, 304, 307, 308, 405, 406, 411, 413, 415, 418, 425, 431, 451])
def test_a_status_that_the_crm_does_not_explain_is_doubt(client: Client, kind: Kind, status: int) -> None:
    response = Response(status, {"location": "/elsewhere"}, b"<html>no</html>")
    assert all(isinstance(each, Uncertain) for each in writes(client, kind, response))
    assert all(isinstance(each, Unsure) for each in looks(client, kind, response))


@each_client
@each_kind
@pytest.mark.parametrize("status", [400, 404, 409, 422])
def test_a_refusal_by_something_in_between_is_doubt(client: Client, kind: Kind, status: int) -> None:
    response = Response(status, {}, b"<html>nginx</html>")
    assert all(isinstance(each, Uncertain) for each in writes(client, kind, response))
    assert all(isinstance(each, Unsure) for each in looks(client, kind, response))


@each_client
@each_kind
@pytest.mark.parametrize("status", [200, 201, 202, 204, 207])
@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"null", b'"1"', b'{"id": null}', b'{"id": ""}', b'{"id": {}}', b"<p>", b"{"]
)
def test_a_success_without_an_id_is_doubt(client: Client, kind: Kind, status: int, body: bytes) -> None:
    response = Response(status, {}, body)
    assert isinstance(client.created(kind, response), Uncertain)
    assert all(isinstance(each, Unsure) for each in looks(client, kind, response))


@each_client
@each_kind
@pytest.mark.parametrize(
    ("headers", "after"),
    [
        ({}, None),
        ({"retry-after": "30"}, timedelta(seconds=30)),
        (
            {"retry-after": "Sun, 29 Nov 2026 10:01:00 GMT", "date": "Sun, 29 Nov 2026 10:00:00 GMT"},
            timedelta(minutes=1),
        ),
        ({"retry-after": "soon"}, None),
    ],
    ids=["without", "seconds", "date", "unreadable"],
)
def test_a_rate_limit_is_told_with_its_time(
    client: Client, kind: Kind, headers: dict[str, str], after: timedelta | None
) -> None:
    response = Response(429, headers, b'{"detail": "Request was throttled."}')
    assert client.created(kind, response) == Retry("rate_limited", after=after, scope="account")
    look = client.found(kind, REFERENCE, response)
    assert isinstance(look, Unsure)
    assert (look.after, look.scope) == (after, "account")


# --- anything ----------------------------------------------------------------------------------------------------

OUTCOMES = (Confirmed, Retry, Rejected, Duplicate, Uncertain)
SIGHTS = (Found, Absent, Several, Unsure)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def told(client: Client, kind: Kind, response: Response) -> tuple[Seen, ...]:
    draft = ordinary(kind)
    try:
        return client.matched(draft, response) if isinstance(draft, ContactDraft) else ()
    except UnreadableAnswer:
        return ()


def read_in_every_way(client: Client, kind: Kind, response: Response) -> None:
    assert all(isinstance(each, OUTCOMES) for each in writes(client, kind, response))
    assert all(isinstance(each, SIGHTS) for each in looks(client, kind, response))
    assert isinstance(client.controlled(response), Unsure | None)
    assert all(isinstance(each, Seen) for each in told(client, kind, response))


@each_client
@settings(max_examples=100, deadline=None)
@given(
    kind=st.sampled_from(list(Kind)),
    status=st.integers(100, 999),
    headers=st.dictionaries(st.sampled_from(["retry-after", "date", "content-type"]), st.text(max_size=40)),
    body=st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()),
)
def test_no_answer_makes_a_client_raise(
    client: Client, kind: Kind, status: int, headers: dict[str, str], body: bytes
) -> None:
    read_in_every_way(client, kind, Response(status, headers, body))


def replaced(value: object, path: list[int], other: object) -> object:
    """The value with one part, to which the numbers lead, replaced by another."""
    if not path or not isinstance(value, dict | list) or not value:
        return other
    if isinstance(value, list):
        at = path[0] % len(value)
        return [*value[:at], replaced(value[at], path[1:], other), *value[at + 1 :]]
    name = list(value)[path[0] % len(value)]
    return value | {name: replaced(value[name], path[1:], other)}


@settings(max_examples=300, deadline=None)
@given(recording=st.sampled_from(RECORDINGS), path=st.lists(st.integers(0, 60), max_size=5), other=JSON)
def test_no_part_of_an_answer_can_be_such_that_a_client_raises(
    recording: Recording, path: list[int], other: object
) -> None:
    try:
        body = json.dumps(replaced(json.loads(recording.body), path, other)).encode()
    except ValueError:
        body = recording.body.encode()
    client = build(recording.client, {})
    about = About(recording.kind, recording.reference, recording.crm_id)
    response = Response(recording.status, recording.headers, body)
    described(meaning(client, recording.step, about, response))
    read_in_every_way(client, recording.kind, response)


def test_a_client_that_is_built_twice_is_the_same_client() -> None:
    assert [build(name, {}) for name in NAMES] == [build(name, {}) for name in NAMES]


def test_requests_are_values() -> None:
    assert Request("GET", "/x") == Request("GET", "/x")
