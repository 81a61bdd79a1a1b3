"""How often an address may ask, and whose address it is."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from intake.rates import MOST_BUCKETS, TOGETHER, Rates, visitor


@dataclass(slots=True)
class Asking:
    """A clock that stands still until it is set, and the rates by it."""

    time: float = 1000.0
    rates: Rates = field(init=False)

    def __post_init__(self) -> None:
        self.rates = Rates(lambda: self.time)

    def waits(self, times: int, address: str = "192.0.2.1", source: str = "page") -> list[float]:
        return [self.rates.wait(source, address, 3) for _ in range(times)]


def test_a_minutes_worth_may_come_at_once() -> None:
    assert Asking().waits(3) == [0.0, 0.0, 0.0]


def test_one_more_is_told_when_to_come_again() -> None:
    assert Asking().waits(5)[3:] == [20.0, 20.0]


def test_time_gives_back_what_was_used() -> None:
    asking = Asking()
    asking.waits(3)
    asking.time += 20.0
    assert asking.waits(2) == [0.0, 20.0]


def test_a_long_pause_gives_no_more_than_a_minutes_worth() -> None:
    asking = Asking()
    asking.waits(3)
    asking.time += 3600.0
    assert asking.waits(4) == [0.0, 0.0, 0.0, 20.0]


@pytest.mark.parametrize("other", [{"address": "192.0.2.2"}, {"source": "other"}])
def test_another_address_or_source_is_counted_by_itself(other: dict[str, str]) -> None:
    asking = Asking()
    asking.waits(3)
    assert asking.waits(3, **other) == [0.0, 0.0, 0.0]


def test_many_addresses_together_have_a_limit_too() -> None:
    asking = Asking()
    waits = [asking.rates.wait("page", f"192.0.2.{n}", 3) for n in range(3 * TOGETHER + 1)]
    assert waits[-2:] == [0.0, 1.0]


def test_memory_is_bounded() -> None:
    asking = Asking()
    for n in range(MOST_BUCKETS + 100):
        asking.rates.wait("page", str(n), 3)
        asking.time += 60.0
    assert len(asking.rates._buckets) <= MOST_BUCKETS  # noqa: SLF001  # it cannot be seen from outside


@pytest.mark.parametrize(
    ("peer", "forwarded", "counted"),
    [
        ("127.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("::1", "203.0.113.7", "203.0.113.7"),
        ("", "203.0.113.7", "203.0.113.7"),  # a Unix socket
        ("127.0.0.1", "198.51.100.1, 203.0.113.7", "203.0.113.7"),  # the first is whatever the visitor wrote
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "nonsense", "127.0.0.1"),
        ("198.51.100.9", "203.0.113.7", "198.51.100.9"),  # not our proxy
        ("127.0.0.1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("127.0.0.1", "::ffff:203.0.113.7", "203.0.113.7"),
        ("", "", "None"),
    ],
)
def test_whom_a_limit_counts(peer: str, forwarded: str, counted: str) -> None:
    assert visitor(peer, forwarded) == counted
