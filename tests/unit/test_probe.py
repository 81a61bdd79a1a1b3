"""What the contract probe's result does to a client's word: only more care, never less."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from crm_clients.base import Capability, Kind
from workers.probe import telling
from workers.probe.measured import Contract, GaveUp, Left, OfKind, Parallel, Seen, careful, from_json, to_json

AT_ONCE = Seen(5, 0, 0.0, 0.0, 0.0)
GOOD = OfKind(
    Kind.OPPORTUNITY,
    "refused",
    "409 duplicate",
    Parallel(20, 1, {"201 confirmed": 1, "409 duplicate": 19}),
    by_id=AT_ONCE,
    by_reference=AT_ONCE,
    by_match=None,
    idempotency_key="cannot_tell",
    gave_up=GaveUp(5, 5, 0.2),
    unknown_field="dropped",
    rewritten={"text": ("a  b", "a b")},
    owner="kept",
)
CONTRACT = Contract(
    "crm", "sandbox", datetime(2026, 11, 29, tzinfo=UTC), "ab12", (GOOD,), 12, (Left(Kind.NOTE, "n-1"),)
)
ENFORCED = Capability("enforced", limit=timedelta(seconds=5))
STORED = Capability("stored", limit=timedelta(seconds=5))


def test_a_good_result_changes_nothing() -> None:
    assert careful(ENFORCED, GOOD) == ENFORCED


def test_an_account_that_was_never_measured_keeps_its_client_s_word() -> None:
    assert careful(STORED, None) == STORED


@pytest.mark.parametrize(
    "seen", [replace(GOOD, second="doubled"), replace(GOOD, parallel=Parallel(20, 2, {"201 confirmed": 20}))]
)
def test_a_reference_that_let_two_through_is_not_enforced(seen: OfKind) -> None:
    assert careful(ENFORCED, seen).reference == "stored"


def test_a_reference_that_was_refused_twice_does_not_become_enforced() -> None:
    assert careful(STORED, GOOD).reference == "stored"


def test_a_look_that_missed_what_stood_there_is_weak() -> None:
    missed = replace(GOOD, by_reference=Seen(5, 1, 0.0, 0.0, 0.0))
    assert careful(STORED, missed).look == "weak"


def test_a_later_sight_moves_the_lag_to_the_next_whole_second() -> None:
    late = replace(GOOD, by_reference=Seen(5, 0, 1.0, 3.2, 3.2))
    assert careful(STORED, late).lag == timedelta(seconds=4)


def test_an_earlier_sight_leaves_the_declared_lag() -> None:
    assert careful(replace(STORED, lag=timedelta(seconds=30)), GOOD).lag == timedelta(seconds=30)


def test_a_later_execution_moves_the_limit() -> None:
    late = replace(GOOD, gave_up=GaveUp(5, 5, 7.5))
    assert careful(STORED, late).limit == timedelta(seconds=8)


def test_an_unknown_limit_stays_unknown_whatever_was_measured() -> None:
    late = replace(GOOD, gave_up=GaveUp(5, 5, 7.5))
    assert careful(replace(STORED, limit=None), late).limit is None


def test_a_result_is_read_as_it_was_written() -> None:
    assert from_json(to_json(CONTRACT)) == CONTRACT


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"kinds": 1}', to_json(CONTRACT).replace('"refused"', '"perhaps"', 1)]
)
def test_what_is_no_result_is_told_so(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # json's own error is one, too
        from_json(text)


def test_percentiles_are_values_that_were_measured() -> None:
    assert Seen.of([0.3, 0.1, None, 0.2]) == Seen(4, 1, 0.2, 0.3, 0.3)


def test_what_was_never_seen_has_no_percentile() -> None:
    assert Seen.of([None, None]) == Seen(2, 2, None, None, None)


def test_what_changes_for_deliveries_is_told() -> None:
    (line,) = telling.consequences(replace(GOOD, second="doubled"), ENFORCED)
    assert "not taken as unique" in line


def test_a_good_result_has_no_consequences() -> None:
    assert list(telling.consequences(GOOD, ENFORCED)) == []


def test_records_that_stayed_are_named() -> None:
    assert "note n-1" in telling.removal(CONTRACT)
