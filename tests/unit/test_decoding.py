"""Bodies as values: any charset, exact numbers, nothing that a database cannot hold."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intake.sources.base import Unreadable
from intake.sources.decoding import Json, clean_text, decimal, read_form, read_json
from intake.urlencoded import MAX_FIELDS


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b"410.50", Decimal("410.50")),
        (b"1e400", "1e400"),
        (b"1e-999999999", "1e-999999999"),
        (b"9" * 5000, "9" * 5000),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'\xef\xbb\xbf"a"', "a"),
    ],
)
def test_values_come_out_exactly(body: bytes, value: Json) -> None:
    assert read_json(body).value == value


@pytest.mark.parametrize("body", [b"NaN", b"-Infinity", b"", b"{", b"\x00", b"[" * 100_000, b"[" * 65 + b"]" * 65])
def test_what_is_no_json_or_too_deep_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        read_json(body)


def test_latin1_form_is_read_and_said_to_be_guessed() -> None:
    decoded = read_form(b"nombre=Jos%E9+Nu%F1ez&email=a%40example.com")
    assert decoded.value == {"nombre": "José Nuñez", "email": "a@example.com"}
    assert decoded.flags == ("charset_guessed",)


def test_repeated_name_is_a_list_and_blank_is_kept() -> None:
    assert read_form(b"a=1&a=2&b=").value == {"a": ["1", "2"], "b": ""}


def test_form_of_too_many_fields_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        read_form(b"a=1&" * (MAX_FIELDS + 1))


@pytest.mark.parametrize("written", ["NaN", "Infinity", "1e99", "ten", "", "1" * 50])
def test_amount_that_no_program_means_is_none(written: str) -> None:
    assert decimal(written) is None


@settings(deadline=None)
@given(st.text(st.characters()))
def test_cleaned_text_can_be_stored(text: str) -> None:
    cleaned = clean_text(text)
    assert "\x00" not in cleaned
    assert cleaned.encode().decode() == cleaned


@settings(deadline=None)
@given(st.binary())
def test_form_of_any_bytes_is_read(body: bytes) -> None:
    assert isinstance(read_form(body).value, dict)
