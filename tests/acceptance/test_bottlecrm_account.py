"""A credential that stops working, before a running BottleCRM: the account pauses, and no lead pays for it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.bottlecrm_lab import BottleLab, bottlecrm_lab
from tests.bottlecrm_server import server
from tests.crm_proxy import Proxy, before

pytestmark = pytest.mark.crm_servers

WRONG = "bcrm_pat_of_nobody"
CONTROL_COMES = timedelta(seconds=31)


@pytest.fixture
def bottle(database_url: str, tmp_path: Path) -> Iterator[BottleLab]:
    with bottlecrm_lab(database_url, tmp_path, server("bottlecrm")) as made:
        yield made


@pytest.fixture
def proxy(bottle: BottleLab) -> Iterator[Proxy]:
    """A proxy that can exchange the token on the way: what comes back is the CRM's own 403."""
    with before(bottle.crm.base_url) as made:
        bottle.lab.desk = bottle.desk(url=made.url)
        yield made


def paused(bottle: BottleLab) -> str | None:
    (account,) = bottle.lab.rows("SELECT paused_reason FROM accounts")
    reason = account["paused_reason"]
    return None if reason is None else str(reason)


def records(bottle: BottleLab) -> list[int]:
    return [len(found) for found in (bottle.contacts(), bottle.opportunities(), bottle.tasks())]


def writes(bottle: BottleLab) -> int:
    return len(bottle.lab.rows("SELECT FROM attempts WHERE kind = 'write'"))


def test_a_wrong_token_pauses_the_account_and_costs_no_lead_a_try(bottle: BottleLab, proxy: Proxy) -> None:
    proxy.token = WRONG
    events = [bottle.form(message="Una bomba"), bottle.form(message="Dos sillas")]
    bottle.lab.settle(rounds=20)
    assert (paused(bottle), writes(bottle)) == ("bad_credential", 0)
    assert {bottle.lab.state(each) for each in events} <= {"received", "waiting"}


def test_a_paused_account_hears_a_control_call_and_nothing_else(bottle: BottleLab, proxy: Proxy) -> None:
    proxy.token = WRONG
    bottle.form()
    bottle.lab.work()
    proxy.requests.clear()
    bottle.lab.pass_time(CONTROL_COMES)
    bottle.lab.work()
    assert proxy.requests == ["GET /api/custom-fields/"]


def test_what_waited_for_a_token_is_delivered_once_with_the_right_one(bottle: BottleLab, proxy: Proxy) -> None:
    proxy.token = WRONG
    events = [bottle.form(message="Una bomba"), bottle.form(message="Dos sillas")]
    bottle.lab.settle(rounds=3)
    proxy.token = None
    bottle.lab.settle(rounds=3)
    assert (paused(bottle), [bottle.lab.state(each) for each in events]) == (None, ["confirmed", "confirmed"])
    assert records(bottle) == [1, 2, 2]


@pytest.mark.parametrize("boundary", ["contact.noted", "opportunity.committed", "task.committed"])
def test_a_token_that_is_revoked_on_the_way_is_waited_for(bottle: BottleLab, proxy: Proxy, boundary: str) -> None:
    event = bottle.form()
    revoked_at(bottle, proxy, boundary)
    assert paused(bottle) == "bad_credential"
    proxy.token = None
    bottle.lab.settle(rounds=3)
    assert (bottle.lab.state(event), records(bottle)) == ("confirmed", [1, 1, 1])


def test_a_task_whose_look_is_refused_is_in_doubt_until_a_look_is_allowed(bottle: BottleLab, proxy: Proxy) -> None:
    event = bottle.form()
    revoked_at(bottle, proxy, "task.answered")
    assert bottle.lab.state(event) == "uncertain"
    proxy.token = None
    bottle.lab.settle(rounds=3)
    assert (bottle.lab.state(event), records(bottle)) == ("confirmed", [1, 1, 1])


def revoked_at(bottle: BottleLab, proxy: Proxy, boundary: str) -> None:
    """Work until nothing is due, with a token that is revoked when this boundary is passed."""

    def revoke(passed: str) -> None:
        if passed == boundary:
            proxy.token = WRONG

    allowed = bottle.lab.desk
    bottle.lab.desk = bottle.lab.other_desk(at=revoke)
    bottle.lab.work()
    bottle.lab.desk = allowed


def test_a_token_that_may_only_read_sends_the_lead_to_a_person_with_what_is_missing(
    bottle: BottleLab, proxy: Proxy
) -> None:
    proxy.token = bottle.crm.readonly_token
    event = bottle.form()
    bottle.lab.work()
    delivery = bottle.lab.delivery(event)
    assert (delivery["state"], delivery["reason"]) == ("review", "token_scope")
    assert "contacts:write" in str(delivery["fields"])
