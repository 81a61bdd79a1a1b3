"""Whatever is sent to the sandbox, it answers without failing itself: only a dial makes it fail."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import requests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crm_clients.sandbox.server import Running, running

FIELDS = [
    "fault",
    "match",
    "times",
    "reference",
    "name",
    "title",
    "text",
    "email",
    "phone",
    "amount",
    "due_at",
    "fields",
    "owner_id",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.dictionaries(st.sampled_from([*FIELDS, "contact_id", "opportunity_id", "into"]) | st.text(), VALUES)
BODIES = st.binary() | (RECORDS | VALUES).map(lambda body: json.dumps(body).encode()) | st.just(b"[" * 100_000)
PATHS = ["api/contacts", "api/opportunities", "api/tasks", "api/notes", "api/contacts/con-0/merge"]
DIALS = ["control/faults", "control/profile", "control/clock"]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running() as sandbox:
        yield sandbox


def status(server: Running, method: str, path: str, *, body: bytes = b"", query: str = "") -> int:
    with requests.Session() as session:
        session.trust_env = False
        headers = {"Authorization": f"Bearer {server.token}"}
        url = f"{server.url}/{path}"
        return session.request(method, url, data=body, params=query, headers=headers, timeout=10).status_code


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(path=st.sampled_from(PATHS), method=st.sampled_from(["POST", "PATCH"]), body=BODIES)
def test_no_body_makes_the_sandbox_fail(server: Running, path: str, method: str, body: bytes) -> None:
    if method == "PATCH":
        path = f"{path}/con-0"
    assert status(server, method, path, body=body) < 500


@settings(max_examples=60, deadline=None)
@given(path=st.sampled_from(DIALS), body=BODIES)
def test_no_body_makes_a_dial_fail(server: Running, path: str, body: bytes) -> None:
    try:
        assert status(server, "PUT", path, body=body) < 500
    finally:
        status(server, "DELETE", "control/faults")


@settings(max_examples=80, deadline=None)
@given(name=st.sampled_from(["reference", "phone", "email", "contact_id"]), value=st.binary(max_size=40))
def test_no_filter_makes_the_sandbox_fail(server: Running, name: str, value: bytes) -> None:
    query = f"{name}=" + "".join(f"%{byte:02x}" for byte in value)
    assert status(server, "GET", "api/contacts", query=query) < 500


@settings(max_examples=60, deadline=None)
@given(value=st.binary(min_size=1, max_size=40))
def test_no_id_makes_the_sandbox_fail(server: Running, value: bytes) -> None:
    crm_id = "".join(f"%{byte:02x}" for byte in value)
    assert status(server, "GET", f"api/contacts/x{crm_id}") < 500


@pytest.mark.parametrize("name", [[], {}, None, 1, True])
def test_a_profile_that_is_no_word_is_refused(server: Running, name: object) -> None:
    assert status(server, "PUT", "control/profile", body=json.dumps({"name": name}).encode()) == 422
