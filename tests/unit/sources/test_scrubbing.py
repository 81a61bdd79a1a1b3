"""A secret leaves a body, and every other byte stays."""

from __future__ import annotations

import json

import pytest

from intake.sources.scrubbing import without


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (b"a=1&Key=secret&b=2", b"a=1&Key=&b=2"),
        (b"K%65y=secret", b"K%65y="),
        (b"Key=secret&Key=second", b"Key=&Key="),
        (b"OtherKey=1&key=2", b"OtherKey=1&key=2"),
        (b'{"a": "1", "Key" : "se\\"cret", "b": 2}', b'{"a": "1", "Key" : "", "b": 2}'),
        (b"", b""),
        (b"\xff%zz=&&=", b"\xff%zz=&&="),
    ],
)
def test_secret_is_blank_and_the_rest_as_it_was(body: bytes, left: bytes) -> None:
    assert without(body, "Key") == left


@pytest.mark.parametrize(
    "body",
    [
        b'{"K\\u0065y": "secret", "a": 1}',
        '{"Key": "secret", "a": 1}'.encode("utf-16"),
        b'\xef\xbb\xbf{"Key": "secret", "a": 1}',
        b'{"Key": ["secret"], "a": 1}',
    ],
)
def test_secret_that_json_hides_is_gone_too(body: bytes) -> None:
    left = json.loads(without(body, "Key"))
    assert left == {"Key": "", "a": 1}
