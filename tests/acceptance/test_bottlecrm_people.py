"""People at work in a running BottleCRM, before and between our steps: nothing of theirs is overwritten or undone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.bottlecrm_lab import BottleLab, bottlecrm_lab
from tests.bottlecrm_server import Row, owners, server
from workers import drain

pytestmark = pytest.mark.crm_servers


@pytest.fixture
def bottle(database_url: str, tmp_path: Path) -> Iterator[BottleLab]:
    with bottlecrm_lab(database_url, tmp_path, server("bottlecrm")) as made:
        yield made


# --- who stands there already -----------------------------------------------------------------------------------------


def test_two_people_of_one_name_get_an_opportunity_each(bottle: BottleLab) -> None:
    first = bottle.form()
    second = bottle.form(email=f"otra.{bottle.run}@example.com", phone="")
    bottle.lab.work()
    assert [bottle.lab.state(each) for each in (first, second)] == ["confirmed", "confirmed"]
    titles = [str(each["name"]) for each in bottle.opportunities()]
    assert len(set(titles)) == 2
    assert len({title.rpartition(" [")[0] for title in titles}) == 1


def test_a_contact_made_by_hand_is_adopted_and_nothing_of_it_changes(bottle: BottleLab) -> None:
    crm_id = bottle.crm.make_contact(
        first_name="Rosa María", last_name="Quispe", email=bottle.email, phone="+14155552671", description="De la feria"
    )
    before = bottle.crm.contact(crm_id)
    event = bottle.form()
    bottle.lab.work()
    assert bottle.lab.state(event) == "confirmed"
    assert [each["id"] for each in bottle.contacts()] == [crm_id]
    assert {**bottle.crm.contact(crm_id), "updated_at": ""} == {**before, "updated_at": ""}
    assert [each["id"] for each in _list(bottle.opportunity()["contacts"])] == [crm_id]


def test_two_requests_of_one_person_at_once_are_one_contact_and_two_opportunities(bottle: BottleLab) -> None:
    events = [bottle.form(message="Una bomba"), bottle.form(message="Dos sillas")]
    start = threading.Barrier(2)

    def work() -> None:
        start.wait()
        while drain.one(bottle.lab.other_desk()):
            pass

    in_parallel(work, work)
    bottle.lab.settle(rounds=3)
    assert [bottle.lab.state(each) for each in events] == ["confirmed", "confirmed"]
    assert [len(found) for found in (bottle.contacts(), bottle.opportunities(), bottle.tasks())] == [1, 2, 2]


def test_a_contact_made_by_hand_while_ours_was_on_its_way_is_adopted(bottle: BottleLab) -> None:
    made: list[str] = []

    def by_hand() -> None:
        made.append(bottle.crm.make_contact(first_name="Rosa", last_name="Quispe", email=bottle.email))

    event = bottle.form()
    bottle.lab.desk = bottle.lab.other_desk(at=once("contact.committed", by_hand))
    bottle.lab.work()
    assert (bottle.lab.state(event), [each["id"] for each in bottle.contacts()]) == ("confirmed", made)


def test_a_person_whose_phone_and_e_mail_are_two_contacts_goes_to_a_person(bottle: BottleLab) -> None:
    bottle.crm.make_contact(first_name="Rosa", last_name="Quispe", email=bottle.email)
    bottle.crm.make_contact(first_name="Casa", last_name="Quispe", phone=f"+51{bottle.phone}")
    event = bottle.form()
    bottle.lab.work()
    assert (bottle.lab.state(event), bottle.lab.delivery(event)["reason"]) == ("review", "contact_ambiguous")
    assert (len(bottle.contacts()), bottle.opportunities()) == (2, [])


def test_a_phone_of_another_name_is_adopted_and_a_person_is_asked(bottle: BottleLab) -> None:
    crm_id = bottle.crm.make_contact(first_name="Benito", last_name="Mamani", phone=f"+51{bottle.phone}")
    event = bottle.form(email="")
    bottle.lab.work()
    assert bottle.lab.state(event) == "confirmed"
    assert [each["id"] for each in bottle.contacts()] == [crm_id]
    assert [each["reason"] for each in bottle.lab.rows("SELECT reason FROM items")] == ["contact_other_name"]


def test_of_several_contacts_with_one_phone_that_with_the_e_mail_is_adopted(bottle: BottleLab) -> None:
    rosa = bottle.crm.make_contact(
        first_name="Rosa", last_name="Quispe", email=bottle.email, phone=f"+51{bottle.phone}"
    )
    bottle.crm.make_contact(first_name="Casa", last_name="Quispe", phone=f"+51{bottle.phone}")
    event = bottle.form()
    bottle.lab.work()
    assert bottle.lab.state(event) == "confirmed"
    assert [each["id"] for each in _list(bottle.opportunity()["contacts"])] == [rosa]


def test_a_contact_that_was_put_aside_is_not_adopted(bottle: BottleLab) -> None:
    crm_id = bottle.crm.make_contact(first_name="Rosa", last_name="Quispe", email=bottle.email)
    bottle.crm.change("contacts", crm_id, is_active=False)
    event = bottle.form()
    bottle.lab.work()
    assert (bottle.lab.state(event), bottle.lab.delivery(event)["reason"]) == ("review", "duplicate_email")
    assert [each["id"] for each in bottle.contacts()] == [crm_id]


# --- what they change -------------------------------------------------------------------------------------------------


def test_what_a_person_edited_is_left_by_the_next_version(bottle: BottleLab) -> None:
    bottle.quote(1, "100.00")
    bottle.lab.work()
    crm_id = str(bottle.opportunity()["id"])
    bottle.crm.change("opportunities", crm_id, name=f"Bomba para Rosa {bottle.run}", amount="95.00", currency="USD")
    second = bottle.quote(2, "250.50", items=[{"name": "Bomba", "quantity": 2}])
    bottle.lab.work()
    opportunity = bottle.opportunity()
    assert bottle.lab.state(second) == "confirmed"
    assert (opportunity["name"], opportunity["amount"]) == (f"Bomba para Rosa {bottle.run}", "95.00")
    assert "250.50" in str(opportunity["description"])


def test_an_opportunity_reassigned_before_its_task_keeps_its_owner_who_gets_the_task(bottle: BottleLab) -> None:
    def reassign() -> None:
        opportunity = bottle.opportunity()
        other = bottle.crm.alice if owners(opportunity) == [bottle.crm.bob] else bottle.crm.bob
        bottle.crm.change("opportunities", str(opportunity["id"]), assigned_to=[other])
        new.append(other)

    new: list[str] = []
    event = bottle.form()
    bottle.lab.desk = bottle.lab.other_desk(at=once("opportunity.noted", reassign))
    bottle.lab.work()
    (task,) = bottle.tasks()
    assert (bottle.lab.state(event), owners(bottle.opportunity()), owners(task)) == ("confirmed", new, new)


def test_an_opportunity_deleted_before_its_task_goes_to_a_person(bottle: BottleLab) -> None:
    event = bottle.form()
    delete = once("opportunity.noted", lambda: bottle.crm.delete("opportunities", str(bottle.opportunity()["id"])))
    bottle.lab.desk = bottle.lab.other_desk(at=delete)
    bottle.lab.settle(rounds=3)
    assert (bottle.lab.state(event), bottle.lab.delivery(event)["reason"]) == ("review", "opportunity_gone")
    assert (bottle.opportunities(), bottle.tasks()) == ([], [])


def test_a_deleted_opportunity_is_not_made_again_by_a_later_version(bottle: BottleLab) -> None:
    bottle.quote(1, "100.00")
    bottle.lab.work()
    bottle.crm.delete("opportunities", str(bottle.opportunity()["id"]))
    second = bottle.quote(2, "250.50")
    bottle.lab.settle(rounds=3)
    assert (bottle.lab.state(second), bottle.lab.delivery(second)["reason"]) == ("review", "opportunity_gone")
    assert bottle.opportunities() == []


def test_a_deleted_opportunity_gets_no_note(bottle: BottleLab) -> None:
    bottle.whatsapp("Hola")
    bottle.lab.work()
    bottle.crm.delete("opportunities", str(bottle.opportunity()["id"]))
    (later,) = bottle.whatsapp("Quiero una bomba")
    bottle.lab.settle(rounds=3)
    assert (bottle.lab.state(later), bottle.lab.delivery(later)["reason"]) == ("review", "opportunity_gone")
    assert bottle.opportunities() == []


# ---------------------------------------------------------------------------------------------------------------------


def once(boundary: str, act: Callable[[], None]) -> Callable[[str], None]:
    """Do this when the boundary is passed for the first time."""
    done: list[str] = []

    def at(passed: str) -> None:
        if passed == boundary and not done:
            done.append(passed)
            act()

    return at


def in_parallel(*acts: Callable[[], None]) -> None:
    """Run each in a thread of its own, to its end."""
    with ThreadPoolExecutor(len(acts)) as pool:
        for running in [pool.submit(act) for act in acts]:
            running.result()


def _list(value: object) -> list[Row]:
    assert isinstance(value, list)
    return value
