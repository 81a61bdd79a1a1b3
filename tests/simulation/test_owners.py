"""Who gets a new opportunity: who speaks with the person already, then by rule; never somebody who has left."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from crm_clients.abilities import KnowsUsers
from intake.config import Assignment, OwnerRule
from tests.lab import Lab
from tests.simulation.world import People
from workers.owners import STILL_THERE, is_there


def owners(lab: Lab) -> list[object]:
    return [each["owner_id"] for each in lab.in_crm("opportunity")]


def ruled(lab: Lab, rule: OwnerRule) -> None:
    """The account's owner rule is this one."""
    wired = lab.desk.wired["crm"]
    ruled = replace(wired, destination=replace(wired.destination, owner=rule))
    lab.desk = replace(lab.desk, wired={**lab.desk.wired, "crm": ruled})


def text_of(lab: Lab, event: UUID) -> str:
    (row,) = lab.rows(
        "SELECT o.crm_id FROM deliveries d JOIN records o ON o.record_id = d.opportunity_record"
        " WHERE d.event_id = %(id)s",
        id=event,
    )
    (found,) = [each for each in lab.in_crm("opportunity") if each["id"] == row["crm_id"]]
    return str(found["text"])


@pytest.fixture
def known(stored: Lab) -> Lab:
    """A person with an open opportunity, whose contact belongs to ana and the opportunity to rosa."""
    stored.form(message="Una silla")
    stored.work()
    people = People(stored)
    people.edit("contact", owner_id="ana")
    people.edit("opportunity", owner_id="rosa")
    return stored


def test_who_has_the_open_opportunity_gets_the_next_one(known: Lab) -> None:
    known.form(message="Una mesa")
    known.work()
    assert owners(known) == ["rosa", "rosa"]


def test_a_closed_opportunity_leaves_it_to_the_contact_s_owner(known: Lab) -> None:
    People(known).edit("opportunity", stage="Ganada")
    known.form(message="Una mesa")
    known.work()
    assert owners(known) == ["rosa", "ana"]


def test_a_user_who_has_left_gets_nothing_and_it_is_flagged(known: Lab) -> None:
    known.dials.owners_away("rosa")
    event = known.form(message="Una mesa")
    known.work()
    assert owners(known) == ["rosa", "ana"]
    assert "owner_away" in text_of(known, event)


def test_round_robin_passes_over_who_has_left(stored: Lab) -> None:
    stored.dials.owners_away("ana")
    for number in range(4):
        stored.form(email=f"persona{number}@example.com", phone="", message="Hola")
    stored.work()
    assert set(owners(stored)) == {"luis"}


def test_where_all_have_left_the_crm_decides(stored: Lab) -> None:
    stored.dials.owners_away("ana", "luis")
    event = stored.form()
    stored.work()
    assert (stored.state(event), owners(stored)) == ("confirmed", [None])


def test_an_assignment_by_product_comes_before_the_next_in_turn(stored: Lab) -> None:
    by_product = (Assignment("rosa", product="mesa"), Assignment("ana"))
    ruled(stored, OwnerRule(("affinity", "assign"), (), by_product))
    stored.form(product="Mesa de reuniones")
    stored.form(email="otra@example.com", phone="", product="Silla")
    stored.work()
    assert sorted(map(str, owners(stored))) == ["ana", "rosa"]


def test_an_assigned_user_who_has_left_leaves_it_to_the_next_rule(stored: Lab) -> None:
    ruled(stored, OwnerRule(("assign", "round_robin"), ("luis",), (Assignment("rosa"),)))
    stored.dials.owners_away("rosa")
    stored.form()
    stored.work()
    assert owners(stored) == ["luis"]


def test_an_answer_about_a_user_counts_for_some_minutes(stored: Lab) -> None:
    wired, users = stored.desk.wired["crm"], stored.desk.users
    assert is_there(stored.desk, wired, "rosa")
    stored.dials.owners_away("rosa")
    assert is_there(stored.desk, wired, "rosa")
    asked, _ = users["crm", "rosa"]
    users["crm", "rosa"] = (asked - STILL_THERE.total_seconds(), True)
    assert not is_there(stored.desk, wired, "rosa")


def test_the_sandbox_knows_its_users(stored: Lab) -> None:
    assert isinstance(stored.desk.wired["crm"].client, KnowsUsers)
