"""Many leads through a CRM that fails in every way; a reconciliation accuses nobody, and then everything that is done
behind our back to some of them.

RECONCILE_EVENTS=10000 makes it as many as the proof asks for; that takes half an hour and more.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.commands import beside, intake, listed
from tests.lab import Lab, lab
from tests.simulation.crowd import SHARE, Crowd
from tests.simulation.intruder import Intruder
from tests.simulation.saboteur import SABOTAGES, Victim
from tests.simulation.world import ledger

EVENTS = int(os.environ.get("RECONCILE_EVENTS", "300"))
RECONCILE = ("reconcile", "--verify", "--json", "--per-second", "1000")

# Forms of people who sent nothing else, so that what is done to one is done to nobody else.
VICTIMS = """
    SELECT d.event_id::text AS event, c.crm_id AS contact, o.crm_id AS opportunity, t.crm_id AS task
      FROM deliveries d JOIN events e USING (event_id)
      JOIN records c ON c.record_id = d.contact_record JOIN records o ON o.record_id = d.opportunity_record
      JOIN records t ON t.record_id = d.task_record
     WHERE d.state = 'confirmed' AND e.kind = 'form' ORDER BY e.received_at, d.event_id LIMIT %(count)s
"""


def victims(made: Lab) -> list[Victim]:
    found = made.rows(VICTIMS, count=len(SABOTAGES))
    return [Victim(*(str(row[name]) for name in ("event", "contact", "opportunity", "task"))) for row in found]


@pytest.mark.slow
def test_many_events_with_five_percent_of_each_fault_are_reconciled_and_every_sabotage_is_caught(
    database_url: str, tmp_path: Path
) -> None:
    with lab(database_url, tmp_path, limit=2.0) as made:
        crowd = Crowd(made, random.Random(7), EVENTS)
        crowd.send()
        crowd.deliver()
        assert min(crowd.hit.values()) >= SHARE * EVENTS
        environ = beside(made, tmp_path)
        said = intake(environ, *RECONCILE)
        assert (said.status, listed(said.document, "incidents")) == (0, [])
        counts = said.document["counts"]
        assert isinstance(counts, dict)
        assert set(counts) <= {"confirmed", "superseded"}
        assert sum(counts.values()) == crowd.sent
        assert made.dials.doubles() == []
        assert ledger(made)["opportunity"] == crowd.needs
        assert len(SABOTAGES) >= 10
        for (deed, _), whom in zip(SABOTAGES.values(), victims(made), strict=True):
            deed(Intruder(made), whom)
        said = intake(environ, *RECONCILE)
        found = Counter(str(each["reason"]) for each in listed(said.document, "incidents"))
        assert said.status == 1
        assert found == sum((Counter(dict(each)) for _, each in SABOTAGES.values()), Counter[str]())
