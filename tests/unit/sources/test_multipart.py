"""Multipart forms: fields as from an urlencoded form, files left out, anything else unreadable."""

from __future__ import annotations

import pytest

from intake.sources.base import Unreadable
from intake.sources.multipart import opening_boundary, read_multipart

TYPE = "multipart/form-data; boundary=xx"


def part(name: str, value: bytes, rest: str = "") -> bytes:
    return f'--xx\r\nContent-Disposition: form-data; name="{name}"{rest}\r\n\r\n'.encode() + value + b"\r\n"


def test_fields_are_read_and_repeated_ones_listed() -> None:
    body = part("a", "José".encode()) + part("b", b"1") + part("b", b"2") + b"--xx--\r\n"
    assert read_multipart(body, TYPE).value == {"a": "José", "b": ["1", "2"]}


def test_file_is_no_field() -> None:
    body = part("a", b"1") + part("f", b"%PDF", '; filename="x.pdf"') + b"--xx--\r\n"
    assert read_multipart(body, TYPE).value == {"a": "1"}


def test_latin1_value_is_read_and_flagged() -> None:
    decoded = read_multipart(part("a", b"Jos\xe9") + b"--xx--", TYPE)
    assert (decoded.value, decoded.charset_guessed) == ({"a": "José"}, True)


@pytest.mark.parametrize("content_type", ["", "multipart/form-data", "multipart/form-data; boundary=é", TYPE + "y"])
def test_body_without_its_boundary_is_unreadable(content_type: str) -> None:
    with pytest.raises(Unreadable):
        read_multipart(part("a", b"1") + b"--xx--", content_type)


@pytest.mark.parametrize("body", [b"", b"--xx", part("a", b"1"), part("a", b"1") * 1001 + b"--xx--"])
def test_cut_or_endless_body_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        read_multipart(body, TYPE)


@pytest.mark.parametrize(("body", "boundary"), [(b"--xx\r\nC", "xx"), (b"{}", ""), (b"", "")])
def test_boundary_is_in_the_first_line(body: bytes, boundary: str) -> None:
    assert opening_boundary(body) == boundary
