"""What the door refuses is counted by source, reason and hour, and no request waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from flask.testing import FlaskClient
from structlog.testing import capture_logs

from intake.app import build
from intake.db import open_pool
from intake.receive import Door
from intake.refusals import Refusal, Refusals
from tests.doorway import Doorway, doorway


@pytest.fixture
def way(database_url: str, tmp_path: Path) -> Iterator[Doorway]:
    with doorway(database_url, tmp_path) as made:
        yield made


def counted(way: Doorway) -> dict[tuple[str, str], int]:
    rows = way.rows("SELECT source, reason, sum(count)::int AS count FROM refusals GROUP BY 1, 2")
    return {(str(row["source"]), str(row["reason"])): int(str(row["count"])) for row in rows}


NOT_AUTHENTIC = Refusal("live", "web", "not_authentic")


def client(way: Doorway, on_refusal: Callable[[Refusal], object]) -> FlaskClient:
    door = Door(way.settings, way.pool, now=lambda: datetime.now(UTC), new_id=uuid4)
    return build(door, hint=lambda: None, on_refusal=on_refusal).test_client()


def test_each_refusal_is_told_with_its_source_and_reason(way: Doorway) -> None:
    told: list[Refusal] = []
    caller = client(way, told.append)
    caller.post("/hooks/web", data=b"{}")
    caller.post("/hooks/small", data=b"x" * 2000)
    caller.post("/hooks/ana-prueba-987654321", data=b"{}")
    caller.post("/hooks/no-secret", data=b"{}")
    caller.put("/hooks/web", data=b"{}")
    caller.post("/test/hooks/web", data=b"{}")
    assert told == [
        NOT_AUTHENTIC,
        Refusal("live", "small", "too_large"),
        Refusal("live", "", "unknown_source"),
        Refusal("live", "no-secret", "source_closed"),
        Refusal("live", "", "method_not_allowed"),
        Refusal("test", "web", "not_authentic"),
    ]


def test_what_is_accepted_is_no_refusal(way: Doorway) -> None:
    told: list[Refusal] = []
    caller = client(way, told.append)
    body = b'{"name": "Ana", "email": "ana@example.com"}'
    assert caller.post("/hooks/web", data=body, headers=way.signed("web", body)).status_code == 200
    caller.get("/readyz")
    assert told == []


def test_counts_are_added_up_in_the_table(way: Doorway) -> None:
    refusals = Refusals(way.pool)
    for _ in range(2):
        for _ in range(3):
            refusals.count(NOT_AUTHENTIC)
        refusals.count(Refusal("live", "", "unknown_source"))
        refusals.write()
    assert counted(way) == {("web", "not_authentic"): 6, ("", "unknown_source"): 2}


def test_a_flood_writes_a_line_at_its_beginning_and_one_with_their_number(way: Doorway) -> None:
    refusals = Refusals(way.pool)
    with capture_logs() as said:
        for _ in range(500):
            refusals.count(NOT_AUTHENTIC)
        refusals.write()
    assert [(each["event"], each.get("count")) for each in said] == [
        ("delivery refused", None),
        ("deliveries refused", 500),
    ]


def test_a_refused_test_is_told_in_the_log_and_is_no_noise(way: Doorway) -> None:
    refusals = Refusals(way.pool)
    with capture_logs() as said:
        for _ in range(2):
            refusals.count(Refusal("test", "web", "not_authentic"))
        refusals.write()
    assert [(each["event"], each["mode"], each.get("count")) for each in said] == [
        ("delivery refused", "test", None),
        ("deliveries refused", "test", 2),
    ]
    assert counted(way) == {}


def test_counts_are_written_by_themselves(way: Doorway) -> None:
    refusals = Refusals(way.pool, every=0.01)
    refusals.count(NOT_AUTHENTIC)
    until = datetime.now(UTC).timestamp() + 10
    while not counted(way) and datetime.now(UTC).timestamp() < until:
        pass
    assert counted(way) == {("web", "not_authentic"): 1}


def test_counts_wait_for_a_database_that_is_away(way: Doorway) -> None:
    with open_pool("postgresql://nobody@127.0.0.1:1/none", size=1, connect_timeout=1, reconnect_timeout=0.1) as away:
        refusals = Refusals(away)
        refusals.count(NOT_AUTHENTIC)
        refusals.write()
    refusals.pool = way.pool
    refusals.write()
    assert counted(way) == {("web", "not_authentic"): 1}
