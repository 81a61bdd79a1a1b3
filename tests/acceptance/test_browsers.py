"""The door for visitors' browsers: unsigned, and bounded in every other way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from intake.browsers import SNIPPET, VERSION
from tests.doorway import ANSWERS, PAGE_ORIGIN, Doorway, accepted, as_json, doorway, event, path_of

OTHER_ORIGINS = (
    "https://example.com",
    "http://www.example.com",
    "https://www.example.com:8443",
    "https://www.example.com.evil.example",
    "HTTPS://WWW.EXAMPLE.COM",
    "https://www.example.com/",
    "null",
    "",
    "*",
)
CORS = ("Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers")


def send(
    door: Doorway,
    key: str | None = "k-1",
    *,
    source: str = "page",
    origin: str | None = PAGE_ORIGIN,
    headers: Mapping[str, str] | None = None,
    **answers: str,
) -> TestResponse:
    """What the snippet sends."""
    given = {"Content-Type": "application/json", **dict(headers or {})}
    given |= {"Idempotency-Key": key} if key else {}
    given |= {"Origin": origin} if origin is not None else {}
    return door.client.post(path_of(source), data=as_json(ANSWERS | answers), headers=given)


def ask(door: Doorway, source: str = "page", origin: str = PAGE_ORIGIN, mode: str = "live") -> TestResponse:
    """What a browser asks before it sends."""
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    headers["Access-Control-Request-Headers"] = "content-type,idempotency-key"
    return door.client.options(path_of(source, mode), headers=headers)


# --- from where ------------------------------------------------------------------------------------------------------


def test_a_form_from_an_allowed_page_is_an_event(door: Doorway) -> None:
    answer = send(door)
    assert event(accepted(answer))["duplicate"] is False
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE_ORIGIN
    assert answer.vary.as_set() == {"origin"}


@pytest.mark.parametrize("origin", [*OTHER_ORIGINS, None])
def test_any_other_page_is_not_authentic(door: Doorway, origin: str | None) -> None:
    answer = send(door, origin=origin)
    assert (answer.status_code, answer.get_json()["error"], door.count("receipts")) == (401, "not_authentic", 0)
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("mode", ["live", "test"])
def test_an_allowed_page_may_ask_first(any_door: Doorway, mode: str) -> None:
    answer = ask(any_door, mode=mode)
    assert (answer.status_code, answer.get_data()) == (204, b"")
    assert [answer.headers[name] for name in CORS] == [PAGE_ORIGIN, "POST", "content-type, idempotency-key"]


@pytest.mark.parametrize("origin", OTHER_ORIGINS)
def test_any_other_page_is_told_no(any_door: Doorway, origin: str) -> None:
    answer = ask(any_door, origin=origin)
    assert (answer.status_code, [name for name in CORS if name in answer.headers]) == (401, [])


@pytest.mark.parametrize("source", ["web", "generic", "keyed", "page-off", "nobody"])
def test_no_page_may_ask_at_another_source(any_door: Doorway, source: str) -> None:
    answer = ask(any_door, source)
    assert (answer.status_code, [name for name in CORS if name in answer.headers]) == (405, [])


def test_a_signed_source_is_not_opened_by_an_origin(any_door: Doorway) -> None:
    answer = send(any_door, source="web")
    assert (answer.status_code, "Access-Control-Allow-Origin" in answer.headers) == (401, False)


def test_a_refusal_can_be_read_by_the_page(any_door: Doorway) -> None:
    answer = any_door.client.post(path_of("page"), data=b"x" * 70_000, headers={"Origin": PAGE_ORIGIN})
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (413, PAGE_ORIGIN)


# --- which event -----------------------------------------------------------------------------------------------------


def test_the_same_key_is_the_same_event(door: Doorway) -> None:
    first, second = (event(accepted(send(door))) for _ in range(2))
    assert (first["event_id"], second["duplicate"]) == (second["event_id"], True)


def test_another_key_is_another_event(door: Doorway) -> None:
    assert len({str(event(accepted(send(door, key)))["event_id"]) for key in ("a", "b")}) == 2


def test_a_key_with_other_content_is_a_conflict(door: Doorway) -> None:
    send(door)
    assert event(accepted(send(door, message="Otra cosa")))["conflict"] is True


def test_a_form_without_a_key_is_named_by_its_answers(door: Doorway) -> None:
    first, second = (event(accepted(send(door, None))) for _ in range(2))
    assert (first["event_id"], second["duplicate"]) == (second["event_id"], True)
    door.pass_time(timedelta(minutes=11))
    assert event(accepted(send(door, None)))["duplicate"] is False


def test_a_test_is_a_test(door: Doorway) -> None:
    headers = {"Origin": PAGE_ORIGIN, "Content-Type": "application/json"}
    accepted(door.client.post(path_of("page", "test"), data=as_json(ANSWERS), headers=headers))
    assert door.rows("SELECT mode FROM events") == [{"mode": "test"}]


# --- robots ----------------------------------------------------------------------------------------------------------


def test_what_fell_into_the_trap_waits_for_a_person(door: Doorway) -> None:
    assert event(accepted(send(door, intake_homepage="https://spam.example")))["state"] == "awaiting_approval"
    (lead,) = door.rows("SELECT convert_from(content, 'UTF8')::jsonb AS lead FROM bodies WHERE what = 'lead'")
    assert "honeypot" in json.dumps(lead["lead"])
    assert "spam.example" not in json.dumps(lead["lead"])
    assert door.rows("SELECT reason FROM deliveries") == [{"reason": "held_honeypot"}]


def test_an_empty_trap_holds_nobody(door: Doorway) -> None:
    assert event(accepted(send(door, intake_homepage=" ")))["state"] == "received"


def test_an_address_that_asks_too_often_is_told_when_to_come_again(door: Doorway) -> None:
    answers = [send(door, f"k-{n}", source="page-slow") for n in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].get_json() == {"error": "too_many_requests", "fields": {}}
    assert 0 < int(answers[2].headers["Retry-After"]) <= 30
    assert answers[2].headers["Access-Control-Expose-Headers"] == "Retry-After"
    assert door.count("events") == 2


def test_each_visitor_behind_the_proxy_is_counted(door: Doorway) -> None:
    statuses = [
        send(door, f"k-{n}", source="page-slow", headers={"X-Forwarded-For": f"9.9.9.9, 203.0.113.{n}"}).status_code
        for n in range(4)
    ]
    assert statuses == [200] * 4


def test_other_sources_are_not_counted(door: Doorway) -> None:
    assert {door.post("web", as_json(ANSWERS)).status_code for _ in range(100)} == {200}


@pytest.mark.parametrize(
    ("body", "error"), [(b"{", "not_json"), (b"[]", "not_an_object"), (b"x", "neither_json_nor_form")]
)
def test_what_nobody_can_read_is_refused_and_not_kept_for_a_person(door: Doorway, body: bytes, error: str) -> None:
    headers = {"Origin": PAGE_ORIGIN, "Content-Type": "application/json"}
    answer = door.client.post(path_of("page"), data=body, headers=headers)
    assert (answer.status_code, answer.get_json()["error"], door.count("items")) == (422, error, 0)


@pytest.mark.parametrize("content_type", ["text/plain", "", "image/png"])
def test_a_type_that_any_page_may_send_unasked_is_refused(any_door: Doorway, content_type: str) -> None:
    assert send(any_door, headers={"Content-Type": content_type}).status_code == 415


# --- the script ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/snippet/page.js", "/test/snippet/page.js"])
def test_the_script_is_served_and_may_be_kept_for_minutes(any_door: Doorway, path: str) -> None:
    answer = any_door.client.get(path)
    assert (answer.status_code, answer.get_data(as_text=True)) == (200, SNIPPET)
    assert answer.content_type == "text/javascript; charset=utf-8"
    assert answer.headers["Cache-Control"] == "public, max-age=300"


def test_a_script_asked_for_by_its_version_may_be_kept_for_ever(any_door: Doorway) -> None:
    answer = any_door.client.get(f"/snippet/page.js?v={VERSION}")
    assert "immutable" in answer.headers["Cache-Control"]
    assert "immutable" not in any_door.client.get("/snippet/page.js?v=older").headers["Cache-Control"]


def test_a_script_that_is_known_is_not_sent_again(any_door: Doorway) -> None:
    tag = any_door.client.get("/snippet/page.js").headers["ETag"]
    answer = any_door.client.get("/snippet/page.js", headers={"If-None-Match": tag})
    assert (answer.status_code, answer.get_data()) == (304, b"")


@pytest.mark.parametrize("source", ["web", "page-off", "nobody", "..", "page.js"])
def test_no_script_for_another_source(any_door: Doorway, source: str) -> None:
    assert any_door.client.get(f"/snippet/{source}.js").status_code == 404


def test_the_script_is_small_and_asks_nothing_of_a_strict_page() -> None:
    assert len(SNIPPET.encode()) < 6 * 1024
    assert not [word for word in ("eval", "new Function", "innerHTML", ".style", "import(", "document.write")
                if word in SNIPPET]  # fmt: skip


# --- without the script ----------------------------------------------------------------------------------------------


def plain(door: Doorway, data: Mapping[str, str], *, language: str = "", origin: str = PAGE_ORIGIN) -> TestResponse:
    headers = {"Origin": origin, "Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    headers |= {"Accept-Language": language} if language else {}
    return door.client.post(path_of("page"), data=dict(data), headers=headers)


@pytest.mark.parametrize(
    ("language", "text"),
    [("", "Recibimos su mensaje."), ("es-PE,es", "Recibimos su mensaje."), ("en-US,en", "We received your message.")],
)
def test_a_form_sent_by_itself_is_an_event_and_answered_with_a_page(door: Doorway, language: str, text: str) -> None:
    answer = plain(door, ANSWERS, language=language)
    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    assert f'<p role="status">{text}</p><p><a href="{PAGE_ORIGIN}">' in answer.get_data(as_text=True)
    assert door.count("events") == 1


def test_a_blank_form_is_told_so(door: Doorway) -> None:
    assert "Complete el formulario" in plain(door, {"name": " "}).get_data(as_text=True)


def test_a_form_of_another_page_is_told_that_it_was_not_received(any_door: Doorway) -> None:
    answer = plain(any_door, ANSWERS, origin='https://x.example"><script>')
    assert (answer.status_code, "No pudimos recibir" in answer.get_data(as_text=True)) == (401, True)
    assert "<script" not in answer.get_data(as_text=True)


def test_a_form_that_could_not_be_kept_says_so(database_url: str, tmp_path: Path) -> None:
    with doorway(database_url, tmp_path, patience=0.5) as door:
        door.pool.close()
        answer = plain(door, ANSWERS)
    assert (answer.status_code, "No pudimos guardar" in answer.get_data(as_text=True)) == (503, True)
