"""Many leads through a CRM that fails in every way, and a reconciliation that accuses nobody."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.lab import lab
from tests.simulation.crowd import SHARE, Crowd
from tests.simulation.intruder import reconciled
from tests.simulation.world import ledger

EVENTS = 500


@pytest.mark.slow
def test_five_hundred_events_with_five_percent_of_each_fault_are_reconciled(database_url: str, tmp_path: Path) -> None:
    with lab(database_url, tmp_path, limit=2.0) as made:
        crowd = Crowd(made, random.Random(7), EVENTS)
        crowd.send()
        crowd.deliver()
        assert min(crowd.hit.values()) >= SHARE * EVENTS
        result, found = reconciled(made)
        assert (found, dict(result.incidents)) == ([], {})
        assert set(result.counts) <= {"confirmed", "superseded"}
        assert sum(result.counts.values()) == crowd.sent
        assert made.dials.doubles() == []
        assert ledger(made)["opportunity"] == crowd.needs
