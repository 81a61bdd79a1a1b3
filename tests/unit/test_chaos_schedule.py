"""When which fault comes in a proof with real processes."""

from __future__ import annotations

from collections import Counter

from workers.prove.chaos.faults import FAULTS
from workers.prove.chaos.schedule import schedule

MINUTE = 60.0
ALL = tuple(FAULTS)


def test_the_same_seed_gives_the_same_schedule() -> None:
    assert schedule(7, MINUTE, ALL) == schedule(7, MINUTE, ALL)


def test_another_seed_gives_another_schedule() -> None:
    assert schedule(7, MINUTE, ALL) != schedule(8, MINUTE, ALL)


def test_a_schedule_fits_into_its_time() -> None:
    planned = [sum(each.seconds for each in schedule(seed, MINUTE, ALL)) for seed in range(50)]
    assert MINUTE * 0.9 < min(planned) <= max(planned) <= MINUTE


def test_every_fault_comes_once_before_any_comes_again() -> None:
    counts = Counter(each.fault for each in schedule(7, 10 * MINUTE, ALL))
    assert set(counts) == set(ALL)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_two_minutes_have_every_fault() -> None:
    assert all({each.fault for each in schedule(seed, 2 * MINUTE, ALL)} == set(ALL) for seed in range(50))


def test_where_no_fault_is_possible_the_schedule_is_empty() -> None:
    assert schedule(7, MINUTE, ()) == []
