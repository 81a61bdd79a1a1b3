"""Leads that a webhook only names: their answers are fetched before anything goes to the CRM."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from intake import decisions
from intake.alerts.conditions import QUICK, holding
from intake.config import Source
from intake.db import transaction
from intake.decisions import Author, Correction
from tests.graph_server import LIMIT, NO_RIGHT, OTHER_TOKEN, Answer, error
from tests.simulation.ads import Ads, ads
from workers import clock, fetch

ME = Author("ana", "a test")
HOUR = timedelta(hours=1, minutes=1)


@pytest.fixture
def meta(database_url: str, tmp_path: Path) -> Iterator[Ads]:
    with ads(database_url, tmp_path) as made:
        yield made


def test_the_answers_are_fetched_and_then_delivered(meta: Ads) -> None:
    event = meta.lead()
    meta.lab.work()
    assert meta.lab.state(event) == "confirmed"
    (contact,) = meta.lab.in_crm("contact")
    assert (contact["name"], contact["email"], contact["phone"]) == ("Ana Prueba", "ana@example.com", "+51987654321")


def test_the_original_is_kept_beside_the_fetched_revision(meta: Ads) -> None:
    event = meta.lead()
    meta.lab.work()
    assert meta.revisions(event) == 2
    (row,) = meta.lab.rows("SELECT revision, reason, tries FROM fetches")
    assert row == {"revision": 2, "reason": None, "tries": 0}


def test_nothing_reaches_the_crm_before_the_answers(meta: Ads) -> None:
    meta.graph.instead = [error(500, {"message": "down"})] * 3
    event = meta.lead()
    meta.lab.work()
    assert (meta.lab.state(event), meta.lab.delivery(event)["reason"]) == ("waiting", "fetch_failed")
    assert meta.lab.in_crm("contact") == []


@pytest.mark.parametrize("fault", [
    error(500, {"message": "down"}), error(400, LIMIT), Answer(429, b"", {"Retry-After": "30"}), Answer(200, b"<html>"),
    Answer(200, b'{"id": "9999", "field_data": []}'), Answer(302, b"", {"Location": "http://127.0.0.1:9/"}),
])  # fmt: skip
def test_a_read_that_fails_is_made_again(meta: Ads, fault: Answer) -> None:
    meta.graph.instead = [fault]
    event = meta.lead()
    meta.lab.settle(rounds=2)
    assert meta.lab.state(event) == "confirmed"
    assert len(meta.graph.asked) == 2


def test_the_token_goes_nowhere_but_into_its_header(meta: Ads) -> None:
    meta.lead()
    meta.lab.work()
    assert [(each.path, dict(each.query)) for each in meta.graph.asked] == [("/1001", {})]


def test_a_dead_token_parks_the_lane_and_not_each_lead(meta: Ads) -> None:
    meta.graph.tokens.clear()
    events = [meta.lead(f"100{number}") for number in range(5)]
    meta.lab.work()
    assert meta.lanes() == ["token_refused"]
    assert [meta.lab.delivery(each)["reason"] for each in events] == ["fetch_parked"] * 5
    assert len(meta.graph.asked) == 1
    assert meta.lab.rows("SELECT FROM items") == []


def test_a_parked_lane_is_one_condition(meta: Ads) -> None:
    meta.graph.tokens.clear()
    for number in range(3):
        meta.lead(f"100{number}")
    meta.lab.work()
    meta.lab.pass_time(HOUR)
    with meta.lab.pool.connection() as conn:
        found = {(each.name, each.subject, each.count) for each in holding(conn, meta.lab.settings, QUICK)}
    assert ("fetch_parked", "ads", 3) in found
    assert {name for name, _, _ in found} & {"promise", "review"} == set()


def test_a_token_that_works_again_lets_all_go_on(meta: Ads) -> None:
    meta.graph.tokens.clear()
    events = [meta.lead(f"100{number}", full_name=f"Ana {number}") for number in range(5)]
    meta.lab.work()
    meta.graph.tokens.add(OTHER_TOKEN)
    meta.use_token(OTHER_TOKEN)
    meta.lab.settle(rounds=3)
    assert [meta.lab.state(each) for each in events] == ["confirmed"] * 5
    assert meta.lanes() == []


def test_without_a_token_leads_wait_for_one(database_url: str, tmp_path: Path) -> None:
    with ads(database_url, tmp_path, token=None) as meta:
        event = meta.lead()
        meta.lab.work()
        assert (meta.lab.delivery(event)["reason"], meta.graph.asked) == ("fetch_parked", [])


def test_a_lead_that_is_gone_is_a_persons(meta: Ads) -> None:
    event = meta.webhook("1001")
    meta.lab.work()
    assert (meta.lab.state(event), meta.lab.delivery(event)["reason"]) == ("review", "lead_gone")


def test_what_a_person_typed_in_is_delivered_without_the_answers(meta: Ads) -> None:
    event = meta.webhook("1001")
    meta.lab.work()
    with meta.lab.pool.connection() as conn:
        decisions.correct(conn, ME, event, Correction({"name": "Rosa Prueba", "phone": "987654321"}, "PE", gated=False))
    meta.lab.work()
    assert meta.lab.state(event) == "confirmed"
    assert [each["name"] for each in meta.lab.in_crm("contact")] == ["Rosa Prueba"]


def test_a_revived_lead_is_asked_for_again(meta: Ads) -> None:
    event = meta.webhook("1001")
    meta.lab.work()
    meta.graph.add_lead("1001", full_name="Ana Prueba", email="ana@example.com")
    with meta.lab.pool.connection() as conn:
        decisions.revive(conn, ME, event)
    meta.lab.work()
    assert meta.lab.state(event) == "confirmed"


def test_one_lead_out_of_reach_does_not_keep_the_others(meta: Ads) -> None:
    meta.graph.refused["/1001"] = NO_RIGHT
    odd = meta.lead("1001")
    good = meta.lead("1002", full_name="Luis Prueba", email="luis@example.com")
    meta.lab.settle(rounds=8)
    assert (meta.lab.state(good), meta.lab.state(odd)) == ("confirmed", "waiting")


def test_tries_have_an_end(meta: Ads) -> None:
    event = meta.lead()
    with transaction(meta.lab.pool) as conn:
        conn.execute("UPDATE fetches SET tries = %s", [fetch.MOST_TRIES])
    meta.graph.instead = [error(500, {"message": "down"})]
    meta.lab.work()
    assert (meta.lab.state(event), meta.lab.delivery(event)["reason"]) == ("review", "fetch_used_up")


def test_approval_comes_with_the_answers_already_there(database_url: str, tmp_path: Path) -> None:
    with ads(database_url, tmp_path, approval="required") as meta:
        event = meta.lead()
        meta.lab.work()
        assert (meta.lab.state(event), meta.revisions(event)) == ("awaiting_approval", 2)


def test_a_tests_answers_go_to_the_test_destination(meta: Ads) -> None:
    meta.graph.add_lead("1001", full_name="Ana Prueba", email="ana@example.com")
    event = meta.webhook("1001", mode="test")
    meta.lab.work()
    assert (meta.lab.state(event), meta.lab.delivery(event)["destination"]) == ("confirmed", "playground")


def test_a_worker_that_dies_while_reading_loses_nothing(meta: Ads) -> None:
    class Died(Exception):
        pass

    def die(boundary: str) -> None:
        if boundary == "fetch.read":
            raise Died

    event = meta.lead()
    alive = meta.lab.desk
    meta.lab.desk = meta.lab.other_desk(at=die)
    with pytest.raises(Died):
        meta.lab.work()
    meta.lab.desk = alive
    meta.lab.settle(rounds=2)
    assert meta.lab.state(event) == "confirmed"


# --- a source that is not configured any more -------------------------------------------------------------------------


def without_ads(meta: Ads) -> dict[str, Source]:
    return {name: each for name, each in meta.lab.settings.sources.items() if name != "ads"}


def test_what_is_due_of_a_removed_source_is_parked_and_not_hinted_at_for_ever(meta: Ads) -> None:
    events = [meta.lead(f"100{number}") for number in range(3)]
    meta.use_sources(without_ads(meta))
    meta.lab.work()
    for _ in range(2):  # The lane is put off when its control is due, too.
        assert meta.lanes() == ["source_unknown"]
        assert [meta.lab.delivery(each)["reason"] for each in events] == ["fetch_parked"] * 3
        assert clock.tick(meta.lab.pool, name="lab").due is False
        meta.lab.pass_time(fetch.CONTROL_AGAIN)
        meta.lab.work()
    with meta.lab.pool.connection() as conn:
        found = {(each.name, each.subject, each.count) for each in holding(conn, meta.lab.settings, QUICK)}
    assert ("fetch_parked", "ads", 3) in found


def test_a_source_that_is_configured_again_lets_its_leads_go_on(meta: Ads) -> None:
    event = meta.lead()
    known = meta.lab.settings.sources
    meta.use_sources(without_ads(meta))
    meta.lab.work()
    meta.use_sources(known)
    meta.lab.settle(rounds=3)
    assert (meta.lab.state(event), meta.lanes()) == ("confirmed", [])


def test_a_lane_of_a_removed_source_that_was_parked_before_stays_parked_for_its_reason(meta: Ads) -> None:
    meta.graph.tokens.clear()
    meta.lead()
    meta.lab.work()
    meta.use_sources(without_ads(meta))
    meta.lab.pass_time(HOUR)
    meta.lab.work()
    assert meta.lanes() == ["token_refused"]
    assert clock.tick(meta.lab.pool, name="lab").due is False
