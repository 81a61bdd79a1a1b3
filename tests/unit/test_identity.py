"""Names that stand in databases and CRMs: another value for the same input is another event, or a doubled record."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intake.identity import (
    IdentityKey,
    Mode,
    event_id,
    need_reference,
    record_reference,
    talk_opened_at,
    talk_reference,
    talk_stem,
)

KEY = IdentityKey(bytes(32))


@pytest.mark.parametrize(
    ("mode", "source", "request_id", "version", "known"),
    [
        ("live", "web", "msg_1", None, "7d98177e-d827-5b83-b5cc-9c65c51ce069"),
        ("test", "web", "msg_1", None, "65f12b6b-6126-5cb3-a508-4c9723e8b9a5"),
        ("live", "quotes", "COT-1", 2, "7b5aec0f-2c63-5b74-8194-8b09afbc6173"),
    ],
)
def test_an_identity_has_the_same_id_for_ever(
    mode: Mode, source: str, request_id: str, version: int | None, known: str
) -> None:
    assert event_id(mode, source, request_id, version) == UUID(known)


def test_references_of_needs_are_the_same_for_ever() -> None:
    assert need_reference("live", "web", "event:x") == "nxzdjqaxxmlhde5uyu7uik6bf7m"
    assert need_reference("test", "quotes", "number:COT-1") == "t-ntnijuqowadbxyzsjx4pzg7o6mq"


def test_digests_under_a_key_are_the_same_for_ever() -> None:
    assert KEY.mac("a", "b").hex() == "52d76d69b2d820e29a37898c0cd4ce2dc982253cc763901f987f8f0688f54daa"
    assert (
        KEY.fingerprint({"b": 1, "a": "ñ"}).hex() == "59c877e2d132fcbb4cbd7c5c8534e4e31f1e4e8f1043da95aeed54f27e59639f"
    )


def test_a_fingerprint_does_not_ask_for_the_order_of_its_fields() -> None:
    assert KEY.fingerprint({"a": "ñ", "b": 1}) == KEY.fingerprint({"b": 1, "a": "ñ"})


@pytest.mark.parametrize(
    ("one", "other"), [(("web", "1:a"), ("web1:", "a")), (("we", "bmsg"), ("web", "msg")), (("a", ""), ("", "a"))]
)
def test_parts_that_read_alike_when_joined_are_different_identities(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert event_id("live", *one, None) != event_id("live", *other, None)
    assert KEY.mac(*one) != KEY.mac(*other)


@given(st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC)), st.uuids())  # noqa: DTZ001  # naive bounds, as asked
def test_a_talk_s_reference_tells_its_minute(at: datetime, opener: UUID) -> None:
    reference = record_reference(talk_reference("live", "abcdefghijklmnop", opener, at), "opportunity")
    opened = talk_opened_at(talk_stem("live", "abcdefghijklmnop"), reference)
    assert opened is not None
    assert timedelta(0) <= at - opened < timedelta(minutes=1)
    assert len(reference) <= 64


def test_another_talk_s_reference_tells_nothing() -> None:
    reference = talk_reference("live", "abcdefghijklmnop", UUID(int=5), datetime(2026, 11, 29, tzinfo=UTC))
    assert talk_opened_at(talk_stem("live", "bbbbbbbbbbbbbbbb"), reference) is None
    assert talk_opened_at(talk_stem("test", "abcdefghijklmnop"), reference) is None
    assert talk_opened_at(talk_stem("live", "abcdefghijklmnop"), "wabcdefghijklmnop-!") is None
