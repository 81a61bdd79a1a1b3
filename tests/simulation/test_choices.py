"""What a person says of a contact, of whose an item is, and of a source that shall wait."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from tests.commands import DECIDED, beside, intake, listed
from tests.lab import Lab
from tests.ruled import rule
from tests.simulation.world import People, ledger


@pytest.fixture
def environ(stored: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(stored, tmp_path)


# --- which contact --------------------------------------------------------------------------------------------------


def two_people(stored: Lab) -> UUID:
    """A lead with the phone of one contact and the e-mail of another."""
    stored.form(name="Ana", email="ana@example.com", phone="")
    stored.form(name="Luis", email="", phone="987654321")
    stored.work()
    event = stored.form(name="¿Quién?", email="ana@example.com", phone="987654321", message="Somos dos")
    stored.work()
    assert (stored.state(event), stored.delivery(event)["reason"]) == ("review", "contact_ambiguous")
    return event


def named(stored: Lab, name: str) -> str:
    return next(str(each["id"]) for each in stored.in_crm("contact") if each["name"] == name)


def test_a_person_says_which_contact_it_is(stored: Lab, environ: Mapping[str, str]) -> None:
    event = two_people(stored)
    luis = named(stored, "Luis")
    assert intake(environ, "settle", event, "contact", "--crm-id", luis, *DECIDED).status == 0
    stored.work()
    assert (stored.state(event), stored.in_crm("opportunity")[-1]["contact_id"]) == ("confirmed", luis)
    assert ledger(stored)["contact"] == 2


def test_what_was_said_once_is_not_asked_again(stored: Lab, environ: Mapping[str, str]) -> None:
    event = two_people(stored)
    intake(environ, "settle", event, "contact", "--crm-id", named(stored, "Luis"), *DECIDED)
    later = stored.form(email="ana@example.com", phone="987654321", message="Otra vez")
    stored.work()
    assert stored.state(later) == "confirmed"


def test_a_contact_that_the_crm_does_not_have_is_refused(stored: Lab, environ: Mapping[str, str]) -> None:
    event = two_people(stored)
    assert intake(environ, "settle", event, "contact", "--crm-id", "con-none", *DECIDED).status == 1
    assert stored.state(event) == "review"


def test_a_contact_that_people_made_may_be_the_one(stored: Lab, environ: Mapping[str, str]) -> None:
    event = two_people(stored)
    theirs = People(stored).add_contact(name="Los dos")
    assert intake(environ, "settle", event, "contact", "--crm-id", theirs, *DECIDED).status == 0
    stored.work()
    assert stored.in_crm("opportunity")[-1]["contact_id"] == theirs


def test_a_corrected_key_is_a_way_out_too(stored: Lab, environ: Mapping[str, str]) -> None:
    event = two_people(stored)
    assert intake(environ, "correct", event, "email=", *DECIDED).status == 0
    stored.work()
    assert (stored.state(event), stored.in_crm("opportunity")[-1]["contact_id"]) == ("confirmed", named(stored, "Luis"))


# --- whose an item is -------------------------------------------------------------------------------------------------


def in_review(stored: Lab) -> UUID:
    stored.dials.fault("422", match={"what": "create", "kind": "contact"}, times=1)
    event = stored.form()
    stored.work()
    return event


def the_item(environ: Mapping[str, str]) -> dict[str, object]:
    (item,) = listed(intake(environ, "items", "--json").document, "items")
    return item


def test_the_source_says_who_gets_an_open_item(stored: Lab, environ: Mapping[str, str], tmp_path: Path) -> None:
    rule(stored, tmp_path, "web", 'assignee = "rosa"')
    in_review(stored)
    assert the_item(environ)["assignee"] == "rosa"


def test_whoever_took_it_over_keeps_it_when_it_comes_back(
    stored: Lab, environ: Mapping[str, str], tmp_path: Path
) -> None:
    rule(stored, tmp_path, "web", 'assignee = "rosa"')
    event = in_review(stored)
    intake(environ, "assign", the_item(environ)["item_id"], "--by", "luis", "--reason", "mine")
    stored.dials.fault("422", match={"what": "create", "kind": "contact"}, times=1)
    intake(environ, "revive", event, *DECIDED)
    stored.work()
    assert the_item(environ)["assignee"] == "luis"


def test_an_item_is_handed_over_with_a_due_time(stored: Lab, environ: Mapping[str, str]) -> None:
    in_review(stored)
    item = the_item(environ)["item_id"]
    intake(environ, "assign", item, "--to", "luis", *DECIDED)
    said = intake(environ, "assign", item, "--to", "ana", "--due", "4h", *DECIDED)
    due = datetime.fromisoformat(str(the_item(environ)["due_at"]))
    assert "de luis a" in said.out
    assert abs(due - datetime.now(UTC) - timedelta(hours=4)) < timedelta(minutes=5)


def test_handing_over_keeps_the_due_time(stored: Lab, environ: Mapping[str, str]) -> None:
    in_review(stored)
    item = the_item(environ)["item_id"]
    intake(environ, "assign", item, "--to", "luis", "--due", "2030-01-01T09:00", *DECIDED)
    intake(environ, "assign", item, "--to", "ana", *DECIDED)
    assert str(the_item(environ)["due_at"]).startswith("2030-01-01T09:00")


# --- a source that waits ----------------------------------------------------------------------------------------------


def test_a_paused_source_accepts_and_delivers_nothing(stored: Lab, environ: Mapping[str, str]) -> None:
    assert intake(environ, "pause", "web", *DECIDED).status == 0
    event, other = stored.form(), stored.quote()
    stored.settle(3)
    assert (stored.state(event), stored.state(other)) == ("received", "confirmed")
    assert "intake resume web" in str(intake(environ, "explain", event, "--json").document["then"])
    intake(environ, "resume", "web", *DECIDED)
    stored.work()
    assert stored.state(event) == "confirmed"


def test_resuming_a_source_that_is_not_paused_is_a_finding(environ: Mapping[str, str]) -> None:
    assert intake(environ, "resume", "web", *DECIDED).status == 1


def test_the_doctor_tells_of_a_paused_source(stored: Lab, environ: Mapping[str, str]) -> None:
    intake(environ, "pause", "web", *DECIDED)
    stored.form()
    checks = listed(intake(environ, "check", "--json").document, "checks")
    assert [each["detail"] for each in checks if each["what"] == "source web"] == [
        "paused by a person; 1 deliveries wait"
    ]


def test_deliveries_whose_destination_is_configured_no_more_are_told(
    stored: Lab, environ: Mapping[str, str], tmp_path: Path
) -> None:
    event = stored.form()
    file = tmp_path / "intake.toml"
    file.write_text(file.read_text().replace('name = "crm"', 'name = "crm2"').replace('"crm"', '"crm2"'))
    checks = listed(intake(environ, "check", "--json").document, "checks")
    assert [each["verdict"] for each in checks if each["what"] == "destination crm"] == ["fail"]
    assert "«crm»" in str(intake(environ, "explain", event, "--json").document["then"])
