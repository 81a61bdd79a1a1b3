"""Deliveries through the client for Odoo, by both protocols, into an imitation of ours: does our side fit together?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crm_lab import HASTY, CrmLab, crm_lab
from tests.crm_proxy import Proxy, before
from tests.odoo_server import KEY, Odoo, running

DESTINATION = """
[[destinations]]
name = "crm"
client = "odoo"
base_url = "{url}"
credential = "env:ODOO_KEY"
currency = "USD"
assume_limit = 30
[destinations.owner]
rule = "affinity, round_robin"
users = ["6", "7"]
[destinations.options]
currency = "USD"
{options}
"""
JSON_RPC = 'version = "17"\ndatabase = "company"\nuser_id = "6"'
MODELS = ("res.partner", "crm.lead", "mail.activity")
DOUBTED_AND_FOUND = [("create", "uncertain", "look")]


@dataclass(frozen=True, slots=True)
class OdooLab:
    made: CrmLab
    odoo: Odoo

    def counts(self) -> list[int]:
        return [len(self.odoo.rows(model)) for model in MODELS]


@pytest.fixture(params=["", JSON_RPC], ids=["json2", "jsonrpc"])
def lab(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> Iterator[OdooLab]:
    with running() as odoo:
        destination = DESTINATION.format(url=odoo.url, options=request.param)
        with crm_lab(database_url, tmp_path, destination, {"ODOO_KEY": KEY}, ours=None) as made:
            yield OdooLab(made, odoo)


@pytest.fixture
def proxy(lab: OdooLab) -> Iterator[Proxy]:
    with before(lab.odoo.url) as made:
        lab.made.lab.desk = lab.made.desk(url=made.url, patience=HASTY)
        yield made


def test_a_form_becomes_contact_lead_and_activity_once_with_one_owner(lab: OdooLab) -> None:
    event = lab.made.form()
    lab.made.lab.work()
    assert (lab.made.lab.state(event), lab.counts()) == ("confirmed", [1, 1, 1])
    (lead,), (activity,) = lab.odoo.rows("crm.lead"), lab.odoo.rows("mail.activity")
    assert (lead["x_external_ref"], lead["user_id"]) == (lab.made.reference(event, "opportunity"), activity["user_id"])
    assert activity["res_id"] == lead["id"]


def test_nothing_that_is_stored_holds_the_key(lab: OdooLab) -> None:
    lab.made.form()
    lab.made.lab.work()
    kept = lab.made.lab.rows("SELECT encode(content, 'escape') AS text FROM bodies WHERE content IS NOT NULL")
    texts = [str(each["text"]) for each in kept]
    assert any("x_external_ref" in text for text in texts)
    assert all(KEY not in text for text in texts)


def test_a_later_version_changes_the_amount_and_a_renamed_lead_keeps_its_name(lab: OdooLab) -> None:
    lab.made.quote(1, "100.00")
    lab.made.lab.work()
    (lead,) = lab.odoo.rows("crm.lead")
    lead["name"] = f"Bomba para Rosa {lab.made.run}"
    second = lab.made.quote(2, "250.50", items=[{"name": "Bomba", "quantity": 2}])
    lab.made.lab.work()
    assert lab.made.lab.state(second) == "confirmed"
    assert (lead["expected_revenue"], lead["name"]) == (250.5, f"Bomba para Rosa {lab.made.run}")


def test_a_later_message_is_a_note_on_the_lead(lab: OdooLab) -> None:
    lab.made.whatsapp("Hola, quiero una bomba")
    lab.made.lab.work()
    (later,) = lab.made.whatsapp("¿Cuánto demora?")
    lab.made.lab.work()
    (note,) = [row for row in lab.odoo.rows("mail.message") if "demora" in str(row["body"])]
    assert lab.made.lab.state(later) == "confirmed"
    assert note["res_id"] == lab.odoo.rows("crm.lead")[0]["id"]


# By JSON-RPC a create and a look have one address, so that the proxy could not tell them apart.
@pytest.mark.parametrize("lab", [""], ids=["json2"], indirect=True)
def test_lost_answers_are_looked_for_at_once(lab: OdooLab, proxy: Proxy) -> None:
    for model in MODELS:
        proxy.once(f"POST /json/2/{model}/load ", "lose_answer")
    event = lab.made.form()
    lab.made.lab.work()
    assert (lab.made.lab.state(event), lab.counts()) == ("confirmed", [1, 1, 1])
    assert [lab.made.writes(event, kind) for kind in ("contact", "opportunity", "task")] == [DOUBTED_AND_FOUND] * 3
