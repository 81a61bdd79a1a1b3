"""What people do in the CRM between our steps stays as they did it."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest

from intake import person_arrows
from tests.lab import Lab
from tests.simulation.world import People, creates, hooked, ledger

EACH_ONCE = {"contact": 1, "opportunity": 1, "task": 1}


def reason(lab: Lab, event: UUID) -> tuple[str, str]:
    row = lab.delivery(event)
    return str(row["state"]), str(row["reason"])


# --- owners and fields ------------------------------------------------------------------------------------------------


def test_the_task_goes_to_the_owner_that_the_opportunity_has_by_then(stored: Lab) -> None:
    event = stored.form()
    people = People(stored)
    with hooked(stored, {("opportunity.noted", 1): lambda: people.edit("opportunity", owner_id="rosa")}):
        stored.work()
    assert stored.state(event) == "confirmed"
    assert (people.only("opportunity")["owner_id"], people.only("task")["owner_id"]) == ("rosa", "rosa")


def test_a_later_version_leaves_owner_and_stage_alone(stored: Lab) -> None:
    stored.quote(version=1)
    stored.work()
    people = People(stored)
    people.edit("opportunity", owner_id="rosa", stage="Negociación")
    stored.quote(version=2, amount="250.50")
    stored.work()
    opportunity = people.only("opportunity")
    assert (opportunity["owner_id"], opportunity["stage"]) == ("rosa", "Negociación")
    assert opportunity["amount"] == "250.50"


def test_a_field_that_an_adviser_changed_is_left_and_the_others_are_updated(stored: Lab) -> None:
    stored.quote(version=1, amount="100.00")
    stored.work()
    people = People(stored)
    people.edit("opportunity", amount="90.00")
    event = stored.quote(version=2, amount="250.50", message="Con descuento")
    stored.work()
    opportunity = people.only("opportunity")
    assert stored.state(event) == "confirmed"
    assert opportunity["amount"] == "90.00"
    assert "Con descuento" in str(opportunity["text"])


def test_a_field_that_was_left_is_shown_in_the_attempts_of_the_event(stored: Lab) -> None:
    stored.quote(version=1, amount="100.00")
    stored.work()
    People(stored).edit("opportunity", amount="90.00")
    event = stored.quote(version=2, amount="250.50")
    stored.work()
    shown = stored.rows("SELECT evidence FROM attempts WHERE event_id = %(id)s AND evidence ? 'left'", id=event)
    assert [each["evidence"]["left"] for each in shown] == [["amount", "currency"]]  # type: ignore[index]


def test_a_field_that_an_adviser_changed_is_left_by_every_later_version(stored: Lab) -> None:
    stored.quote(version=1, amount="100.00")
    stored.work()
    People(stored).edit("opportunity", amount="90.00")
    for version in (2, 3):
        stored.quote(version=version, amount=f"{version}00.00", message=f"Versión {version}")
        stored.work()
    assert People(stored).only("opportunity")["amount"] == "90.00"


def test_an_amount_that_the_crm_writes_in_its_own_way_is_still_ours(stored: Lab) -> None:
    stored.quote(version=1, amount="1200.5")
    stored.work()
    assert People(stored).only("opportunity")["amount"] == "1200.50"
    stored.quote(version=2, amount="1300.5")
    stored.work()
    assert People(stored).only("opportunity")["amount"] == "1300.50"


def test_an_adviser_s_change_during_a_doubtful_update_is_left(stored: Lab) -> None:
    stored.quote(version=1, amount="100.00")
    stored.work()
    stored.dials.fault("500_without_effect", match={"what": "update"})
    event = stored.quote(version=2, amount="250.50")
    stored.work()
    People(stored).edit("opportunity", amount="90.00")
    stored.settle()
    assert stored.state(event) == "confirmed"
    assert People(stored).only("opportunity")["amount"] == "90.00"


# --- versions ---------------------------------------------------------------------------------------------------------


def test_an_older_version_that_arrives_late_is_superseded(stored: Lab) -> None:
    newer = stored.quote(version=2, amount="250.50")
    stored.work()
    older = stored.quote(version=1, amount="100.00")
    stored.work()
    assert (stored.state(newer), stored.state(older)) == ("confirmed", "superseded")
    assert People(stored).only("opportunity")["amount"] == "250.50"
    assert ledger(stored) == EACH_ONCE


def test_versions_that_arrive_together_are_applied_in_their_order(stored: Lab) -> None:
    events = [stored.quote(version=version, amount=f"{version}00.00") for version in (3, 1, 2)]
    stored.work()
    assert People(stored).only("opportunity")["amount"] == "300.00"
    assert ledger(stored) == EACH_ONCE
    assert {stored.state(event) for event in events} == {"confirmed"}


def test_a_version_in_review_does_not_hold_the_next_one_up(stored: Lab) -> None:
    stored.dials.fault("422", match={"what": "create", "kind": "opportunity"}, fields={"title": "Too long."})
    first = stored.quote(version=1, amount="100.00")
    stored.work()
    second = stored.quote(version=2, amount="250.50")
    stored.work()
    assert (stored.state(first), stored.state(second)) == ("review", "confirmed")
    with stored.pool.connection() as conn:
        person_arrows.revive(conn, first, 1)
    stored.work()
    assert stored.state(first) == "superseded"
    assert People(stored).only("opportunity")["amount"] == "250.50"


def test_doubt_about_the_opportunity_makes_the_next_version_wait(stored: Lab) -> None:
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "opportunity"})
    first = stored.quote(version=1, amount="100.00")
    stored.work()
    second = stored.quote(version=2, amount="250.50")
    stored.work()
    assert stored.state(first) == "uncertain"
    assert reason(stored, second) == ("waiting", "record_in_doubt")
    stored.settle()
    # Whichever looks last opens it; when that is the second, the first surely never wrote.
    assert (stored.state(first), stored.state(second)) in {("confirmed", "confirmed"), ("superseded", "confirmed")}
    assert People(stored).only("opportunity")["amount"] == "250.50"
    assert ledger(stored) == EACH_ONCE


# --- trash and merges -------------------------------------------------------------------------------------------------


def trash_opportunity(people: People) -> None:
    people.trash("opportunity")


def merge_contact(people: People) -> None:
    people.merge_contact_into(people.add_contact(name="Otra"))


@pytest.mark.parametrize(
    ("boundary", "act", "expected"),
    [
        ("opportunity.noted", trash_opportunity, "opportunity_gone"),
        ("contact.noted", merge_contact, "validation"),
        ("contact.noted", lambda people: people.trash("contact"), "validation"),
    ],
    ids=["opportunity trashed", "contact merged", "contact trashed"],
)
def test_what_people_removed_between_two_steps_is_not_made_again(
    stored: Lab, boundary: str, act: Callable[[People], None], expected: str
) -> None:
    event = stored.form()
    people = People(stored)
    with hooked(stored, {(boundary, 1): lambda: act(people)}):
        stored.settle(3)
    assert reason(stored, event) == ("review", expected)
    assert len(creates(stored, "contact")) == 1
    assert stored.in_crm("opportunity") == []


def test_a_trashed_opportunity_takes_neither_notes_nor_versions(stored: Lab) -> None:
    stored.whatsapp("Hola")
    stored.quote(version=1)
    stored.work()
    for record in stored.in_crm("opportunity"):
        People(stored).trash_one("opportunities", str(record["id"]))
    (note,) = stored.whatsapp("¿Sigue ahí?")
    version = stored.quote(version=2, amount="250.50")
    stored.settle(3)
    assert reason(stored, note) == ("review", "opportunity_gone")
    assert reason(stored, version) == ("review", "opportunity_gone")
    assert stored.in_crm("opportunity") == []
    assert ledger(stored)["opportunity"] == 2


def test_what_people_took_out_of_the_trash_again_is_gone_no_longer(stored: Lab) -> None:
    stored.whatsapp("Hola")
    stored.work()
    stored.dials.fault("false_absent", match={"what": "read", "kind": "opportunity"})
    (note,) = stored.whatsapp("¿Sigue ahí?")
    stored.work()
    assert reason(stored, note) == ("review", "opportunity_gone")
    with stored.pool.connection() as conn:
        person_arrows.revive(conn, note, 1)
    stored.work()
    assert stored.state(note) == "confirmed"
    assert ledger(stored) == EACH_ONCE | {"note": 1}


# --- conversations ----------------------------------------------------------------------------------------------------


def test_when_the_opener_is_refused_the_others_are_a_person_s(stored: Lab) -> None:
    stored.dials.fault("422", match={"what": "create", "kind": "contact"})
    opener, *others = stored.whatsapp("Hola", "Quiero una cotización", "Gracias")
    stored.settle(2)
    assert stored.state(opener) == "review"
    assert [reason(stored, each) for each in others] == [("review", "opener_refused")] * 2
    with stored.pool.connection() as conn:
        for each in (opener, *others):
            person_arrows.revive(conn, each, 1)
    stored.settle(2)
    assert [stored.state(each) for each in (opener, *others)] == ["confirmed"] * 3
    assert ledger(stored) == EACH_ONCE | {"note": 1}


def test_when_the_opener_is_cancelled_the_others_are_a_person_s(stored: Lab) -> None:
    opener, other = stored.whatsapp("Hola", "Quiero una cotización")
    with stored.pool.connection() as conn:
        person_arrows.cancel(conn, opener, 1)
    stored.settle(2)
    assert (stored.state(opener), reason(stored, other)) == ("cancelled", ("review", "opener_refused"))
    assert ledger(stored) == {}


def test_a_note_waits_for_an_opener_that_is_in_doubt(stored: Lab) -> None:
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "opportunity"})
    opener, other = stored.whatsapp("Hola", "Quiero una cotización")
    stored.work()
    assert stored.state(opener) == "uncertain"
    assert reason(stored, other) == ("waiting", "record_in_doubt")
    stored.settle()
    assert (stored.state(opener), stored.state(other)) == ("confirmed", "confirmed")
    assert ledger(stored) == EACH_ONCE | {"note": 1}
