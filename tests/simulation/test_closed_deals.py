"""A message whose opportunity is closed, deleted, or was never opened: by its source's rule, or by a person's word."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.commands import DECIDED, beside, intake
from tests.lab import Lab
from tests.ruled import rule
from tests.simulation.test_people import reason
from tests.simulation.world import People, ledger

EACH_ONCE = {"contact": 1, "opportunity": 1, "task": 1}


@pytest.fixture
def environ(stored: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(stored, tmp_path)


def closed(stored: Lab, stage: str = "won") -> None:
    """A conversation whose opportunity people closed."""
    stored.whatsapp("Hola", at=1_790_000_000)
    stored.work()
    People(stored).edit("opportunity", stage=stage)


@pytest.mark.parametrize("stage", ["won", "Lost", "Ganada", "perdida"])
def test_a_message_on_a_closed_deal_waits_for_a_person(stored: Lab, stage: str) -> None:
    closed(stored, stage)
    (later,) = stored.whatsapp("¿Sigue ahí?", at=1_790_000_600)
    stored.work()
    assert (reason(stored, later), ledger(stored)) == (("review", "opportunity_closed"), EACH_ONCE)


def test_a_message_on_an_open_deal_is_a_note(stored: Lab) -> None:
    closed(stored, "Negociación")
    (later,) = stored.whatsapp("¿Sigue ahí?", at=1_790_000_600)
    stored.work()
    assert stored.state(later) == "confirmed"


def test_by_rule_the_note_goes_on_it_anyway(stored: Lab, tmp_path: Path) -> None:
    rule(stored, tmp_path, "wa", 'when_closed = "note"')
    closed(stored)
    stored.whatsapp("¿Sigue ahí?", at=1_790_000_600)
    stored.work()
    assert ledger(stored) == EACH_ONCE | {"note": 1}


def test_by_rule_it_opens_another_and_the_rest_follows(stored: Lab, tmp_path: Path) -> None:
    rule(stored, tmp_path, "wa", 'when_closed = "new"')
    closed(stored)
    events = stored.whatsapp("Quiero otra", "De dos metros", at=1_790_000_600)
    stored.settle(3)
    (last,) = stored.whatsapp("Gracias", at=1_790_000_900)
    stored.settle(2)
    assert [stored.state(each) for each in (*events, last)] == ["confirmed"] * 3
    assert (ledger(stored)["contact"], ledger(stored)["opportunity"], ledger(stored)["task"]) == (1, 2, 2)


def test_by_rule_a_deleted_one_is_followed_by_another(stored: Lab, tmp_path: Path) -> None:
    rule(stored, tmp_path, "wa", 'when_closed = "new"')
    stored.whatsapp("Hola", at=1_790_000_000)
    stored.work()
    People(stored).trash("opportunity")
    (later,) = stored.whatsapp("¿Sigue ahí?", at=1_790_000_600)
    stored.settle(2)
    assert (stored.state(later), len(stored.in_crm("opportunity"))) == ("confirmed", 1)


def test_a_person_may_want_the_note_anyway(stored: Lab, environ: Mapping[str, str]) -> None:
    closed(stored)
    (later,) = stored.whatsapp("¿Sigue ahí?", at=1_790_000_600)
    stored.work()
    assert intake(environ, "settle", later, "note", *DECIDED).status == 0
    stored.work()
    assert (stored.state(later), ledger(stored)) == ("confirmed", EACH_ONCE | {"note": 1})


def test_a_person_may_open_another_and_what_follows_goes_there(stored: Lab, environ: Mapping[str, str]) -> None:
    closed(stored)
    (later,) = stored.whatsapp("Quiero otra", at=1_790_000_600)
    stored.work()
    assert intake(environ, "settle", later, "new", *DECIDED).status == 0
    stored.work()
    (last,) = stored.whatsapp("De dos metros", at=1_790_000_700)
    stored.settle(2)
    assert [stored.state(each) for each in (later, last)] == ["confirmed"] * 2
    assert ledger(stored) == {"contact": 1, "opportunity": 2, "task": 2, "note": 1}


def test_a_person_may_cancel_it(stored: Lab, environ: Mapping[str, str]) -> None:
    closed(stored)
    (later,) = stored.whatsapp("¿Sigue ahí?", at=1_790_000_600)
    stored.work()
    intake(environ, "settle", later, "cancel", *DECIDED)
    assert stored.state(later) == "cancelled"


def test_what_a_refused_opener_left_may_open_its_own(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.dials.fault("422", match={"what": "create", "kind": "contact"}, times=1)
    opener, other = stored.whatsapp("Hola", "Quiero una cotización")
    stored.settle(2)
    assert (stored.state(opener), reason(stored, other)) == ("review", ("review", "opener_refused"))
    intake(environ, "settle", opener, "cancel", *DECIDED)
    intake(environ, "settle", other, "new", *DECIDED)
    stored.settle(2)
    assert (stored.state(other), ledger(stored)) == ("confirmed", EACH_ONCE)


def test_a_deal_that_is_open_allows_neither(stored: Lab, environ: Mapping[str, str]) -> None:
    event = stored.whatsapp("Hola")[0]
    stored.work()
    assert [intake(environ, "settle", event, word, *DECIDED).status for word in ("note", "new")] == [1, 1]


# --- several closed one after the other -------------------------------------------------------------------------------


def test_a_conversation_may_outlive_two_deals(stored: Lab, tmp_path: Path) -> None:
    rule(stored, tmp_path, "wa", 'when_closed = "new"')
    for number in range(3):
        stored.whatsapp(f"Pedido {number}", at=1_790_000_000 + 600 * number)
        stored.settle(2)
        for each in stored.in_crm("opportunity"):
            People(stored).edit_one("opportunities", str(each["id"]), stage="won")
    assert ledger(stored) == {"contact": 1, "opportunity": 3, "task": 3}
