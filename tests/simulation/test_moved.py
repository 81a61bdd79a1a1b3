"""What moves while leads are on their way: the account that a source points at, and the CRM's own clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.lab import Lab
from tests.simulation.world import ledger

HOUR, MONTH = 3600.0, 30 * 86400.0


def point_elsewhere(lab: Lab, *sources: str) -> None:
    """As after a restart with another account for these sources."""
    known = lab.settings.sources
    for name in sources:
        known[name] = replace(known[name], destination="playground")  # type: ignore[index]  # a Mapping to others


def test_what_came_before_its_source_was_pointed_elsewhere_goes_where_it_was_accepted_for(stored: Lab) -> None:
    before = stored.form(email="uno@example.com", phone="")
    point_elsewhere(stored, "web")
    after = stored.form(email="dos@example.com", phone="")
    stored.work()
    assert [stored.delivery(each)["destination"] for each in (before, after)] == ["crm", "playground"]
    assert (stored.state(before), stored.state(after)) == ("confirmed", "confirmed")


def test_what_belongs_to_a_need_goes_to_its_account_though_its_source_points_elsewhere(stored: Lab) -> None:
    events = [stored.quote(version=1), *stored.whatsapp("Hola")]
    stored.work()
    point_elsewhere(stored, "quotes", "wa")
    events += [stored.quote(version=2, amount="250.50"), *stored.whatsapp("¿Siguen ahí?")]
    stored.work()
    assert [stored.delivery(each)["destination"] for each in events] == ["crm"] * 4
    assert [stored.state(each) for each in events] == ["confirmed"] * 4
    assert ledger(stored) == {"contact": 2, "opportunity": 2, "task": 2, "note": 1}


def test_a_crm_whose_clock_jumps_gets_each_lead_once(stored: Lab) -> None:
    leads = 0
    for jump in (HOUR, -HOUR, MONTH, -MONTH):
        stored.dials.set_clock(jump)
        stored.dials.fault("500_with_effect", match={"what": "create", "kind": "opportunity"})
        stored.dials.fault("500_without_effect", match={"what": "create", "kind": "task"})
        date = {"retry_after": 20, "retry_after_as": "date"}
        stored.dials.fault("429", match={"what": "create", "kind": "contact"}, skip=1, **date)
        for _ in range(2):
            leads += 1
            stored.form(email=f"p{leads}@example.com", phone="")
            stored.work()
        (waits,) = stored.rows(
            "SELECT due_at - clock_timestamp() AS span FROM deliveries WHERE reason = 'rate_limited'"
        )
        assert timedelta(seconds=1) < waits["span"] < timedelta(seconds=21)  # type: ignore[operator]  # by its own clock
        stored.settle(rounds=5)
    assert stored.rows("SELECT state FROM deliveries WHERE state <> 'confirmed'") == []
    assert ledger(stored) == dict.fromkeys(("contact", "opportunity", "task"), leads)
    assert stored.dials.doubles() == []
