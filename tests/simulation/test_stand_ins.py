"""The whole pipeline in front of CRMs of which there is no account: pipeline and client fit together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from crm_clients.base import Kind
from crm_clients.sandbox.dials import Dials
from intake import installation
from intake.app import build
from intake.config import load
from intake.db import open_pool
from intake.sources import PROVIDERS
from tests import unhurried
from tests.conftest import fresh_database
from tests.lab import ENVIRON, PATIENCE, SOURCES, Lab
from tests.simulation.intruder import reasons
from tests.stand_in_line import Line
from tests.stand_ins import DEAL_KEY, PERSON_KEY, TEXT_KEY, HubSpot, Pipedrive, Salesforce, StandIn, Zoho
from workers import checks
from workers.desk import Desk
from workers.wiring import wire

DESTINATION = """
[[destinations]]
name = "crm"
client = "{client}"
base_url = "http://127.0.0.1:9"
credential = "env:CRM_TOKEN"
currency = "PEN"
owner.rule = "affinity, round_robin"
owner.users = ["77001", "77002"]
[destinations.options]
{options}

[defaults]
destination = "crm"
"""
KEYS = {"person_reference": PERSON_KEY, "deal_reference": DEAL_KEY, "deal_text": TEXT_KEY}
CRMS: Mapping[str, tuple[type[StandIn], Mapping[str, str]]] = {
    "hubspot": (HubSpot, {"currencies": "PEN"}),
    "zoho": (Zoho, {"currencies": "PEN"}),
    "salesforce": (Salesforce, {"currencies": "PEN"}),
    "pipedrive": (Pipedrive, KEYS),
}
KINDS = (Kind.CONTACT, Kind.OPPORTUNITY, Kind.TASK)
# A read by a unique property shows one record, whatever stands there: HubSpot must refuse a double, or it stays unseen.
UNSEEN = frozenset({"hubspot"})
# What a path of a create of an opportunity holds.
DEALS = {"hubspot": "/deals", "zoho": "/Deals", "salesforce": "/Opportunity", "pipedrive": "/deals"}


@dataclass(frozen=True, slots=True)
class Stage:
    """A pipeline, the line to its CRM, and how many records stood there when the test began."""

    name: str
    lab: Lab
    line: Line
    before: tuple[int, ...] = (0, 0, 0)

    def counts(self) -> tuple[int, ...]:
        """Contacts, opportunities and tasks that were made since."""
        now = (len(self.line.crm.leads(kind)) for kind in KINDS)
        return tuple(count - before for count, before in zip(now, self.before, strict=True))


@contextmanager
def staged(name: str, database_url: str, folder: Path) -> Iterator[Stage]:
    """A pipeline that delivers to this CRM, with sentinels in place."""
    kind_of_crm, options = CRMS[name]
    file = folder / "intake.toml"
    words = "\n".join(f'{option} = "{value}"' for option, value in options.items())
    file.write_text(DESTINATION.format(client=name, options=words) + SOURCES, "utf-8")
    environ = ENVIRON | {"CRM_TOKEN": "token"}
    settings = load(file, environ, built_in=PROVIDERS.keys())
    line, door_pool = Line(kind_of_crm()), unhurried.door_pool(database_url, size=20)
    with open_pool(database_url, size=12) as pool, door_pool, line:
        with pool.connection() as conn:
            here = installation.read(conn)
        wired = {"crm": wire(settings.destinations["crm"], environ)}
        desk = Desk(pool, settings, here, wired, line, patience=PATIENCE, jitter=lambda: 0.0)
        findings = list(checks.check(desk, wired["crm"], create=True))
        assert all(finding.ok for finding in findings), findings
        app = build(unhurried.door(settings, door_pool), hint=lambda: None)
        yield Stage(name, Lab(database_url, settings, pool, app.test_client(), desk, Dials("http://127.0.0.1:9")), line)


@pytest.fixture(params=CRMS, scope="module")
def standing(
    request: pytest.FixtureRequest,
    postgres_server: str,
    migrated_template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stage]:
    """One for each CRM: a stage takes longer than such a test, whose people are its own."""
    name = str(request.param)
    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        staged(name, url, tmp_path_factory.mktemp(name)) as made,
    ):
        yield made


@pytest.fixture
def stage(standing: Stage) -> Stage:
    return replace(standing, before=replace(standing, before=(0, 0, 0)).counts())


def test_leads_of_one_person_come_once_and_are_brought_up_to_date(stage: Stage) -> None:
    lab = stage.lab
    events = [lab.form(), lab.form(message="Otra cosa")]
    lab.work()
    assert stage.counts() == (1, 2, 2)
    events += [lab.quote(version=1, amount="100.00")]
    lab.work()
    events += [lab.quote(version=2, amount="250.50")]
    lab.work()
    assert stage.counts() == (2, 3, 3)
    for text in ("Hola", "Quiero una cotización <urgente>"):
        events += lab.whatsapp(text)
        lab.work()
    assert [lab.state(each) for each in events] == ["confirmed"] * len(events)
    assert (stage.counts(), len(stage.line.crm.leads(Kind.NOTE))) == ((3, 4, 4), 1)
    assert any("250.5" in repr(deal) for deal in stage.line.crm.leads(Kind.OPPORTUNITY))
    assert reasons(lab) == set()


@pytest.mark.parametrize("kind", [Kind.OPPORTUNITY, Kind.TASK])
def test_a_double_that_nothing_refused_is_found_at_night(stage: Stage, kind: Kind) -> None:
    stage.lab.form(name="Eva Prueba", email=f"eva.{kind}@example.com", phone="955000333")
    stage.lab.work()
    stage.line.crm.keep(kind, dict(stage.line.crm.leads(kind)[-1]))
    found = reasons(stage.lab)
    stage.line.crm.kept[kind].popitem()
    assert found == (set() if stage.name in UNSEEN else {f"{kind}_several"})


def test_a_lost_answer_is_found_again_where_the_write_was_executed(stage: Stage) -> None:
    stage.line.lost = (DEALS[stage.name], True)
    event = stage.lab.form(name="Luz Prueba", email="luz@example.com", phone="955000111")
    stage.lab.work()
    assert (stage.lab.state(event), stage.counts()) == ("confirmed", (1, 1, 1))


def test_a_write_of_which_nothing_is_known_is_never_repeated_by_itself(stage: Stage) -> None:
    stage.line.lost = (DEALS[stage.name], False)
    event = stage.lab.form(name="Noé Prueba", email="noe@example.com", phone="955000222")
    stage.lab.settle(rounds=4)
    assert (stage.lab.state(event), stage.counts()) == ("uncertain", (1, 0, 0))
