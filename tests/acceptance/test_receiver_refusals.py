"""What the door refuses, and with which words."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from tests.doorway import Doorway, as_json, doorway, path_of, quote, whatsapp

BODY = as_json({"name": "Ana Prueba", "message": "Hola"})


def assert_refused(answer: TestResponse, status: int, error: str, fields: dict[str, str] | None = None) -> None:
    """The answer is this refusal, whole."""
    assert (answer.status_code, answer.get_json()) == (status, {"error": error, "fields": fields or {}})
    assert answer.content_type == "application/json"


def assert_kept_nothing(door: Doorway) -> None:
    assert (door.count("receipts"), door.count("events"), door.count("bodies")) == (0, 0, 0)


# --- 401 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["web", "generic", "wa", "quotes"])
def test_a_delivery_without_proof_is_not_authentic(door: Doorway, source: str) -> None:
    answer = door.client.post(path_of(source), data=BODY, content_type="application/json")
    assert_refused(answer, 401, "not_authentic")
    assert_kept_nothing(door)


@pytest.mark.parametrize(
    ("source", "header"),
    [("web", "webhook-signature"), ("wa", "x-hub-signature-256"), ("generic", "x-intake-token")],
)
def test_one_wrong_byte_in_the_proof_is_not_authentic(any_door: Doorway, source: str, header: str) -> None:
    given = any_door.signed(source, BODY)
    (name,) = (name for name in given if name.lower() == header)
    wrong = given[name][:-3] + ("0" if given[name][-3] != "0" else "1") + given[name][-2:]
    assert_refused(any_door.post(source, BODY, headers={name: wrong}), 401, "not_authentic")


def test_one_wrong_byte_in_the_body_is_not_authentic(any_door: Doorway) -> None:
    headers = any_door.signed("web", BODY)
    assert_refused(any_door.client.post("/hooks/web", data=BODY + b" ", headers=headers), 401, "not_authentic")


def test_a_source_with_a_scheme_takes_no_other(any_door: Doorway) -> None:
    headers = {"x-intake-token": "form-token"}
    assert_refused(any_door.client.post("/hooks/basic", data=BODY, headers=headers), 401, "not_authentic")


def test_a_source_with_a_scheme_takes_that_one(any_door: Doorway) -> None:
    answer = any_door.client.post("/hooks/basic", data=BODY, auth=("anybody", "form-token"))
    assert answer.status_code == 200


def test_a_token_beyond_ascii_is_understood(any_door: Doorway) -> None:
    answer = any_door.client.post("/hooks/generic?token=%ff%00ñ", data=BODY, headers={"x-intake-token": "ñandú\x80"})
    assert_refused(answer, 401, "not_authentic")


# --- 404 and 405 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nobody", "off", "not-built-in", "WEB", "web%00", "%F0%9F", "web%20", "." * 300])
def test_a_source_that_is_not_served_is_not_found(any_door: Doorway, name: str) -> None:
    assert_refused(any_door.client.post(f"/hooks/{name}", data=BODY), 404, "unknown_source")


@pytest.mark.parametrize("path", ["/", "/hooks", "/hooks/", "/hooks/web/", "//hooks/web", "/hooks//web", "/static/x"])
def test_any_other_path_is_not_found_and_never_a_redirect(any_door: Doorway, path: str) -> None:
    answer = any_door.client.post(path, data=BODY, headers=any_door.signed("web", BODY))
    assert_refused(answer, 404, "not_found")
    assert "location" not in answer.headers


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_another_method_is_told_which_are_allowed(any_door: Doorway, method: str) -> None:
    answer = any_door.client.open("/hooks/web", method=method, data=BODY)
    assert_refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize("source", ["web", "wa-no-handshake"])
def test_a_source_without_a_handshake_takes_no_get(any_door: Doorway, source: str) -> None:
    answer = any_door.client.get(path_of(source))
    assert_refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "POST"


# --- 413 -------------------------------------------------------------------------------------------------------------


def test_a_body_that_declares_too_much_is_not_read(any_door: Doorway) -> None:
    body = as_json({"message": "x" * 2000})
    assert_refused(any_door.post("small", body), 413, "too_large")


def test_a_body_without_a_length_is_read_to_the_limit_only(any_door: Doorway) -> None:
    endless = Endless()
    body = {"wsgi.input": endless, "wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    answer = any_door.client.post("/hooks/small", environ_overrides=body)
    assert_refused(answer, 413, "too_large")
    assert endless.given <= 1025


def test_a_body_of_exactly_the_limit_is_taken(any_door: Doorway) -> None:
    body = as_json({"message": "x" * 1024})
    body = body[:-2][:1022] + b'"}'
    assert (len(body), any_door.post("small", body).status_code) == (1024, 200)


class Endless(io.RawIOBase):
    """A body that never ends."""

    given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what BufferedReader calls it with
        buffer[:] = b"x" * len(buffer)
        self.given += len(buffer)
        return len(buffer)


# --- 415 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"])
@pytest.mark.parametrize("source", ["web", "wa", "quotes"])
def test_a_type_that_the_provider_never_sends_is_refused(any_door: Doorway, source: str, content_type: str) -> None:
    answer = any_door.post(source, BODY, headers={"content-type": content_type})
    assert_refused(answer, 415, "content_type")


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "APPLICATION/JSON"])
def test_a_type_is_read_without_its_parameters_and_case(any_door: Doorway, content_type: str) -> None:
    assert any_door.post("web", BODY, headers={"content-type": content_type}).status_code == 200


@pytest.mark.parametrize("content_type", ["text/plain", "image/png", ""])
def test_a_generic_source_takes_any_type(any_door: Doorway, content_type: str) -> None:
    assert any_door.post("generic", BODY, headers={"content-type": content_type}).status_code == 200


@pytest.mark.parametrize("encoding", ["gzip", "br", "GZIP, identity"])
def test_a_compressed_body_is_refused(any_door: Doorway, encoding: str) -> None:
    assert_refused(any_door.post("web", BODY, headers={"content-encoding": encoding}), 415, "content_encoding")


@pytest.mark.parametrize("encoding", ["identity", "Identity", ""])
def test_a_body_that_says_it_is_not_compressed_is_taken(any_door: Doorway, encoding: str) -> None:
    assert any_door.post("web", BODY, headers={"content-encoding": encoding}).status_code == 200


# --- 422 -------------------------------------------------------------------------------------------------------------


WRONG_QUOTES = {
    "number": ({"number": " "}, {"number": "must not be blank"}),
    "version": ({"version": "1"}, {"version": "must be a whole number from 1 to 2147483647"}),
    "issued_at": ({"issued_at": "2026-11-20T15:04:05"}, {"issued_at": "must have a time zone"}),
    "currency": ({"currency": "S/"}, {"currency": "must be an ISO 4217 code such as PEN"}),
    "amount": (
        {"amount": -1},
        {"amount": 'must be a decimal such as "1840.00", from 0 to 10^12, with at most 6 decimals'},
    ),
    "items": ({"items": {}}, {"items": "must be a list of at most 500 lines"}),
    "items.0.name": ({"items": [{"quantity": 1}]}, {"items.0.name": "is required"}),
    "contact": ({"contact": {"ruc": "20100070970"}}, {"contact": "needs a name, a phone or an email"}),
    "message": ({"message": 7}, {"message": "must be a text of at most 20000 characters"}),
}


@pytest.mark.parametrize(("changes", "fields"), WRONG_QUOTES.values(), ids=WRONG_QUOTES)
def test_a_quote_that_breaks_a_rule_is_told_field_and_rule(
    door: Doorway, changes: dict[str, object], fields: dict[str, str]
) -> None:
    assert_refused(door.post("quotes", as_json(quote(**changes))), 422, "invalid_quote", fields)
    assert_kept_nothing(door)


def test_a_quote_with_several_mistakes_is_told_all_of_them(any_door: Doorway) -> None:
    answer = any_door.post("quotes", as_json({"number": "COT-1"}))
    assert set(answer.get_json()["fields"]) == {"version", "currency", "amount", "contact"}


def test_a_quote_that_is_no_json_is_refused(any_door: Doorway) -> None:
    assert_refused(any_door.post("quotes", b"{"), 422, "not_json", {"body": "must be JSON"})


def test_a_refusal_carries_no_value(any_door: Doorway) -> None:
    canary = "canary-7f3a"
    wrong = quote(currency=canary, version=canary, contact={"name": [canary], "phone": {canary: 1}})
    assert canary not in any_door.post("quotes", as_json(wrong)).get_data(as_text=True)


def test_a_source_whose_program_uses_keys_is_refused_what_it_can_mend(any_door: Doorway) -> None:
    answer = any_door.post("keyed", b"[]", headers={"Idempotency-Key": "a"})
    assert_refused(answer, 422, "not_an_object")


# --- quarantine ------------------------------------------------------------------------------------------------------


UNREADABLE = {
    "no json": ("web", b"{", "not_json"),
    "no object": ("web", b"[1]", "not_an_object"),
    "deep": ("web", b"[" * 5000 + b"]" * 5000, "nested_too_deep"),
    "no form": ("generic", b"\x00\xff\xfe", "neither_json_nor_form"),
    "no whatsapp": ("wa", b"{}", "not_a_whatsapp_body"),
    "unreadable message": ("wa", whatsapp("text"), "unreadable_message"),
}


@pytest.mark.parametrize(("source", "body", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_authentic_and_unreadable_is_kept_for_a_person(
    door: Doorway, source: str, body: bytes, reason: str
) -> None:
    document = door.post(source, body).get_json()
    assert (document["events"], document["quarantined"]) == ([], 1)
    (item,) = door.rows("SELECT * FROM items JOIN bodies USING (receipt_id)")
    assert (item["kind"], item["reason"], item["source"], item["closed_at"]) == ("quarantine", reason, source, None)
    assert item["content"] == body


def test_the_same_unreadable_bytes_again_are_no_second_item(door: Doorway) -> None:
    answers = [door.post("web", b"{") for _ in range(3)]
    assert [answer.get_json()["quarantined"] for answer in answers] == [1, 1, 1]
    assert door.count("items") == 1


def test_other_unreadable_bytes_are_another_item(door: Doorway) -> None:
    door.post("web", b"{")
    door.post("web", b"[")
    assert door.count("items") == 2


# --- 503 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["live", "test"])
def test_a_source_without_its_secret_is_closed_for_now(any_door: Doorway, mode: str) -> None:
    answer = any_door.client.post(path_of("no-secret", mode), data=BODY)
    assert_refused(answer, 503, "source_closed")
    assert int(answer.headers["Retry-After"]) > 0


def test_a_handshake_without_its_token_is_closed_for_now(any_door: Doorway) -> None:
    answer = any_door.client.get("/hooks/wa-no-token?hub.mode=subscribe&hub.challenge=1&hub.verify_token=x")
    assert_refused(answer, 503, "source_closed")
    assert int(answer.headers["Retry-After"]) > 0


def test_a_bug_is_no_acknowledgement(database_url: str, tmp_path: Path) -> None:
    with doorway(database_url, tmp_path, patience=0.5) as door:
        door.pool.close()
        answer = door.post("web", BODY)
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
