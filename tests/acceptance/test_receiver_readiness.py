"""What a load balancer and an operator are told."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

import psycopg
import pytest

from intake.heartbeats import beat
from tests.doorway import Doorway


def ready(door: Doorway) -> dict[str, object]:
    answer = door.client.get("/readyz")
    assert answer.status_code == 200
    document: dict[str, object] = answer.get_json()
    return document


def processes(door: Doorway) -> dict[str, dict[str, float]]:
    found = ready(door)["processes"]
    assert isinstance(found, dict)
    return found


def beats(door: Doorway, process: Literal["clock", "worker"], name: str, *, ago: timedelta = timedelta()) -> None:
    with psycopg.connect(door.database_url) as conn:
        beat(conn, process=process, name=name)
        conn.execute("UPDATE heartbeats SET at = at - %s WHERE name = %s", [ago, name])


def test_health_says_that_the_process_lives(any_door: Doorway) -> None:
    answer = any_door.client.get("/healthz")
    assert (answer.status_code, answer.get_json()) == (200, {"ok": True})


def test_a_door_that_can_accept_is_ready_without_any_worker(door: Doorway) -> None:
    assert (ready(door)["ok"], processes(door)) == (True, {})


def test_readiness_names_what_is_closed(any_door: Doorway) -> None:
    assert ready(any_door)["closed_sources"] == ["no-secret"]


def test_readiness_tells_when_the_clock_ticked_last(door: Doorway) -> None:
    beats(door, "clock", "old", ago=timedelta(hours=1))
    beats(door, "clock", "new", ago=timedelta(seconds=90))
    assert processes(door)["clock"]["age_seconds"] == pytest.approx(90, abs=15)


def test_readiness_counts_the_workers_that_live(door: Doorway) -> None:
    for name, ago in (("a", 0), ("b", 5), ("dead", 3600)):
        beats(door, "worker", name, ago=timedelta(seconds=ago))
    assert processes(door)["worker"]["alive"] == 2
