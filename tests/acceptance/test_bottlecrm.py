"""Real deliveries, from the door through the workers into a running BottleCRM; what became of them, it says itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bottlecrm_lab import BottleLab, bottlecrm_lab
from tests.bottlecrm_server import Server, owners, server

pytestmark = pytest.mark.crm_servers


@pytest.fixture
def crm() -> Server:
    return server("bottlecrm")


@pytest.fixture
def bottle(database_url: str, tmp_path: Path, crm: Server) -> Iterator[BottleLab]:
    with bottlecrm_lab(database_url, tmp_path, crm) as made:
        yield made


def test_a_form_becomes_contact_opportunity_and_task_once(bottle: BottleLab) -> None:
    event = bottle.form()
    bottle.lab.work()
    assert bottle.lab.state(event) == "confirmed"
    assert [len(found) for found in (bottle.contacts(), bottle.opportunities(), bottle.tasks())] == [1, 1, 1]


def test_each_record_of_a_form_is_found_by_its_reference(bottle: BottleLab) -> None:
    event = bottle.form()
    bottle.lab.work()
    found = {
        "contact": bottle.crm.contacts(cf_external_ref=bottle.reference(event, "contact")),
        "opportunity": bottle.crm.opportunities(cf_external_ref=bottle.reference(event, "opportunity")),
        "task": bottle.crm.tasks(cf_external_ref=bottle.reference(event, "task")),
    }
    made = {"contact": bottle.contacts(), "opportunity": bottle.opportunities(), "task": bottle.tasks()}
    assert {kind: [row["id"] for row in rows] for kind, rows in found.items()} == {
        kind: [row["id"] for row in rows] for kind, rows in made.items()
    }


def test_opportunity_and_task_of_a_form_have_one_owner(bottle: BottleLab) -> None:
    bottle.form()
    bottle.lab.work()
    (task,) = bottle.tasks()
    assert owners(bottle.opportunity()) == owners(task) != []
