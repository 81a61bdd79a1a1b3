"""An "absent" counts only where the same filter finds the sentinel; what refuses an account pauses it once."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from intake import installation, lead_schema, person_arrows
from intake.lead_schema import correct
from tests.lab import Json, Lab
from tests.simulation.world import STEP, creates, incidents, ledger

EACH_ONCE = {"contact": 1, "opportunity": 1, "task": 1}


def account(lab: Lab) -> Json:
    (row,) = lab.rows("SELECT * FROM accounts WHERE destination = 'crm'")
    return row


def forget_sentinels(lab: Lab) -> None:
    with lab.pool.connection() as conn:
        conn.execute("DELETE FROM sentinels WHERE destination = 'crm'")


# --- the sentinel -----------------------------------------------------------------------------------------------------


def test_without_a_sentinel_nothing_is_delivered(stored: Lab) -> None:
    forget_sentinels(stored)
    event = stored.form()
    stored.settle(3)
    assert (stored.state(event), stored.delivery(event)["reason"]) == ("waiting", "no_control")
    assert ledger(stored) == {}


def test_a_filter_that_finds_no_sentinel_proves_nothing(stored: Lab) -> None:
    event = stored.form()
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    stored.work()
    stored.dials.fault("false_absent", match={"what": "find", "kind": "contact"}, times=None)
    stored.settle(12, timedelta(minutes=5))
    assert stored.state(event) == "uncertain"
    assert len(creates(stored, "contact")) == 1
    stored.dials.no_faults()
    stored.settle()
    assert stored.state(event) == "confirmed"
    assert ledger(stored) == EACH_ONCE


def test_each_look_of_a_proof_needs_its_own_control(stored: Lab) -> None:
    stored.form()
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    stored.work()
    stored.dials.fault("false_absent", match={"what": "find", "reference_prefix": "intake-sentinel"})
    for looks in range(3):  # the first without its control
        stored.pass_time(STEP)
        assert len(creates(stored, "contact")) == 1, looks
        stored.work()
    assert len(creates(stored, "contact")) == 2


def test_a_filter_that_finds_no_sentinel_stops_the_first_create_too(stored: Lab) -> None:
    stored.pass_time(timedelta(minutes=6))  # the control that the lab's preflight made is stale
    stored.dials.fault("false_absent", match={"what": "find", "kind": "contact"}, times=None)
    event = stored.form()
    stored.settle(3)
    assert (stored.state(event), stored.delivery(event)["reason"]) == ("waiting", "no_control")
    assert ledger(stored) == {}


def test_a_search_that_finds_the_sentinel_and_hides_the_record_is_outside_the_assumptions(stored: Lab) -> None:
    """The sandbox lies about one record only: two stand there, and nothing that we can ask shows it."""
    event = stored.form()
    stored.dials.fault("500_with_effect", match={"what": "create", "kind": "opportunity"})
    stored.dials.fault("false_absent", match={"what": "find", "reference_prefix": "n"}, times=None)
    stored.settle()
    assert stored.state(event) == "confirmed"
    assert len(stored.dials.doubles()) == 1
    stored.dials.no_faults()
    stored.settle(2, timedelta(hours=25))
    assert incidents(stored) == ["several"]  # by the next nightly look


def test_a_sentinel_of_another_installation_pauses_the_account(stored: Lab) -> None:
    with stored.pool.connection() as conn:
        conn.execute("UPDATE installation SET installation_id = gen_random_uuid()")
        stored.desk = stored.other_desk(installation=installation.read(conn))
    stored.pass_time(timedelta(minutes=6))
    event = stored.form()
    stored.settle(4)
    assert account(stored)["paused_reason"] == "foreign_installation"
    assert stored.state(event) == "waiting"
    assert ledger(stored) == {}


# --- refusals of the account ------------------------------------------------------------------------------------------


def test_a_bad_credential_pauses_the_account_once_and_touches_no_budget(stored: Lab) -> None:
    stored.dials.fault("401", times=None)
    events = [stored.form(email=f"p{n}@example.com", phone=f"98700000{n}") for n in range(3)]
    for _ in range(40):  # more often than a delivery may try in vain
        stored.work()
        stored.pass_time(STEP)
    paused = account(stored)
    assert paused["paused_reason"] == "bad_credential"
    assert ledger(stored) == {}
    stored.dials.no_faults()
    stored.settle()
    assert account(stored)["paused_at"] is None
    assert [stored.state(event) for event in events] == ["confirmed"] * 3


def test_a_credential_that_fails_at_each_write_again_costs_no_delivery_its_budget(stored: Lab) -> None:
    event = stored.form()
    for _ in range(20):
        stored.dials.fault("401", match={"what": "create"})
        stored.dials.fault("401", match={"what": "control"})
        stored.work()
        assert stored.state(event) == "waiting"
        stored.dials.no_faults()
        stored.pass_time(STEP)
        stored.step()  # the control call works again
    stored.settle()
    assert stored.state(event) == "confirmed"
    assert ledger(stored) == EACH_ONCE


def test_one_item_that_is_forbidden_is_a_person_s_and_the_account_goes_on(stored: Lab) -> None:
    stored.dials.fault("403", match={"what": "create", "contains": "Prohibida"}, times=None)
    refused = stored.form(name="Prohibida", email="no@example.com", phone="987000001")
    other = stored.form()
    stored.settle(3)
    assert (stored.state(refused), stored.state(other)) == ("review", "confirmed")
    assert account(stored)["paused_at"] is None


@pytest.mark.parametrize("how", ["seconds", "date"])
def test_retry_after_is_obeyed(stored: Lab, how: str) -> None:
    stored.dials.fault("429", match={"what": "create", "kind": "contact"}, retry_after=300, retry_after_as=how)
    event = stored.form()
    stored.work()
    assert (stored.state(event), stored.delivery(event)["reason"]) == ("waiting", "rate_limited")
    stored.pass_time(timedelta(seconds=290))
    stored.work()
    assert stored.state(event) == "waiting"
    stored.pass_time(timedelta(seconds=11))
    stored.work()
    assert stored.state(event) == "confirmed"
    assert ledger(stored) == EACH_ONCE


@pytest.mark.parametrize("what", ["create", "find", "read"])
def test_a_rate_limit_without_a_time_passes_by_itself(stored: Lab, what: str) -> None:
    stored.dials.fault("429", match={"what": what}, times=4)
    event = stored.form()
    stored.settle()
    assert stored.state(event) == "confirmed"
    assert account(stored)["paused_at"] is None
    assert ledger(stored) == EACH_ONCE


def test_retry_after_on_a_look_is_obeyed(stored: Lab) -> None:
    stored.dials.fault("429", match={"what": "find", "kind": "contact"}, retry_after=300)
    event = stored.form()
    stored.work()
    stored.pass_time(timedelta(seconds=200))
    stored.work()
    assert stored.state(event) == "waiting"
    stored.pass_time(timedelta(seconds=101))
    stored.work()
    assert stored.state(event) == "confirmed"


@pytest.mark.parametrize("what", ["find", "read"])
def test_a_look_that_fails_is_made_again_after_a_while_and_not_at_once(stored: Lab, what: str) -> None:
    stored.dials.fault("503", match={"what": what}, times=None)
    event = stored.form()
    stored.work(40)
    assert stored.state(event) == "waiting"
    for _ in range(40):
        stored.pass_time(STEP)
        stored.work(40)
    assert stored.state(event) == "waiting"  # looks that tell nothing cost no budget
    stored.dials.no_faults()
    stored.settle()
    assert (stored.state(event), ledger(stored)) == ("confirmed", EACH_ONCE)


# --- refusals of the content ------------------------------------------------------------------------------------------


def correct_lead(lab: Lab, event: UUID, **changes: str) -> None:
    """What a person corrected is the lead's next revision."""
    with lab.pool.connection() as conn:
        row = conn.execute("SELECT content FROM bodies WHERE event_id = %s AND revision = 1", [event]).fetchone()
        assert row is not None
        lead = correct(lead_schema.load(bytes(row[0])), changes, region="PE")
        conn.execute(
            "INSERT INTO bodies (what, event_id, revision, content) VALUES ('lead', %s, 2, %s)",
            [event, lead_schema.dump(lead)],
        )


