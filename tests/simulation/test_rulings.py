"""What a person says of a write in doubt is about that write, and about no later one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from intake import decisions, installation
from intake.decided import Author, Refused
from intake.decisions import Applied
from tests.lab import PATIENCE, Lab, lab
from tests.simulation.world import STEP, hooked, impatient, ledger
from tests.simulation.zombies import zombie

PERSON = Author("ana", "no está")


@pytest.fixture
def weak(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    """A lab whose CRM shows what it made only much later, and does not say so."""
    with lab(database_url, tmp_path, profile="weak") as made:
        yield made


def rule_absent(lab: Lab, event: UUID) -> None:
    with lab.pool.connection() as conn:
        decisions.settle_not_applied(conn, PERSON, event)


def look_now(lab: Lab, event: UUID) -> None:
    with lab.pool.connection() as conn:
        decisions.look(conn, PERSON, event)


def ruled(lab: Lab) -> bool:
    return bool(lab.rows("SELECT FROM records WHERE ruled_absent"))


def test_what_was_said_of_a_write_that_never_left_does_not_allow_a_third(weak: Lab) -> None:
    event = weak.form()
    with zombie(weak, "opportunity.committed") as stopped:
        weak.pass_time(STEP)
        weak.work()
        rule_absent(weak, event)
        stopped.wake(after=3600.0)
    weak.dials.profile("weak", lag=3600.0, limit=20.0)
    weak.dials.fault("lost_answer", match={"what": "create", "kind": "opportunity"})
    weak.settle(rounds=4)
    assert (weak.state(event), ledger(weak)["opportunity"]) == ("uncertain", 1)


def test_a_person_s_word_waits_for_what_the_crm_may_still_execute(database_url: str, tmp_path: Path) -> None:
    with lab(database_url, tmp_path, profile="weak", limit=600.0) as slow:
        event = slow.form()
        slow.dials.fault("late", match={"what": "create", "kind": "opportunity"}, seconds=86_400)
        with impatient(slow):
            slow.work()
            rule_absent(slow, event)  # Nothing is there, as they say truly.
            slow.settle(rounds=3)
            look_now(slow, event)  # They are impatient.
            slow.work()
            slow.dials.release_late()  # within its limit
        slow.settle(rounds=12, step=timedelta(minutes=2))
        assert (slow.state(event), ledger(slow)["opportunity"]) == ("confirmed", 1)


def test_what_a_person_says_during_a_look_is_followed_by_another_at_once(weak: Lab) -> None:
    weak.dials.fault("lost_answer", match={"what": "create", "kind": "opportunity"}, effect=False)
    event = weak.form()
    weak.work()
    weak.pass_time(timedelta(hours=1))
    with hooked(weak, {("opportunity.looked", 1): lambda: rule_absent(weak, event)}):
        weak.work()
    weak.settle(rounds=2)
    assert (weak.state(event), ledger(weak)["opportunity"]) == ("confirmed", 1)


def test_what_was_said_is_over_with_the_doubt(stored: Lab) -> None:
    stored.lose("opportunity")
    event = stored.form()
    stored.work()
    rule_absent(stored, event)
    stored.settle(rounds=3)
    assert (stored.state(event), ruled(stored)) == ("confirmed", False)


def test_looks_that_a_person_asked_for_too_early_hold_nothing_up(stored: Lab) -> None:
    stored.lose("opportunity", executed=False)
    event = stored.form()
    stored.work()
    for _ in range(2):
        with stored.pool.connection() as conn:
            decisions.look(conn, PERSON, event)
        stored.work()
    rule_absent(stored, event)
    stored.settle(rounds=3)
    assert (stored.state(event), ledger(stored)["opportunity"]) == ("confirmed", 1)


def test_a_restored_copy_does_not_know_what_a_person_would_say_today(weak: Lab) -> None:
    weak.dials.fault("408", match={"what": "create", "kind": "opportunity"})
    event = weak.form()
    weak.work()
    rule_absent(weak, event)
    with weak.pool.connection() as conn:
        installation.open_epoch(conn, lease=PATIENCE.lease)
    assert not ruled(weak)


def test_nothing_can_be_said_of_a_write_that_may_still_leave(stored: Lab) -> None:
    stored.dials.fault("422", match={"what": "create", "kind": "contact"})
    first = stored.form()
    stored.work()
    stored.form(message="Otra consulta")
    with zombie(stored, "contact.committed"), pytest.raises(Refused, match="in_hand"):
        rule_absent(stored, first)
    assert not ruled(stored)


def test_nobody_names_the_id_of_what_another_event_is_writing(stored: Lab) -> None:
    stored.dials.fault("422", match={"what": "create", "kind": "contact"})
    first = stored.form()
    stored.work()
    with stored.pool.connection() as conn:
        record = decisions.to_settle(decisions.view(conn, first), "contact", only_doubtful=False)
    stored.form(message="Otra consulta")
    with (
        zombie(stored, "contact.committed"),
        stored.pool.connection() as conn,
        pytest.raises(Refused, match="in_hand"),
    ):
        decisions.settle_applied(conn, PERSON, first, record, Applied("con-x", verified=False))
