"""A CRM that executes a request after we gave it up: one record, or an incident where it breaks its declared limit."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from crm_clients.base import Kind
from intake import absence, records
from tests.lab import Lab, lab
from tests.simulation.world import STEP, creates, impatient, incidents, ledger, looks
from tests.simulation.zombies import zombie

KINDS = ("contact", "opportunity", "task", "note")

# When the CRM executes what we gave up.  Until the second look has told, nothing else is written.
BEFORE_THE_PROOF = {
    "before our look at once": ("{kind}.answered", 1),
    "after our look at once": ("delivery.before_arrow", 1),
    "before the first look of the proof is noted": ("{kind}.looked", 1),
    "before the second look of the proof is noted": ("{kind}.looked", 2),
}
AFTER_THE_LAST_LOOK = {
    "before the second create is committed": ("{kind}.before_commit", 2),
    "before the second create is sent": ("{kind}.committed", 2),
    "after the second create was answered": ("{kind}.answered", 2),
}


def lead_with(lab: Lab, kind: str) -> UUID:
    """A delivery of which the record of this kind is the next to be written."""
    if kind != "note":
        return lab.form()
    lab.whatsapp("Hola")
    lab.work()
    return lab.whatsapp("Quiero una cotización")[0]


@pytest.mark.parametrize("moment", BEFORE_THE_PROOF)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_executed_late_but_before_the_proof_is_found_and_not_made_again(
    stored: Lab, kind: str, moment: str
) -> None:
    event = lead_with(stored, kind)
    stored.dials.fault("late", match={"what": "create", "kind": kind}, seconds=86_400)
    name, time = BEFORE_THE_PROOF[moment]
    with impatient(stored, {(name.format(kind=kind), time): stored.dials.release_late}):
        stored.settle()
    assert stored.state(event) == "confirmed"
    assert ledger(stored)[kind] == 1
    assert len(creates(stored, kind)) == 1
    assert incidents(stored) == []


@pytest.mark.parametrize("moment", AFTER_THE_LAST_LOOK)
@pytest.mark.parametrize("kind", KINDS)
def test_a_crm_that_breaks_its_limit_makes_a_double_that_is_an_incident(stored: Lab, kind: str, moment: str) -> None:
    lead_with(stored, kind)
    stored.dials.fault("late", match={"what": "create", "kind": kind}, seconds=86_400)
    name, time = AFTER_THE_LAST_LOOK[moment]
    with impatient(stored, {(name.format(kind=kind), time): stored.dials.release_late}):
        stored.settle()
    assert ledger(stored)[kind] == 2
    assert incidents(stored) == ["several"]


def test_what_is_never_executed_is_proven_absent_by_two_controlled_looks_and_made_once(stored: Lab) -> None:
    event = stored.form()
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    stored.settle()
    assert stored.state(event) == "confirmed"
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1}
    doubt, again = creates(stored, "contact")
    assert (doubt["outcome"], doubt["settled_how"], again["outcome"]) == ("uncertain", "absent", "confirmed")


def test_the_looks_of_a_proof_begin_after_the_lease_and_are_limit_and_lag_apart(stored: Lab) -> None:
    stored.form()
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    stored.settle()
    (proof,) = stored.rows(
        "SELECT min(l.prepared_at) - w.prepared_at AS since, max(l.prepared_at) - min(l.prepared_at) AS apart"
        "  FROM attempts w JOIN attempts l USING (record_id)"
        " WHERE w.settled_how = 'absent' AND l.controlled AND l.outcome = 'absent' AND l.prepared_at < w.settled_at"
        "   AND l.prepared_at > w.prepared_at GROUP BY w.attempt_id"
    )
    lease, limit = stored.desk.patience.lease, stored.desk.wired["crm"].client.capability(Kind.CONTACT).limit
    assert limit is not None
    assert proof["since"] >= lease  # type: ignore[operator]
    assert proof["apart"] >= limit  # type: ignore[operator]


def test_a_silence_of_the_account_restarts_the_proof(stored: Lab) -> None:
    stored.form()
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    with impatient(stored):
        stored.work()
        stored.pass_time(STEP)
        stored.work()  # the first look says absent
        stored.pass_time(STEP)
        stored.dials.fault("late", times=None, seconds=86_400)
        stored.work()  # nothing is answered
        stored.dials.no_faults()
        stored.pass_time(STEP)
        stored.work()  # absent again; without the silence that would have been the proof
        assert len(creates(stored, "contact")) == 1
        stored.pass_time(STEP)
        stored.work()
    assert len(creates(stored, "contact")) == 2
    assert [each["outcome"] for each in looks(stored, "contact")].count("unsure") >= 1


def test_a_silence_that_only_the_control_met_restarts_the_proof_too(stored: Lab) -> None:
    stored.form()
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    with impatient(stored):
        stored.work()
        stored.pass_time(STEP)
        stored.work()
        stored.pass_time(STEP)
        stored.dials.fault("late", match={"what": "find", "reference_prefix": "intake-sentinel"}, seconds=86_400)
        stored.work()  # the control is not answered, the look after it is
        stored.pass_time(STEP)
        stored.work()
        assert len(creates(stored, "contact")) == 1
        stored.pass_time(STEP)
        stored.work()
    assert len(creates(stored, "contact")) == 2


def test_a_call_that_began_after_a_look_was_answered_is_no_silence_around_it(stored: Lab) -> None:
    """On a busy account there always is one; the look would never count, and the next be hours away."""
    stored.form()
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    stored.work()
    stored.pass_time(STEP)
    stored.work()  # the first look of the proof says absent
    (doubtful,) = stored.rows("SELECT record_id FROM records WHERE state = 'in_doubt'")
    stored.form(email="otra@example.com", phone="987000003")
    with zombie(stored, "contact.committed"), stored.pool.connection() as conn:
        record = records.read(conn, int(str(doubtful["record_id"])))
        assert absence.absence_span(conn, record) == timedelta(0)


def test_a_create_that_followed_a_doubt_is_looked_at_again_and_then_left_alone(stored: Lab) -> None:
    stored.form()
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    stored.settle()
    rechecks = Counter(each["outcome"] for each in looks(stored, "contact"))["found"]
    assert rechecks >= 2
    for _ in range(12):
        stored.pass_time(STEP * 24 * 120)
        stored.work()
    (contact,) = stored.rows("SELECT state, look_at FROM records WHERE kind = 'contact'")
    assert contact == {"state": "known", "look_at": None}


def test_it_is_looked_at_again_no_sooner_than_the_limit_has_passed(database_url: str, tmp_path: Path) -> None:
    with lab(database_url, tmp_path, limit=600.0) as slow:
        slow.form()
        slow.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
        slow.settle(rounds=4, step=timedelta(minutes=11))
        created = creates(slow, "contact")[-1]["prepared_at"]
        known = [each["prepared_at"] for each in looks(slow, "contact") if each["outcome"] == "found"]
        assert isinstance(created, datetime)
        after = [at - created for at in known if isinstance(at, datetime)]
        assert [each for each in after if timedelta(seconds=5) < each < timedelta(seconds=600)] == []
        assert max(after) > timedelta(seconds=600)


def test_what_people_removed_meanwhile_is_not_looked_at_for_ever(stored: Lab) -> None:
    stored.form()
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    stored.settle()
    stored.dials.fault("false_absent", match={"what": "find", "kind": "contact"}, times=1000)
    for _ in range(12):
        stored.pass_time(timedelta(days=2))
        stored.work()
    (contact,) = stored.rows("SELECT state, look_at FROM records WHERE kind = 'contact'")
    assert contact == {"state": "known", "look_at": None}
