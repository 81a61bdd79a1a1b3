from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crm_clients import answers
from crm_clients.base import Response

DATE = "Mon, 02 Mar 2026 10:00:00 GMT"


def answered(body: bytes = b"", status: int = 200, **headers: str) -> Response:
    return Response(status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"a": NaN}',
        b"\xff\xfe",
        b'{"a":' * 100_000,
        b'{"a":' + b"[" * 40 + b"]" * 40 + b"}",
        b'{"a": 1e99999999999999999999}',
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_sound_json_object_is_none(body: bytes) -> None:
    assert answers.json_object(answered(body)) is None


def test_json_object_is_read() -> None:
    assert answers.json_object(answered(b'{"a": {"b": [1]}}')) == {"a": {"b": [1]}}


@given(st.binary())
def test_no_bytes_make_reading_raise(body: bytes) -> None:
    answers.json_object(answered(body))


@given(st.text(), st.text())
def test_no_header_makes_retry_after_raise(asked: str, date: str) -> None:
    span = answers.retry_after(answered(retry_after=asked, date=date))
    assert span is None or timedelta(0) <= span <= answers.LONGEST_WAIT


def test_retry_after_reads_seconds() -> None:
    assert answers.retry_after(answered(retry_after="120")) == timedelta(seconds=120)


def test_retry_after_reads_a_date_against_the_servers_own_clock() -> None:
    answer = answered(retry_after="Mon, 02 Mar 2026 10:01:30 GMT", date=DATE)
    assert answers.retry_after(answer) == timedelta(seconds=90)


def test_retry_after_in_the_past_is_now() -> None:
    answer = answered(retry_after="Mon, 02 Mar 2026 09:00:00 GMT", date=DATE)
    assert answers.retry_after(answer) == timedelta(0)


@pytest.mark.parametrize("asked", ["", "soon", "-1", "1.5", "²", "Mon, 02 Mar 2026 10:01:30 GMT"])
def test_retry_after_that_cannot_be_read_is_none(asked: str) -> None:
    assert answers.retry_after(answered(retry_after=asked)) is None


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ('"1200.50"', "1200.5"),
        ("1200.5", "1200.5"),
        ('"0012.00"', "12"),
        ("7", "7"),
        ('"-0.00"', "0"),
        ('"-3.10"', "-3.1"),
        ('"1,200"', None),
        ("1e999999", None),
        ("true", None),
        ("null", None),
        ('"1e3"', None),
    ],
)
def test_amounts_have_one_form(written: str, canonical: str | None) -> None:
    read = answers.json_object(answered(f'{{"amount": {written}}}'.encode()))
    assert read is not None
    assert answers.amount(read["amount"]) == canonical


@pytest.mark.parametrize("value", ["", " ", "a\x00", "x" * 201, True, None, 0, -1, 10**18, 1.5, "\ud800"])
def test_what_can_be_no_id_is_none(value: object) -> None:
    assert answers.record_id(value) is None


@pytest.mark.parametrize(("value", "expected"), [("abc-1", "abc-1"), (17, "17")])
def test_ids_are_text(value: object, expected: str) -> None:
    assert answers.record_id(value) == expected


def test_text_can_be_stored_whatever_was_escaped() -> None:
    assert answers.text(json.loads('"a\\u0000b\\ud800"')) == "ab?"


def test_rows_are_objects_or_nothing() -> None:
    assert answers.rows([{"a": 1}, 2]) is None


def test_credential_trouble_is_the_accounts() -> None:
    assert answers.no_look(answered(status=401)).scope == "account"
