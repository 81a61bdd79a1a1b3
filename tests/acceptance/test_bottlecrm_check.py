"""The preflight of an account, against a running BottleCRM: sentinels, rights, and whose account it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from crm_clients.registry import build
from intake.config import OwnerRule
from tests.bottlecrm_lab import BottleLab, bottlecrm_lab
from tests.bottlecrm_server import Server, server
from workers.checks import Finding
from workers.desk import Desk

pytestmark = pytest.mark.crm_servers

SENTINEL_SERVES = timedelta(minutes=6)  # longer than an old control serves


@pytest.fixture
def crm() -> Server:
    return server("bottlecrm")


@pytest.fixture
def bottle(database_url: str, tmp_path: Path, crm: Server) -> Iterator[BottleLab]:
    with bottlecrm_lab(database_url, tmp_path, crm) as made:
        yield made


def standing(crm: Server) -> list[str]:
    """The ids of all sentinels, notes as their text."""
    (opportunity,) = crm.opportunities(cf_external_ref="intake-sentinel-opportunity")
    found = [
        *crm.contacts(cf_external_ref="intake-sentinel-contact"),
        opportunity,
        *crm.tasks(cf_external_ref="intake-sentinel-task"),
    ]
    return [*(str(each["id"]) for each in found), *crm.comments(str(opportunity["id"]))]


def told(findings: list[Finding]) -> list[tuple[str, bool]]:
    return [(each.what.split()[0] if each.what.startswith("owner ") else each.what, each.ok) for each in findings]


ALL_WELL = [
    ("account", True),
    ("visibility", True),
    ("reference contact", True),
    ("reference opportunity", True),
    ("reference task", True),
    ("owner", True),
    ("owner", True),
    ("sentinel contact", True),
    ("sentinel opportunity", True),
    ("sentinel task", True),
    ("sentinel note", True),
    ("write access", True),
]


def test_missing_sentinels_are_made_and_found_by_their_references(bottle: BottleLab) -> None:
    for each in bottle.crm.opportunities(cf_external_ref="intake-sentinel-opportunity"):
        bottle.crm.delete("opportunities", str(each["id"]))
    for each in bottle.crm.contacts(cf_external_ref="intake-sentinel-contact"):
        bottle.crm.delete("contacts", str(each["id"]))
    for each in bottle.crm.tasks(cf_external_ref="intake-sentinel-task"):
        bottle.crm.delete("tasks", str(each["id"]))
    assert told(bottle.check()) == ALL_WELL
    assert len(standing(bottle.crm)) == 4


def test_a_second_check_makes_no_second_sentinel(bottle: BottleLab) -> None:
    before = standing(bottle.crm)
    assert told(bottle.check()) == ALL_WELL
    assert standing(bottle.crm) == before


def test_a_read_only_token_is_told_which_right_it_lacks(bottle: BottleLab) -> None:
    last = bottle.check(bottle.desk(token=bottle.crm.readonly_token))[-1]
    assert (last.what, last.ok) == ("write access", False)
    assert "opportunities:write" in last.remedy


def test_a_wrong_token_stops_the_check_at_the_account(bottle: BottleLab) -> None:
    (only,) = bottle.check(bottle.desk(token="bcrm_pat_of_nobody"))
    assert (only.what, only.detail) == ("account", "bad_credential")
    assert "credential" in only.remedy


def desk_of(bottle: BottleLab, **settings: object) -> Desk:
    """A desk whose destination has other settings; `options` are its client's."""
    changed = replace(bottle.wired().destination, **settings)  # type: ignore[arg-type]  # whatever a test names
    client = build("bottlecrm", changed.options)
    return bottle.lab.other_desk(wired={"crm": replace(bottle.wired(), client=client, destination=changed)})


def test_words_and_users_that_are_not_there_are_told(bottle: BottleLab) -> None:
    desk = desk_of(bottle, stage="SOLD", owner=OwnerRule(users=(bottle.crm.alice, str(uuid4()))))
    assert [each.what.split()[0] for each in bottle.check(desk) if not each.ok] == ["stage", "owner"]


def test_a_field_that_is_missing_is_made(bottle: BottleLab) -> None:
    field = f"made_{bottle.run}"
    found = {each.what: each.ok for each in bottle.check(desk_of(bottle, options={"reference_field": field}))}
    made = [row for row in bottle.crm.field_definitions().json()["definitions"] if row["key"] == field]
    for each in made:
        bottle.crm.delete("custom-fields", str(each["id"]))
    assert sorted(row["target_model"] for row in made) == ["Contact", "Opportunity", "Task"]
    assert (found["account"], found["reference contact"], found["reference task"]) == (True, True, True)


def test_a_second_installation_is_told_that_the_account_is_anothers(bottle: BottleLab) -> None:
    other = replace(bottle.lab.desk.installation, installation_id=uuid4())
    found = {each.what: each.detail for each in bottle.check(bottle.lab.other_desk(installation=other))}
    assert found["sentinel contact"] == "belongs to another installation"


def test_a_second_installation_delivers_nothing(bottle: BottleLab) -> None:
    other = replace(bottle.lab.desk.installation, installation_id=uuid4())
    event = bottle.form()
    bottle.lab.pass_time(SENTINEL_SERVES)
    bottle.lab.desk = bottle.lab.other_desk(installation=other)
    bottle.lab.work()
    assert (bottle.lab.state(event), bottle.lab.delivery(event)["reason"]) == ("waiting", "account_paused")
    assert (bottle.contacts(), bottle.opportunities()) == ([], [])
