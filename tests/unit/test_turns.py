"""Whose turn it is: what is in hand, and in which order kinds of work are looked at."""

from __future__ import annotations

from collections import Counter

import pytest

from workers.turns import OTHERS_FIRST_EVERY, InHand, in_turn

OTHERS = ("fetch", "look", "control")


def test_what_is_in_hand_counts_until_it_is_done() -> None:
    in_hand = InHand()
    with in_hand.holding("web"), in_hand.holding("web"), in_hand.holding("wa"):
        assert Counter(in_hand.sources) == {"web": 2, "wa": 2}
    assert in_hand.sources == ["wa"]


def test_the_newest_counts_when_it_is_done() -> None:
    in_hand = InHand()
    assert in_hand.sources == []
    for source in ("web", "wa"):
        with in_hand.holding(source):
            pass
        assert in_hand.sources == [source]


def test_what_breaks_off_is_in_hand_no_more() -> None:
    in_hand = InHand()
    with in_hand.holding("web"):
        with pytest.raises(KeyError), in_hand.holding("wa"):
            raise KeyError
        assert Counter(in_hand.sources) == {"web": 1, "wa": 1}


@pytest.mark.parametrize("turn", [1, 2, OTHERS_FIRST_EVERY - 1, OTHERS_FIRST_EVERY + 1])
def test_deliveries_go_first(turn: int) -> None:
    assert in_turn("deliver", OTHERS, turn) == ("deliver", *OTHERS)


def test_each_other_kind_goes_first_at_times() -> None:
    orders = [in_turn("deliver", OTHERS, OTHERS_FIRST_EVERY * each) for each in range(1, 4)]
    assert {order[0] for order in orders} == set(OTHERS)
    assert all(order[-1] == "deliver" and set(order) == {"deliver", *OTHERS} for order in orders)
