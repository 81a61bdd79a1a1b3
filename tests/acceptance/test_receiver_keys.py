"""Senders of our own programs, with keys; and those that know only GET."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from werkzeug.test import TestResponse

from tests.doorway import ANSWERS, Doorway, accepted, as_json, event


def post(door: Doorway, key: str, source: str = "keyed", **answers: str) -> TestResponse:
    return door.post(source, as_json(ANSWERS | answers), headers={"Idempotency-Key": key})


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": " "}, {"Idempotency-Key": '""'}])
def test_a_source_with_keys_refuses_a_delivery_without_one(door: Doorway, headers: dict[str, str]) -> None:
    answer = door.post("keyed", as_json(ANSWERS), headers=headers)
    assert (answer.status_code, answer.get_json()) == (
        400,
        {"error": "idempotency_key_missing", "fields": {"Idempotency-Key": "is required"}},
    )
    assert door.count("receipts") == 0


@pytest.mark.parametrize("source", ["keyed", "keyed-gated"])
def test_the_same_key_and_content_is_answered_as_the_first_time(door: Doorway, source: str) -> None:
    first, second = (post(door, "a", source) for _ in range(2))
    assert (second.status_code, second.get_json()) == (200, first.get_json())
    assert [answer.headers.get("Idempotent-Replayed") for answer in (first, second)] == [None, "true"]
    assert door.count("events") == 1


def test_the_same_key_with_other_content_is_refused_and_kept(door: Doorway) -> None:
    post(door, "a")
    answer = post(door, "a", message="Otra cosa")
    assert (answer.status_code, answer.get_json()["error"]) == (422, "idempotency_key_reused")
    (item,) = door.rows("SELECT kind FROM items")
    assert item == {"kind": "conflict"}


def test_a_key_in_quotes_is_the_same_key(door: Doorway) -> None:
    post(door, "a")
    assert post(door, '"a"').headers["Idempotent-Replayed"] == "true"


def test_another_key_with_the_same_content_is_another_event(door: Doorway) -> None:
    post(door, "a")
    assert "Idempotent-Replayed" not in post(door, "b").headers
    assert door.count("events") == 2


def test_one_key_at_once_is_one_event_with_one_answer(door: Doorway) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: post(door, "a"), range(20)))
    assert len({answer.get_data() for answer in answers}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in answers) == 1


# --- by GET -----------------------------------------------------------------------------------------------------------


def test_a_source_may_take_a_form_by_get(door: Doorway) -> None:
    answer = door.client.get("/hooks/by-get?token=form-token&name=Ana&phone=987654321")
    assert event(accepted(answer))["kind"] == "form"


def test_a_token_in_the_query_is_not_stored(door: Doorway) -> None:
    door.client.get("/hooks/by-get?name=Ana&token=form-token")
    assert not [row for row in door.rows("SELECT content FROM bodies") if b"form-token" in bytes(row["content"])]  # type: ignore[call-overload]


def test_a_form_by_get_without_its_token_is_not_authentic(door: Doorway) -> None:
    assert door.client.get("/hooks/by-get?name=Ana").status_code == 401


def test_looking_at_the_address_delivers_nothing(door: Doorway) -> None:
    answer = door.client.head("/hooks/by-get?token=form-token&name=Ana")
    assert (answer.status_code, answer.headers["Allow"], door.count("receipts")) == (405, "GET, POST", 0)


def test_a_test_by_get_is_a_test(door: Doorway) -> None:
    accepted(door.client.get("/test/hooks/by-get?token=form-token&name=Ana"))
    assert door.rows("SELECT mode FROM events") == [{"mode": "test"}]
