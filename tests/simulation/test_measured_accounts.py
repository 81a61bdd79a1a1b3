"""What the contract probe measured of an account stands in the database, and makes its deliveries more careful."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from crm_clients.base import Kind
from tests.lab import Lab
from tests.unit.test_probe import CONTRACT, GOOD
from workers.probe import keeping
from workers.probe.measured import Contract, GaveUp


def account(lab: Lab) -> str:
    """The destination of the lab's live leads."""
    return lab.settings.sources["web"].destination


def measured(lab: Lab, **changes: object) -> Contract:
    """A result of the lab's account, taken just now by the database's clock."""
    (now,) = lab.rows("SELECT clock_timestamp() AS at")
    contract = replace(CONTRACT, account=account(lab), measured_at=now["at"], **changes)  # type: ignore[arg-type]
    with lab.pool.connection() as conn:
        keeping.keep(conn, contract)
    return contract


def doubt(lab: Lab, contract: Contract, *, days: int = 0) -> str | None:
    with lab.pool.connection() as conn:
        return keeping.doubt(conn, contract, now=contract.measured_at + timedelta(days=days))


def test_the_newest_result_of_an_account_and_client_counts(stored: Lab) -> None:
    measured(stored)
    newest = measured(stored, run="cd34")
    measured(stored, client="bottlecrm", run="ef56")
    with stored.pool.connection() as conn:
        assert keeping.newest(conn, account(stored), "sandbox") == newest


def test_a_result_that_cannot_be_read_any_more_is_none(stored: Lab) -> None:
    measured(stored)
    with stored.pool.connection() as conn:
        conn.execute("UPDATE crm_contracts SET measured = '{}'")
        assert keeping.newest(conn, account(stored), "sandbox") is None


def test_a_limit_that_was_measured_longer_keeps_a_doubt_open_for_longer(stored: Lab) -> None:
    late = replace(GOOD, gave_up=GaveUp(5, 5, 300.0))
    contract = replace(CONTRACT, kinds=(late,))
    wired = {name: replace(each, measured=contract) for name, each in stored.desk.wired.items()}
    stored.desk = replace(stored.desk, wired=wired)
    stored.dials.fault("lost_answer", match={"what": "create", "kind": "opportunity"}, effect=False, times=1)
    event = stored.form()
    stored.settle(rounds=6)
    assert stored.state(event) == "uncertain"
    stored.settle(rounds=12)
    assert stored.state(event) == "confirmed"


def test_a_fresh_result_is_relied_upon_and_an_old_one_is_to_be_measured_again(stored: Lab) -> None:
    contract = measured(stored)
    assert (doubt(stored, contract), doubt(stored, contract, days=91)) == (None, "measured 91 days ago")


@pytest.mark.parametrize("reason", ["several", "late_success", "opportunity_several", "opportunity_unexpected"])
def test_a_double_seen_since_contradicts_the_result(stored: Lab, reason: str) -> None:
    event = stored.form()
    stored.work()
    contract = measured(stored)
    with stored.pool.connection() as conn:
        conn.execute(
            "INSERT INTO items (kind, reason, mode, record_id)"
            " SELECT 'incident', %s, 'live', opportunity_record FROM deliveries WHERE event_id = %s",
            [reason, event],
        )
    told = doubt(stored, contract)
    assert told is not None
    assert "contradicted" in told


def test_an_account_without_a_result_is_as_its_client_says(stored: Lab) -> None:
    wired = stored.desk.wired[account(stored)]
    assert wired.capability(Kind.CONTACT) == wired.client.capability(Kind.CONTACT)
