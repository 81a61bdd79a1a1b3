"""How a record is written once follows from what its CRM promises, by one table."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from crm_clients.base import Capability, Kind
from workers.strategy import UNKNOWN_LIMIT, Never, Proof, Proven, Refused, strategy

LIMIT, LAG = timedelta(seconds=60), timedelta(seconds=5)
STORED = Capability("stored", lag=LAG, limit=LIMIT)


@pytest.mark.parametrize(
    ("can", "look_first", "proof"),
    [
        (Capability("enforced"), False, Refused()),
        (STORED, True, Proven(LIMIT + LAG)),
        (replace(STORED, reference="marker"), True, Proven(LIMIT + LAG)),
        (replace(STORED, limit=None), True, Never()),
        (replace(STORED, look="weak"), True, Never(LIMIT + LAG)),
        (replace(STORED, absence_may_mean_done=True), True, Never(LIMIT + LAG)),
        (replace(STORED, look="weak", limit=None), True, Never(UNKNOWN_LIMIT)),
        (Capability("none", limit=LIMIT), False, Never(LIMIT)),
    ],
)
def test_what_a_crm_promises_decides(can: Capability, look_first: bool, proof: Proof) -> None:
    found = strategy(Kind.TASK, can, None)
    assert (found.look_first, found.proof) == (look_first, proof)


def test_the_owner_s_word_stands_in_for_a_limit_that_nobody_knows() -> None:
    assert strategy(Kind.TASK, replace(STORED, limit=None), LIMIT).proof == Proven(LIMIT + LAG)


def test_a_note_is_cheap_so_that_the_lag_alone_is_waited_for() -> None:
    assert strategy(Kind.NOTE, replace(STORED, limit=None), None).proof == Proven(LAG)


def test_a_note_may_be_done_with_as_little_as_anything_else() -> None:
    assert strategy(Kind.NOTE, replace(STORED, absence_may_mean_done=True), LIMIT).proof == Never(LIMIT + LAG)
