"""What no CRM client does: take an answer for more than it says, or raise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crm_clients.abilities import ListsReferences, Removes
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
    Response,
    Retry,
    Seen,
    Several,
    Uncertain,
    UnreadableAnswer,
    Unsure,
)
from crm_clients.registry import CLIENTS
from tests.contract.built import built
from tests.contract.drafts import emptiest, longest, ordinary
from tests.contract.record import About, meaning
from tests.contract.recordings import Recording, described, recordings_of

REFERENCE = "c-0123456789abcdef-opportunity"
NAMES = sorted(CLIENTS)
RECORDINGS = [recording for name in NAMES for recording in recordings_of(name)]
MAKERS: tuple[Callable[[Kind], Draft], ...] = (ordinary, emptiest, longest)

each_client = pytest.mark.parametrize("client", [built(name) for name in NAMES], ids=NAMES)
each_kind = pytest.mark.parametrize("kind", list(Kind))
each_draft = pytest.mark.parametrize("make", MAKERS, ids=[make.__name__ for make in MAKERS])


# Answers that say in themselves that there is nothing: a bare empty list, or no content, where the CRM lists so.
EMPTY = {
    "dolibarr": (200, b"[]"),
    "kommo": (204, b""),
    "odoo": (200, b"[]"),
    "tryton": (200, b"[]"),
    "zoho": (204, b""),
}
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
def test_a_failing_server_is_doubt(client: Client, kind: Kind, status: int) -> None:
    """Whatever it says: its own answers of other times too, which would mean something under another status."""
    for page in {*PAGES, *(recording.response.body for recording in recordings_of(client.name))}:
        response = Response(status, {"retry-after": "5"}, page)
        assert all(isinstance(each, Uncertain) for each in writes(client, kind, response)), page
        assert all(isinstance(each, Unsure) for each in looks(client, kind, response)), page


@each_client
@each_kind
def test_a_status_that_the_crm_does_not_explain_is_doubt(client: Client, kind: Kind) -> None:
    for status in (300, 301, 302, 304, 307, 308, 405, 406, 411, 413, 415, 418, 425, 431, 451):
        response = Response(status, {"location": "/elsewhere"}, b"<html>no</html>")
        assert all(isinstance(each, Uncertain) for each in writes(client, kind, response)), status
        assert all(isinstance(each, Unsure) for each in looks(client, kind, response)), status


@each_client
@each_kind
@pytest.mark.parametrize("status", [400, 404, 409, 422])
def test_a_refusal_by_something_in_between_is_doubt(client: Client, kind: Kind, status: int) -> None:
    response = Response(status, {}, b"<html>nginx</html>")
    assert all(isinstance(each, Uncertain) for each in writes(client, kind, response))
    assert all(isinstance(each, Unsure) for each in looks(client, kind, response))


NO_ID = (b"", b"{}", b"[]", b"null", b'"1"', b'{"id": null}', b'{"id": ""}', b'{"id": {}}', b"<p>", b"{")


@each_client
@each_kind
@pytest.mark.parametrize("status", [200, 201, 202, 204, 207])
def test_a_success_without_an_id_is_doubt(client: Client, kind: Kind, status: int) -> None:
    for body in NO_ID:
        response = Response(status, {}, body)
        assert isinstance(client.created(kind, response), Uncertain), body
        if (status, body) != EMPTY.get(client.name):
            assert all(isinstance(each, Unsure) for each in looks(client, kind, response)), body


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
    assert client.created(kind, response) == Retry("rate_limited", after=after, scope="account", passing=True)
    look = client.found(kind, REFERENCE, response)
    assert isinstance(look, Unsure)
    assert (look.after, look.scope) == (after, "account")


OUTCOMES = (Confirmed, Retry, Rejected, Duplicate, Uncertain)
SIGHTS = (Found, Absent, Several, Unsure)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def told(client: Client, kind: Kind, response: Response) -> Iterator[Seen]:
    """What the lists show that may be refused as unreadable."""
    draft = ordinary(kind)
    with suppress(UnreadableAnswer):
        yield from client.matched(draft, response) if isinstance(draft, ContactDraft) else ()
    with suppress(UnreadableAnswer):
        yield from client.listed("1", response)
    if isinstance(client, ListsReferences) and client.all_of(kind, after=None) is not None:
        with suppress(UnreadableAnswer):
            yield from client.page_of(kind, response, after=None).seen


def read_in_every_way(client: Client, kind: Kind, response: Response) -> None:
    assert all(isinstance(each, OUTCOMES) for each in writes(client, kind, response))
    assert all(isinstance(each, SIGHTS) for each in looks(client, kind, response))
    assert isinstance(client.controlled(response), Unsure | None)
    assert all(isinstance(each, Seen) for each in told(client, kind, response))
    assert not isinstance(client, Removes) or isinstance(client.removed(kind, response), bool)


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
    client = built(recording.client)
    about = About(recording.kind, recording.reference, recording.crm_id)
    response = Response(recording.status, recording.headers, body)
    described(meaning(client, recording.step, about, response))
    read_in_every_way(client, recording.kind, response)
