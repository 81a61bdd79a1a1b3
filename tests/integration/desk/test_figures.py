"""How it goes, in figures that agree with what happened, and in charts that need no colour."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from intake.console import charts
from intake.console import figures as drawn
from intake.desk import figures
from intake.desk.figures import Day, Figures
from tests.integration.desk.conftest import Scene


@pytest.fixture
def found(scene: Scene) -> Figures:
    with scene.lab.pool.connection() as conn:
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return figures.figures(conn, midnight=midnight, zone="UTC")


def number(scene: Scene, query: str) -> int:
    (row,) = scene.lab.rows(query)
    return int(str(row["n"]))


def test_days_hold_all_that_came_and_what_of_it_stands_in_the_crm(scene: Scene, found: Figures) -> None:
    came = number(scene, "SELECT count(*) AS n FROM events WHERE mode = 'live'")
    stands = number(
        scene,
        "SELECT count(*) AS n FROM deliveries d WHERE mode = 'live' AND state = 'confirmed'"
        " AND generation = (SELECT max(generation) FROM deliveries WHERE event_id = d.event_id)",
    )
    assert sum(each.accepted for each in found.days) == came
    assert sum(each.confirmed for each in found.days) == stands


# One event after the other, as nobody would ask among millions.
PLAINLY = """
    SELECT (e.received_at AT TIME ZONE 'America/Lima')::date AS day, e.source, count(*) AS accepted,
           count(*) FILTER (WHERE d.state = 'confirmed') AS confirmed
      FROM events e
      JOIN deliveries d ON d.event_id = e.event_id
       AND d.generation = (SELECT max(generation) FROM deliveries WHERE event_id = e.event_id)
     WHERE e.mode = 'live' GROUP BY 1, 2 ORDER BY 1, 2
"""


def test_days_are_counted_as_if_event_by_event(scene: Scene) -> None:
    lima = ZoneInfo("America/Lima")
    midnight = datetime.now(lima).replace(hour=0, minute=0, second=0, microsecond=0)
    with scene.lab.pool.connection() as conn:
        days = figures.figures(conn, midnight=midnight, zone="America/Lima").days
    assert [asdict(each) for each in days] == scene.lab.rows(PLAINLY)


def test_where_many_came_speed_and_cost_are_of_the_latest(scene: Scene, found: Figures) -> None:
    with scene.lab.pool.connection() as conn:
        few = figures.figures(conn, midnight=datetime.now(UTC), zone="UTC", most=3)
    assert found.shorter is None
    assert few.shorter is not None
    assert few.shorter < figures.LATELY
    assert few.arrived <= 3 < found.arrived


def test_each_channel_says_how_long_it_takes(found: Figures) -> None:
    assert {each.kind for each in found.channels} == {"form", "whatsapp", "quote"}
    assert all(0 <= each.p50 <= each.p95 for each in found.channels)


def test_what_waits_is_counted_by_its_age(scene: Scene, found: Figures) -> None:
    assert sum(found.items) == number(scene, "SELECT count(*) AS n FROM items WHERE closed_at IS NULL")
    assert len(found.items) == len(found.moving) == len(figures.AGES) + 1


def test_a_lead_costs_a_write_at_least(found: Figures) -> None:
    assert found.attempts >= 1
    assert found.arrived == sum(each.count for each in found.channels)


def test_the_page_draws_each_chart_with_its_table(scene: Scene) -> None:
    page = scene.desk.person("viewer").page("/console/figures")
    assert page.count("<svg") == page.count("Ver la tabla") == 3
    assert all(re.search(r'role="img" aria-label="[^"]+"', each) for each in re.findall(r"<svg[^>]*>", page))


TODAY = date(2026, 11, 29)


def test_a_day_without_a_lead_has_its_place() -> None:
    chart = drawn.by_day([Day(TODAY, "web", 4, 3), Day(TODAY, "wa", 6, 5)], TODAY)
    assert [each.label for each in chart.pairs] == [str((TODAY - timedelta(days=n)).day) for n in range(13, -1, -1)]
    assert (chart.pairs[-1].outlined.number, chart.pairs[-1].filled.number) == ("10", "8")
    assert chart.pairs[0].outlined.height == 0


def test_what_is_more_is_drawn_larger_and_within_the_drawing() -> None:
    upright = charts.columns(["1", "2"], [10, 5], [10, 0])
    assert upright.pairs[0].outlined.height == 2 * upright.pairs[1].outlined.height == charts.TALL
    lying = charts.rows(["a", "b"], [8.0, 2.0], [4.0, 0.0], [("8", "4"), ("2", "0")])
    bars = [each for pair in lying.pairs for each in (pair.outlined, pair.filled)]
    assert [each.width / bars[0].width for each in bars[:3]] == [1, 0.5, 0.25]
    assert all(each.x + each.width <= charts.WIDTH for each in bars)


@pytest.mark.parametrize(("seconds", "told"), [(0.4, "0.4 s"), (59.94, "59.9 s")])
def test_seconds_are_told_shortly(seconds: float, told: str) -> None:
    assert drawn.seconds(seconds) == told


def test_nothing_at_all_can_be_drawn() -> None:
    assert all(each.outlined.height == 0 for each in drawn.by_day([], TODAY).pairs)
    assert charts.rows([], [], [], []).height == 0
