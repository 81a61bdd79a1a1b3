"""Whose turn it is: what is in hand, and which kinds of work are looked at first."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from uuid import UUID

import pytest

from intake.deliveries import Claim, Had
from workers.turns import OTHERS_FIRST_EVERY, InHand, Turns

OTHERS = ("fetch", "look", "control")


def claim(source: str, destination: str = "crm") -> Claim:
    return Claim(UUID(int=1), 1, UUID(int=2), 1, "opener", 0, "live", source, destination)


def test_what_is_in_hand_counts_until_it_is_done() -> None:
    in_hand = InHand()
    assert in_hand.had == []
    with in_hand.holding(claim("web")), in_hand.holding(claim("wa")), in_hand.holding(claim("web")):
        assert in_hand.had == [Had("crm", "web", 2, 3), Had("crm", "wa", 1, 2)]
    assert in_hand.had == [Had("crm", "web", 0, 3), Had("crm", "wa", 0, 2)]


def test_what_a_source_sends_for_tests_is_another_lane() -> None:
    in_hand = InHand()
    with in_hand.holding(claim("web", "playground")):
        assert in_hand.had == [Had("playground", "web", 1, 1)]


def test_what_breaks_off_is_in_hand_no_more() -> None:
    in_hand = InHand()
    with pytest.raises(KeyError), in_hand.holding(claim("wa")):
        raise KeyError
    assert in_hand.had == [Had("crm", "wa", 0, 1)]


def taken(turns: Turns) -> tuple[str, ...]:
    return tuple(turns.first(OTHERS))


def at_eighth(turns: Turns) -> Generator[str]:
    for _ in range(OTHERS_FIRST_EVERY - 1):
        assert taken(turns) == ()
    return turns.first(OTHERS)


def test_deliveries_go_first_but_at_every_eighth_turn() -> None:
    turns = Turns()
    fronts = [taken(turns) for _ in range(2 * OTHERS_FIRST_EVERY)]
    assert [number for number, front in enumerate(fronts, 1) if front] == [OTHERS_FIRST_EVERY, 2 * OTHERS_FIRST_EVERY]


def test_each_other_kind_goes_first_at_times() -> None:
    turns = Turns()
    orders = [front for _ in range(3 * OTHERS_FIRST_EVERY) if (front := taken(turns))]
    assert {order[0] for order in orders} == set(OTHERS)
    assert all(set(order) == set(OTHERS) for order in orders)


def test_one_thread_at_a_time_is_at_a_kind_before_deliveries() -> None:
    turns = Turns()
    with closing(at_eighth(turns)) as front:
        busy = next(front)
        assert set(at_eighth(turns)) == set(OTHERS) - {busy}
    assert set(at_eighth(turns)) == set(OTHERS)
