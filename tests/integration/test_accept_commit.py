"""Nothing is acknowledged that is not committed, and nothing but the COMMIT is waited for."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
from werkzeug.datastructures import Headers
from werkzeug.test import EnvironBuilder

from intake.queue import Bell
from tests.doorway import ANSWERS, Doorway, as_json, doorway, rows

BODY = as_json(ANSWERS)


@pytest.fixture
def door(database_url: str, tmp_path: Path) -> Iterator[Doorway]:
    with doorway(database_url, tmp_path, patience=2.0) as made:
        yield made


# Runs when everything else of the transaction is done, at its COMMIT.
FAIL_AT_COMMIT = """
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '53100'; END $$;
    CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION fail();
"""
# No space left; idle in a transaction for too long, as after a while in which everything stood still; a standby.
NOT_NOW = ("53100", "25P03", "25006")


@pytest.mark.parametrize("code", NOT_NOW)
def test_a_commit_that_fails_is_no_acknowledgement(door: Doorway, code: str) -> None:
    with psycopg.connect(door.database_url) as conn:
        conn.execute(FAIL_AT_COMMIT.replace("53100", code))
    answer = door.post("web", BODY)
    assert (answer.status_code, answer.get_json()["error"]) == (503, "storage_unavailable")
    assert (door.count("events"), door.count("receipts"), door.hints) == (0, 0, [])


def test_what_failed_at_its_commit_is_accepted_when_it_comes_again(door: Doorway) -> None:
    with psycopg.connect(door.database_url) as conn:
        conn.execute(FAIL_AT_COMMIT)
    door.post("web", BODY, delivery_id="msg_a")
    with psycopg.connect(door.database_url) as conn:
        conn.execute("DROP TRIGGER fail ON events")
    found = door.form(delivery_id="msg_a")["events"]
    assert isinstance(found, list)
    assert [each["duplicate"] for each in found] == [False]


def test_the_event_is_committed_when_the_answer_begins(door: Doorway) -> None:
    seen: list[tuple[str, int]] = []

    def start_response(status: str, _headers: object, _error: object = None) -> Callable[[bytes], object]:
        seen.append((status, len(rows(door.database_url, "SELECT FROM events JOIN deliveries USING (event_id)"))))
        return io.BytesIO().write

    list(door.client.application(request_of(door), start_response))
    assert seen == [("200 OK", 1)]


def request_of(door: Doorway) -> dict[str, Any]:
    """An authentic delivery as a WSGI server hands it over."""
    headers = Headers(door.signed("web", BODY))
    return EnvironBuilder(path="/hooks/web", method="POST", data=BODY, headers=headers).get_environ()


def begun(_status: str, _headers: object, _error: object = None) -> Callable[[bytes], object]:
    """WSGI's start_response."""
    return io.BytesIO().write


def test_the_hint_comes_after_the_whole_answer(database_url: str, tmp_path: Path) -> None:
    order: list[str] = []
    with doorway(database_url, tmp_path, hint=lambda: order.append("hint")) as door:
        answer = door.client.application(request_of(door), begun)
        order.extend("piece" for _ in answer)
        order.append("complete")
        answer.close()  # type: ignore[attr-defined]  # WSGI's own, called by the server when all is sent
    assert order == ["piece", "complete", "hint"]


@pytest.mark.parametrize("body", [b"{", as_json({"id": 7})], ids=["quarantined", "ignored"])
def test_what_gives_no_work_wakes_nobody(door: Doorway, body: bytes) -> None:
    assert (door.post("web", body).status_code, door.hints) == (200, [])


def test_a_lock_that_somebody_holds_is_not_waited_for_without_end(door: Doorway) -> None:
    """A careless `LOCK TABLE` in somebody's session: the sender is told to come again."""
    with psycopg.connect(door.database_url) as careless:
        careless.execute("LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
        assert door.post("web", BODY, delivery_id="msg_a").status_code == 503
    assert door.post("web", BODY, delivery_id="msg_a").status_code == 200


def test_connections_that_died_cost_no_delivery(door: Doorway) -> None:
    """All of the pool's connections are ended behind its back, as by a restart of the database."""
    together = [Thread(target=door.form) for _ in range(8)]
    for each in together:
        each.start()
    for each in together:
        each.join()
    with psycopg.connect(door.database_url, autocommit=True) as conn:
        conn.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert [door.post("web", BODY).status_code for _ in range(12)] == [200] * 12


def test_a_value_that_the_database_refuses_is_kept_for_a_person(door: Doorway) -> None:
    with psycopg.connect(door.database_url) as conn:
        conn.execute("ALTER TABLE events ALTER request_id TYPE varchar(3)")
    answer = door.post("web", BODY, delivery_id="msg_too_long").get_json()
    assert (answer["events"], answer["quarantined"]) == ([], 1)
    (item,) = door.rows("SELECT reason, content FROM items JOIN bodies USING (receipt_id)")
    assert item == {"reason": "not_storable", "content": BODY}


def test_a_bell_rings_without_holding_who_pressed_it() -> None:
    rung, go_on = Event(), Event()

    def ring() -> None:
        rung.set()
        go_on.wait(30)

    bell = Bell(ring)
    bell.press()
    assert rung.wait(30)
    bell.press()  # Returns although the first still rings.
    go_on.set()


def test_a_bell_rings_again_after_a_failure() -> None:
    outcomes = [OSError("away"), None]
    second = Event()

    def ring() -> None:
        outcome = outcomes.pop(0)
        if outcome is not None:
            bell.press()
            raise outcome
        second.set()

    bell = Bell(ring)
    bell.press()
    assert second.wait(30)
