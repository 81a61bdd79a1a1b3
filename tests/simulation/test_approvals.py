"""An approval is of exactly one content, may end, and never makes anything be done twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from tests.commands import DECIDED, beside, intake, listed
from tests.lab import Lab, lab
from tests.ruled import rule
from tests.simulation.world import ledger

EACH_ONCE = {"contact": 1, "opportunity": 1, "task": 1}


@pytest.fixture
def gated(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as made:
        for source in ("web", "quotes"):
            rule(made, tmp_path, source, 'approval = "required"', "approval_hours = 8")
        yield made


@pytest.fixture
def environ(gated: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(gated, tmp_path)


def stands(gated: Lab, event: UUID) -> tuple[object, object]:
    row = gated.delivery(event)
    return row["state"], row["reason"]


def test_nothing_is_delivered_before_it_is_approved(gated: Lab, environ: Mapping[str, str]) -> None:
    event = gated.form()
    gated.settle(3)
    waiting = ledger(gated)
    assert intake(environ, "approve", event, *DECIDED).status == 0
    gated.work()
    assert (waiting, gated.state(event), ledger(gated)) == ({}, "confirmed", EACH_ONCE)


def test_the_decision_names_the_content_that_was_approved(gated: Lab, environ: Mapping[str, str]) -> None:
    event = gated.form()
    content = intake(environ, "show", event, "--json").document["content"]
    intake(environ, "approve", event, *DECIDED)
    (decision,) = listed(intake(environ, "show", event, "--json").document, "decisions")
    assert decision["detail"] == content


def test_an_approval_of_an_older_content_is_refused(gated: Lab, environ: Mapping[str, str]) -> None:
    event = gated.form()
    seen = intake(environ, "show", event, "--json").document["content"]
    assert isinstance(seen, dict)
    intake(environ, "correct", event, "name=Otra", *DECIDED)
    said = intake(environ, "approve", event, "--fingerprint", seen["fingerprint"], *DECIDED)
    assert (said.status, "revisión" in said.err, gated.state(event)) == (1, True, "awaiting_approval")
    assert intake(environ, "approve", event, "--revision", 1, *DECIDED).status == 1
    assert intake(environ, "approve", event, "--revision", 2, *DECIDED).status == 0


def test_a_newer_version_supersedes_one_that_waits_and_needs_its_own(gated: Lab, environ: Mapping[str, str]) -> None:
    first = gated.quote(version=1)
    second = gated.quote(version=2, amount="250.50")
    assert (gated.state(first), gated.state(second)) == ("superseded", "awaiting_approval")
    assert intake(environ, "approve", first, *DECIDED).status == 1
    intake(environ, "approve", second, *DECIDED)
    gated.work()
    assert [each["amount"] for each in gated.in_crm("opportunity")] == ["250.50"]


def test_an_older_version_that_comes_late_gives_way_at_once(gated: Lab) -> None:
    gated.quote(version=2)
    assert gated.state(gated.quote(version=1)) == "superseded"


def test_an_approval_ends(gated: Lab, environ: Mapping[str, str]) -> None:
    event = gated.form()
    intake(environ, "approve", event, *DECIDED)
    intake(environ, "pause", "crm", *DECIDED)
    forward(gated, timedelta(hours=9))
    gated.work()
    assert stands(gated, event) == ("awaiting_approval", "approval_expired")
    intake(environ, "resume", "crm", *DECIDED)
    gated.work()
    assert ledger(gated) == {}


def test_an_approval_that_ended_halfway_makes_nothing_twice(gated: Lab, environ: Mapping[str, str]) -> None:
    event = gated.form()
    intake(environ, "approve", event, *DECIDED)
    gated.dials.fault("429", match={"what": "create", "kind": "task"}, retry_after=3600)
    gated.work()
    forward(gated, timedelta(hours=9))
    gated.work()
    assert stands(gated, event) == ("awaiting_approval", "approval_expired")
    intake(environ, "approve", event, *DECIDED)
    gated.settle(3)
    assert (gated.state(event), ledger(gated)) == ("confirmed", EACH_ONCE)


def test_what_was_done_before_the_approval_ended_is_done(gated: Lab, environ: Mapping[str, str]) -> None:
    event = gated.form()
    intake(environ, "approve", event, *DECIDED)
    gated.lose("task")
    gated.work()
    assert gated.state(event) == "uncertain"
    gated.dials.no_faults()
    forward(gated, timedelta(hours=9))
    gated.settle(3)
    assert (gated.state(event), ledger(gated)) == ("confirmed", EACH_ONCE)


def forward(gated: Lab, span: timedelta) -> None:
    """Time passes for approvals, too."""
    gated.pass_time(span)
    with gated.pool.connection() as conn:
        conn.execute("UPDATE deliveries SET approved_until = approved_until - %s", [span])


def test_a_correction_is_approved_on_its_own(gated: Lab, environ: Mapping[str, str]) -> None:
    event = gated.form()
    intake(environ, "approve", event, *DECIDED)
    gated.dials.fault("422", match={"what": "create", "kind": "contact"}, times=1)
    gated.work()
    intake(environ, "correct", event, "name=Otra", *DECIDED)
    assert stands(gated, event) == ("awaiting_approval", "corrected")


def test_versions_out_of_order_with_an_adviser_and_an_approval_between(gated: Lab, environ: Mapping[str, str]) -> None:
    """v1 is refused by the CRM, v3 is approved and opens the opportunity, an adviser edits it, and v2 comes last."""
    first = gated.quote(version=1, amount="100.00")
    gated.dials.fault("422", match={"what": "create", "kind": "opportunity"}, times=1)
    intake(environ, "approve", first, *DECIDED)
    gated.work()
    assert gated.state(first) == "review"
    third = gated.quote(version=3, amount="300.00")
    intake(environ, "approve", third, *DECIDED)
    gated.work()
    second = gated.quote(version=2, amount="200.00")
    gated.work()
    intake(environ, "revive", first, *DECIDED)
    gated.work()
    assert [gated.state(each) for each in (first, second, third)] == ["superseded", "superseded", "confirmed"]
    assert ([each["amount"] for each in gated.in_crm("opportunity")], ledger(gated)) == (["300.00"], EACH_ONCE)
