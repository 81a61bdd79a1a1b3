"""Credentials that are refused for an hour, and a lead that the CRM will not have: what each of them stops."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.lab import Json, Lab
from tests.simulation.watching import AGAIN, watching
from tests.simulation.world import ledger
from workers.backoff import LONGEST, MOST_TRIES

HOUR = timedelta(hours=1)
STEP = timedelta(seconds=45)


def account(lab: Lab) -> Json:
    (row,) = lab.rows("SELECT paused_at, paused_reason FROM accounts WHERE destination = 'crm'")
    return row


@pytest.mark.parametrize("status", ["401", "403"])
def test_an_hour_of_refused_credentials_is_one_pause_and_everything_is_delivered_after(
    stored: Lab, status: str
) -> None:
    stored.dials.fault(status, times=None)
    first = [stored.form(email=f"p{n}@example.com", phone=f"98700000{n}") for n in range(3)]
    stored.work()
    began, passed = account(stored), timedelta(0)
    while passed < HOUR:
        stored.work()
        stored.pass_time(STEP)
        passed += STEP
    still = account(stored)
    later = stored.form(email="tarde@example.com", phone="912345678")
    stored.work()
    assert began["paused_reason"] == still["paused_reason"] == "bad_credential"
    # The same pause, an hour older: it was neither ended nor begun anew.
    assert abs(began["paused_at"] - still["paused_at"] - passed) < timedelta(seconds=1)  # type: ignore[operator]
    assert ledger(stored) == {}
    stored.dials.no_faults()
    stored.settle(3)
    assert [stored.state(event) for event in (*first, later)] == ["confirmed"] * 4
    assert account(stored)["paused_at"] is None


def test_no_delivery_spent_any_of_its_budget_meanwhile(stored: Lab) -> None:
    stored.dials.fault("401", times=None)
    event = stored.form()
    for _ in range(40):
        stored.work()
        stored.pass_time(STEP)
    writes = stored.rows("SELECT * FROM attempts WHERE kind = 'write' AND event_id = %(id)s", id=event)
    assert len(writes) <= 1
    assert stored.state(event) in {"received", "waiting"}


def test_a_poisonous_lead_pauses_nothing_however_often_it_is_tried(stored: Lab) -> None:
    stored.dials.fault("403", match={"what": "create", "contains": "Prohibida"}, times=None)
    poison = stored.form(name="Prohibida", email="no@example.com", phone="987000001")
    for number in range(3):
        stored.work()
        with stored.pool.connection() as conn:
            conn.execute(
                "UPDATE deliveries SET state = 'received', reason = NULL, due_at = now() WHERE state = 'review'"
            )
        other = stored.form(email=f"ok{number}@example.com", phone=f"98700002{number}")
        stored.work()
        assert stored.state(other) == "confirmed"
    assert (stored.state(poison), account(stored)["paused_at"]) == ("review", None)


@pytest.mark.parametrize(("refused_again", "ended"), [(MOST_TRIES - 1, "confirmed"), (MOST_TRIES, "review")])
def test_after_the_hour_a_delivery_has_its_whole_budget(stored: Lab, refused_again: int, ended: str) -> None:
    stored.dials.fault("401", times=None)
    event = stored.form()
    stored.settle(int(HOUR / STEP), STEP)
    stored.dials.no_faults()
    stored.dials.fault("429", match={"what": "create", "kind": "contact"}, times=refused_again)
    stored.settle(MOST_TRIES + 2, LONGEST)
    assert stored.state(event) == ended


def test_of_an_hour_of_refused_credentials_one_alert_is_told_and_one_recovered(stored: Lab) -> None:
    with watching(stored) as told:
        stored.dials.fault("401", times=None)
        events, said = [], []
        for number in range(int(HOUR / AGAIN) + 2):
            events.append(stored.form(email=f"p{number}@example.com", phone=f"98700000{number}"))
            stored.work()
            said += told.round(AGAIN)
        stored.dials.no_faults()
        stored.settle(3)
        said += [text for _ in range(4) for text in told.round(AGAIN)]
        assert [text.partition(" desde ")[0].splitlines()[0] for text in said] == [
            "La cuenta del CRM «crm» está en pausa",
            "Recuperado: la cuenta del CRM «crm» funciona de nuevo.",
        ]
        assert {stored.state(event) for event in events} == {"confirmed"}
        assert stored.dials.doubles() == []


def test_of_a_poisonous_lead_its_review_is_told_and_no_pause(stored: Lab) -> None:
    with watching(stored) as told:
        stored.dials.fault("403", match={"what": "create", "contains": "Prohibida"}, times=None)
        stored.form(name="Prohibida", email="no@example.com", phone="987000001")
        others = [stored.form(email=f"ok{n}@example.com", phone=f"98700002{n}") for n in range(3)]
        stored.work()
        (said,) = [text for _ in range(4) for text in told.round(AGAIN)]
        assert "1 de «web» necesitan a una persona" in said
        assert [stored.state(event) for event in others] == ["confirmed"] * 3
