"""What a sender's webhooks lost is asked for, and goes through the same identity as everything else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from intake import pulls
from intake.alerts.conditions import QUICK, holding
from intake.db import transaction
from tests.graph_server import Answer
from tests.simulation.ads import Ads, ads
from tests.simulation.shop import Shop, order, shop
from workers import pull
from workers.pull import PullFailed, PullStopped

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 19, tzinfo=UTC)


@pytest.fixture
def meta(database_url: str, tmp_path: Path) -> Iterator[Ads]:
    with ads(database_url, tmp_path) as made:
        yield made


@pytest.fixture
def woo(database_url: str, tmp_path: Path) -> Iterator[Shop]:
    with shop(database_url, tmp_path) as made:
        yield made


def pulled(made: Ads | Shop, since: datetime) -> tuple[int, int, int]:
    """New, duplicate, updates."""
    name = "ads" if isinstance(made, Ads) else "shop"
    done = pull.pull(made.lab.desk, made.lab.settings.sources[name], since)
    return done.new, done.duplicate, done.updates


def test_leads_that_no_webhook_brought_are_found(meta: Ads) -> None:
    meta.graph.add_form("500", "1001", "1002", "1003", "1004", "1005")
    for number in range(1, 6):
        meta.graph.add_lead(f"100{number}", full_name=f"Ana {number}", email=f"ana{number}@example.com")
    assert pulled(meta, MARCH) == (5, 0, 0)
    meta.lab.work()
    assert len(meta.lab.in_crm("opportunity")) == 5


def test_a_lead_that_the_webhook_brought_is_a_duplicate(meta: Ads) -> None:
    meta.lead("1001")
    meta.graph.add_form("500", "1001", "1002")
    assert pulled(meta, MARCH) == (1, 1, 0)
    assert meta.lab.rows("SELECT FROM items") == []


def test_a_webhook_after_a_pull_is_a_duplicate(meta: Ads) -> None:
    meta.graph.add_form("500", "1001")
    pulled(meta, MARCH)
    meta.webhook("1001")
    assert len(meta.lab.rows("SELECT FROM events")) == 1
    assert meta.lab.rows("SELECT FROM items") == []


def test_older_leads_are_left_even_if_meta_gives_them(meta: Ads) -> None:
    meta.graph.add_form("500", "1001", at="2026-02-01T00:00:00+0000")
    assert pulled(meta, MARCH) == (0, 0, 0)


def test_no_request_follows_an_address_that_holds_a_token(meta: Ads) -> None:
    meta.graph.add_form("500", "1001", "1002", "1003")
    pulled(meta, MARCH)
    assert [each.path for each in meta.graph.asked] == ["/me/leadgen_forms", "/500/leads", "/500/leads"]
    assert all("access_token" not in each.query for each in meta.graph.asked)


def test_a_dead_token_is_told(meta: Ads) -> None:
    meta.graph.tokens.clear()
    with pytest.raises(PullFailed, match="token_refused"):
        pulled(meta, MARCH)


def test_all_pages_of_orders_are_read(woo: Shop) -> None:
    woo.orders = [order(number) for number in range(1, 251)]
    assert pulled(woo, NOVEMBER) == (250, 0, 0)
    assert [each.query["page"] for each in woo.api.asked] == [["1"], ["2"], ["3"], ["4"]]


def test_an_order_that_the_webhook_brought_is_a_duplicate(woo: Shop) -> None:
    woo.webhook(order(1))
    woo.orders = [order(1), order(2)]
    assert pulled(woo, NOVEMBER) == (1, 1, 0)


def test_an_order_that_changed_is_an_update(woo: Shop) -> None:
    woo.webhook(order(1, status="pending"))
    woo.orders = [order(1, status="completed")]
    assert pulled(woo, NOVEMBER) == (0, 0, 1)


def test_pulled_receipts_say_so(woo: Shop) -> None:
    woo.orders = [order(1)]
    pulled(woo, NOVEMBER)
    (receipt,) = woo.lab.rows("SELECT headers FROM receipts")
    assert pulls.PULLED in dict(receipt["headers"])  # type: ignore[call-overload]  # it is a JSON object


def test_a_shop_that_knows_no_times_gives_no_history(woo: Shop) -> None:
    woo.ignores = True
    woo.orders = [order(1, changed="2024-01-01T10:00:00"), order(2)]
    assert pulled(woo, NOVEMBER) == (1, 0, 0)


@pytest.mark.parametrize("fault", [
    Answer(200, b"<html>"), Answer(200, b"{}"), Answer(200, b"[1]"), Answer(401), Answer(500), Answer(302),
    Answer(200, b"[" * 100_000),
])  # fmt: skip
def test_whatever_a_shop_answers_is_told(woo: Shop, fault: Answer) -> None:
    woo.api.instead = [fault]
    with pytest.raises(PullFailed):
        pulled(woo, NOVEMBER)


def test_a_pull_that_is_told_to_stop_ends_after_its_page(woo: Shop) -> None:
    woo.orders = [order(number) for number in range(1, 102)]
    desk = replace(woo.lab.desk, stopping=lambda: len(woo.api.asked) == 1)
    with pytest.raises(PullStopped) as stopped:
        pull.pull(desk, woo.lab.settings.sources["shop"], NOVEMBER)
    assert (stopped.value.counts.new, len(woo.lab.rows("SELECT FROM events"))) == (100, 100)


def test_a_pull_of_many_forms_stops_between_two_of_them(meta: Ads) -> None:
    meta.graph.add_form("500", "1001")
    meta.graph.add_form("501", "1002")
    desk = replace(meta.lab.desk, stopping=lambda: len(meta.graph.asked) == 2)
    with pytest.raises(PullStopped) as stopped:
        pull.pull(desk, meta.lab.settings.sources["ads"], MARCH)
    assert stopped.value.counts.new == 1


# --- by the clock ---------------------------------------------------------------------------------------------------


def plan(woo: Shop) -> None:
    with transaction(woo.lab.pool) as conn:
        pulls.plan(conn, woo.lab.settings)


def now(offset: timedelta = timedelta(0)) -> str:
    return (datetime.now(UTC) + offset).strftime("%Y-%m-%dT%H:%M:%S")


def test_a_source_is_pulled_by_the_clock(woo: Shop) -> None:
    woo.orders = [order(1, changed=now())]
    plan(woo)
    woo.lab.work()
    assert len(woo.lab.in_crm("opportunity")) == 1
    assert len(woo.api.asked) == 2


def test_it_is_not_pulled_again_before_its_time(woo: Shop) -> None:
    plan(woo)
    woo.lab.work()
    asked = len(woo.api.asked)
    plan(woo)
    woo.lab.work()
    assert len(woo.api.asked) == asked
    woo.lab.pass_time(timedelta(minutes=16))
    woo.lab.work()
    assert len(woo.api.asked) > asked


def test_after_a_failure_the_next_pull_begins_where_that_one_did(woo: Shop) -> None:
    plan(woo)
    woo.lab.work()
    woo.lab.pass_time(timedelta(minutes=16))
    woo.api.instead = [Answer(500)] * 20
    woo.lab.work()
    (failed,) = woo.lab.rows("SELECT failure, read_until FROM pulls")
    assert failed["failure"] == "status_500"
    woo.api.instead = []
    woo.lab.pass_time(timedelta(minutes=6))
    woo.lab.work()
    (good,) = woo.lab.rows("SELECT failure, read_until FROM pulls")
    assert good["failure"] is None
    assert str(good["read_until"]) > str(failed["read_until"])


def test_a_pull_that_was_stopped_is_taken_again_at_once_from_where_it_began(woo: Shop) -> None:
    woo.orders = [order(number, changed=now()) for number in range(1, 102)]
    plan(woo)
    (before,) = woo.lab.rows("SELECT read_until FROM pulls")
    assert pull.pull_due(replace(woo.lab.desk, stopping=lambda: len(woo.api.asked) == 1))
    (stopped,) = woo.lab.rows("SELECT read_until, failure, due_at <= clock_timestamp() AS due FROM pulls")
    assert stopped == {**before, "failure": None, "due": True}
    assert pull.pull_due(woo.lab.desk)
    assert len(woo.lab.rows("SELECT FROM events")) == 101


def test_a_shop_that_cannot_be_asked_for_long_is_a_condition(woo: Shop) -> None:
    plan(woo)
    woo.api.tokens.clear()
    woo.lab.work()
    woo.lab.pass_time(timedelta(hours=2))
    woo.lab.work()
    with woo.lab.pool.connection() as conn:
        found = {(each.name, each.subject) for each in holding(conn, woo.lab.settings, QUICK)}
    assert ("pull_failed", "shop") in found


def test_what_changed_at_the_edge_of_two_pulls_is_not_missed(woo: Shop) -> None:
    plan(woo)
    woo.lab.work()
    woo.orders = [order(1, changed=now(-timedelta(minutes=1)))]  # before the end of the pull, and shown after it
    woo.lab.pass_time(timedelta(minutes=16))
    woo.lab.work()
    assert len(woo.lab.in_crm("opportunity")) == 1


def test_a_source_without_its_setting_is_pulled_no_more(woo: Shop) -> None:
    plan(woo)
    settings = woo.lab.settings
    with transaction(woo.lab.pool) as conn:
        pulls.plan(conn, type(settings)({}, settings.destinations))
    woo.lab.work()
    assert woo.api.asked == []
