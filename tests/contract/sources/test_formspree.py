"""Formspree's REST hook, whose set-up call is no lead and no secret of ours."""

from __future__ import annotations

import pytest

from intake.sources.formspree import Formspree

CALL = {"x-hook-secret": "b537207f20cbfa02357cf448134da559"}


@pytest.mark.parametrize("body", [b"", b"{}", b" \n", b"[]"])
def test_set_up_call_gets_its_header_back(body: bytes) -> None:
    assert Formspree().echoed(CALL, body) == {"X-Hook-Secret": CALL["x-hook-secret"]}


@pytest.mark.parametrize("body", [b'{"email":"ana@example.com"}', b"email=ana%40example.com", b"\xff"])
def test_answers_are_no_set_up_call_whatever_header_they_have(body: bytes) -> None:
    assert Formspree().echoed(CALL, body) == {}


@pytest.mark.parametrize("secret", ["", "two words", "x" * 201, "a\r\nSet-Cookie: b=c", "á"])
def test_only_a_plain_value_goes_back(secret: str) -> None:
    assert Formspree().echoed({"x-hook-secret": secret}, b"") == {}


def test_call_without_the_header_is_a_delivery() -> None:
    assert Formspree().echoed({}, b"") == {}
