"""Real deliveries, from the door through the workers into a running BottleCRM; what became of them, it says itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from uuid import UUID

import pytest

from intake.business_time import due_at
from tests.bottlecrm_lab import BottleLab, bottlecrm_lab
from tests.bottlecrm_server import Server, owners, server
from tests.crm_proxy import before

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


def test_the_task_stands_on_the_opportunity(bottle: BottleLab) -> None:
    bottle.form()
    bottle.lab.work()
    on_it = bottle.crm.tasks(opportunity=str(bottle.opportunity()["id"]))
    assert [each["id"] for each in on_it] == [each["id"] for each in bottle.tasks()] != []


def test_the_task_is_due_on_the_day_of_the_companys_clock(bottle: BottleLab) -> None:
    event = bottle.form()
    came = bottle.lab.delivery(event)["received_at"]
    assert isinstance(came, datetime)
    bottle.lab.work()
    settings = bottle.lab.settings
    rule = settings.destinations["crm"].task.due
    due = due_at(came, rule, settings.business_hours, settings.holidays, settings.timezone)
    (task,) = bottle.tasks()
    assert task["due_date"] == due.astimezone(settings.timezone).date().isoformat()


def test_later_messages_are_notes_in_order_and_once(bottle: BottleLab) -> None:
    events: list[UUID] = []
    for text in ("Hola", "Quiero una bomba", "De 2 HP"):
        events += bottle.whatsapp(text)
        bottle.lab.work()
    assert [bottle.lab.state(each) for each in events] == ["confirmed"] * 3
    notes = bottle.crm.comments(str(bottle.opportunity()["id"]))
    assert [("Quiero una bomba" in note, "De 2 HP" in note) for note in notes] == [(True, False), (False, True)]


def test_a_note_is_found_by_its_reference(bottle: BottleLab) -> None:
    _, event = bottle.whatsapp("Hola", "Quiero una bomba")
    bottle.lab.work()
    (note,) = bottle.crm.comments(str(bottle.opportunity()["id"]))
    assert note.endswith(f"[ref:{bottle.reference(event, 'note')}]")


# --- quotes -----------------------------------------------------------------------------------------------------------


def worth(bottle: BottleLab) -> tuple[object, object]:
    opportunity = bottle.opportunity()
    return opportunity["amount"], opportunity["currency"]


def test_a_second_version_updates_the_only_opportunity(bottle: BottleLab) -> None:
    bottle.quote(1, "100.00")
    bottle.lab.work()
    assert worth(bottle) == ("100.00", "USD")
    second = bottle.quote(2, "250.50")
    bottle.lab.work()
    assert (bottle.lab.state(second), worth(bottle)) == ("confirmed", ("250.50", "USD"))
    assert "250.50" in str(bottle.opportunity()["description"])
    assert len(bottle.tasks()) == 1


def test_a_second_version_in_another_currency_changes_both(bottle: BottleLab) -> None:
    bottle.quote(1, "100.00")
    bottle.lab.work()
    bottle.quote(2, "90.00", currency="EUR")
    bottle.lab.work()
    assert worth(bottle) == ("90.00", "EUR")


def test_soles_which_bottlecrm_lacks_stand_in_the_text_of_each_version(bottle: BottleLab) -> None:
    bottle.quote(1, "100.00", currency="PEN")
    bottle.lab.work()
    assert worth(bottle)[0] is None
    assert "100.00 PEN" in str(bottle.opportunity()["description"])
    second = bottle.quote(2, "250.50", currency="PEN")
    bottle.lab.work()
    assert (bottle.lab.state(second), worth(bottle)[0]) == ("confirmed", None)
    assert "250.50 PEN" in str(bottle.opportunity()["description"])
    assert "100.00" not in str(bottle.opportunity()["description"])


# --- how much a delivery asks of the CRM ------------------------------------------------------------------------------

# A look under each reference of the person and by each id, and a look before the first create of each record; whether
# the owner is still there is asked once in some minutes; he is read again before the task, whose id only a look tells.
CALLS_OF_A_NEW_PERSON = [
    "GET contacts", "GET contacts", "POST contacts/duplicates", "POST contacts/duplicates", "POST contacts",
    "GET users/get-teams-and-users", "GET opportunities", "POST opportunities", "GET opportunities/ID",
    "GET tasks", "POST tasks", "GET tasks",
]  # fmt: skip


def test_a_form_of_a_new_person_takes_twelve_calls(bottle: BottleLab) -> None:
    with before(bottle.crm.base_url) as proxy:
        bottle.lab.desk = bottle.desk(url=proxy.url)
        bottle.lab.desk.users.clear()
        bottle.form()
        bottle.lab.work()
    assert [_plain(each) for each in proxy.requests] == CALLS_OF_A_NEW_PERSON


def _plain(request: str) -> str:
    """A request without its filters and ids."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", request.partition("?")[0].replace("/api/", "").rstrip("/"))