def test_what_is_refused_names_its_fields_and_goes_on_when_corrected(stored: Lab) -> None:
    event = stored.form()
    stored.dials.fault("422", match={"what": "create", "kind": "opportunity"}, fields={"title": "Too long."})
    stored.work()
    refused = stored.delivery(event)
    assert (refused["state"], refused["reason"], refused["fields"]) == ("review", "validation", {"title": "Too long."})
    correct_lead(stored, event, name="Ana Corregida", email="ana.corregida@example.com")
    with stored.pool.connection() as conn:
        person_arrows.revive(conn, event, 1)
    stored.work()
    assert stored.state(event) == "confirmed"
    assert ledger(stored) == EACH_ONCE
    assert stored.rows("SELECT FROM items WHERE closed_at IS NULL") == []


def test_a_refusal_of_one_step_leaves_the_steps_before_it_alone(stored: Lab) -> None:
    event = stored.form()
    stored.dials.fault("422", match={"what": "create", "kind": "task"})
    stored.work()
    assert stored.state(event) == "review"
    with stored.pool.connection() as conn:
        person_arrows.revive(conn, event, 1)
    stored.work()
    assert (stored.state(event), ledger(stored)) == ("confirmed", EACH_ONCE)


def test_a_delivery_that_comes_to_nothing_too_often_is_a_person_s(stored: Lab) -> None:
    stored.dials.fault("429", match={"what": "create"}, times=None)
    event = stored.form()
    stored.settle(20, timedelta(minutes=11))
    assert (stored.state(event), stored.delivery(event)["reason"]) == ("review", "budget_used_up")


# --- bugs of ours -----------------------------------------------------------------------------------------------------


def test_a_lead_that_our_own_code_fails_on_is_a_person_s_and_the_others_go_on(stored: Lab) -> None:
    broken = stored.form(email="otra@example.com", phone="987000001")
    with stored.pool.connection() as conn:
        conn.execute(
            "INSERT INTO bodies (what, event_id, revision, content) VALUES ('lead', %s, 2, 'no lead')", [broken]
        )
    other = stored.form()
    stored.settle(2)
    assert (stored.state(broken), stored.delivery(broken)["reason"]) == ("review", "internal_error")
    assert stored.state(other) == "confirmed"
