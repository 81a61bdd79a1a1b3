"""One decision about many: counted before, decided one by one, stoppable, safe over restarts, and never a send."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

import pytest

from intake import bulk
from intake.decided import Author
from tests.commands import DECIDED, beside, intake, listed
from tests.lab import Lab
from tests.simulation.world import creates, ledger

AUTHOR = Author("rosa", "CRM mended")


@pytest.fixture
def environ(stored: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(stored, tmp_path)


def forms(stored: Lab, count: int) -> list[UUID]:
    return [stored.form(email=f"p{n}@example.com", phone=f"98700000{n}") for n in range(count)]


def in_review(stored: Lab, count: int) -> list[UUID]:
    stored.dials.fault("422", match={"what": "create", "kind": "contact"}, times=count)
    events = forms(stored, count)
    stored.work()
    assert {stored.state(each) for each in events} == {"review"}
    return events


def test_what_matches_is_decided_and_each_has_its_result(stored: Lab, environ: Mapping[str, str]) -> None:
    events = in_review(stored, 3)
    words = ("bulk", "run", "revive", "--state", "review", "--reason-word", "validation", "--yes")
    assert intake(environ, *words, *DECIDED).status == 0
    stored.work()
    assert {stored.state(each) for each in events} == {"confirmed"}
    shown = intake(environ, "bulk", "show", 1, "--json").document
    assert [each["result"] for each in listed(shown, "items")] == ["done"] * 3


def test_without_a_yes_it_counts_and_decides_nothing(stored: Lab, environ: Mapping[str, str]) -> None:
    events = in_review(stored, 2)
    said = intake(environ, "bulk", "run", "revive", "--state", "review", *DECIDED)
    assert (said.status, "2" in said.out, {stored.state(each) for each in events}) == (1, True, {"review"})


def test_without_a_filter_it_is_a_usage_error(environ: Mapping[str, str]) -> None:
    assert intake(environ, "bulk", "run", "cancel", "--yes", *DECIDED).status == 2


@pytest.mark.parametrize("words", [("--source", "quotes"), ("--reason-word", "timeout"), ("--state", "uncertain")])
def test_what_does_not_match_is_left(stored: Lab, environ: Mapping[str, str], words: tuple[str, ...]) -> None:
    (event,) = in_review(stored, 1)
    assert intake(environ, "bulk", "run", "cancel", *words, "--yes", *DECIDED).status == 1
    assert stored.state(event) == "review"


def test_what_ended_is_not_meant_unless_it_is_named(stored: Lab, environ: Mapping[str, str]) -> None:
    event = stored.form()
    stored.work()
    assert intake(environ, "bulk", "run", "spam", "--source", "web", "--yes", *DECIDED).status == 1
    assert stored.state(event) == "confirmed"


def test_a_run_that_was_left_goes_on_with_any_worker(stored: Lab) -> None:
    events = in_review(stored, 3)
    with stored.pool.connection() as conn:
        begun = bulk.begin(conn, AUTHOR, "revive", bulk.Filter(state="review"))
        bulk.step(conn, stored.settings, bulk_id=begun)
    stored.work()
    assert {stored.state(each) for each in events} == {"confirmed"}
    assert len(stored.rows("SELECT * FROM decisions")) == 3


def test_a_run_that_is_stopped_leaves_the_rest(stored: Lab, environ: Mapping[str, str]) -> None:
    in_review(stored, 3)
    with stored.pool.connection() as conn:
        begun = bulk.begin(conn, AUTHOR, "cancel", bulk.Filter(state="review"))
        bulk.step(conn, stored.settings, bulk_id=begun)
    assert intake(environ, "bulk", "stop", begun).status == 0
    stored.work()
    assert len(stored.rows("SELECT * FROM deliveries WHERE state = 'review'")) == 2
    assert intake(environ, "bulk", "go", begun).status == 0
    assert len(stored.rows("SELECT * FROM deliveries WHERE state = 'cancelled'")) == 3


def test_one_that_moved_meanwhile_is_refused_and_the_others_go_on(stored: Lab, environ: Mapping[str, str]) -> None:
    first, *others = in_review(stored, 3)
    with stored.pool.connection() as conn:
        begun = bulk.begin(conn, AUTHOR, "revive", bulk.Filter(state="review"))
    intake(environ, "settle", first, "cancel", *DECIDED)
    stored.work()
    with stored.pool.connection() as conn:
        results = bulk.results(conn, begun)
    assert (results[first], {results[each] for each in others}) == ("only_in_review", {"done"})


def test_a_replay_looks_for_what_is_in_doubt_and_sends_nothing(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.lose("opportunity")
    event = stored.form()
    stored.work()
    assert stored.state(event) == "uncertain"
    stored.dials.no_faults()
    before = len(creates(stored, "opportunity"))
    intake(environ, "bulk", "run", "replay", "--state", "uncertain", "--yes", *DECIDED)
    stored.settle(2)
    assert (len(creates(stored, "opportunity")), stored.state(event)) == (before, "confirmed")
    assert ledger(stored)["opportunity"] == 1


def test_each_decision_says_who_and_why(stored: Lab, environ: Mapping[str, str]) -> None:
    (event,) = in_review(stored, 1)
    intake(environ, "bulk", "run", "revive", "--state", "review", "--yes", "--by", "rosa", "--reason", "mended")
    (decision,) = listed(intake(environ, "show", event, "--json").document, "decisions")
    assert (decision["author"], decision["reason"], decision["action"]) == ("rosa", "mended", "revive")
