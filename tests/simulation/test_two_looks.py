"""Where limit and lag are nothing, a proof of absence still takes two looks."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from crm_clients.sandbox.client import SandboxClient
from tests.lab import Lab

NOTHING = timedelta(0)


def test_one_look_proves_nothing_where_limit_and_lag_are_nothing(stored: Lab) -> None:
    wired = dict(stored.desk.wired)
    wired["crm"] = replace(wired["crm"], client=SandboxClient(limit=NOTHING, lag=NOTHING))
    stored.desk = stored.other_desk(wired=wired)
    event = stored.form()
    stored.dials.fault("500_without_effect", match={"method": "POST", "kind": "opportunity"})
    stored.work()
    stored.pass_time(timedelta(seconds=31))  # The lease is over: the first look may count.
    stored.step()
    record = stored.delivery(event)["opportunity_record"]
    (row,) = stored.rows("SELECT state, looks FROM records WHERE record_id = %(id)s", id=record)
    assert (row["state"], row["looks"]) == ("in_doubt", 1)
    stored.settle(rounds=2)
    assert stored.state(event) == "confirmed"
    assert len(stored.in_crm("opportunity")) == 1
