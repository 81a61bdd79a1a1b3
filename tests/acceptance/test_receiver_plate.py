"""Which installation listens here: told to anybody, and nothing else with it."""

from __future__ import annotations

import psycopg

from intake import doorplate, installation
from tests.doorway import Doorway


def test_a_door_says_whose_it_is(any_door: Doorway) -> None:
    with psycopg.connect(any_door.database_url) as conn:
        found = installation.read(conn)
    answer = any_door.client.get(doorplate.PATH)
    assert (answer.status_code, answer.get_json()) == (200, {"installation": doorplate.words(found)})
    assert answer.headers["Cache-Control"] == "no-store"


def test_the_plate_does_not_tell_the_id(any_door: Doorway) -> None:
    with psycopg.connect(any_door.database_url) as conn:
        found = installation.read(conn)
    assert doorplate.words(found) not in found.mark.replace("-", "")


def test_a_plate_takes_no_delivery(any_door: Doorway) -> None:
    answer = any_door.client.post(doorplate.PATH, data=b"{}")
    assert (answer.status_code, answer.get_json()["error"]) == (404, "unknown_source")


def test_a_door_whose_database_is_another_or_none_says_that_it_cannot_tell(door: Doorway) -> None:
    with psycopg.connect(door.database_url) as conn:
        conn.execute("DELETE FROM installation")
    assert door.client.get(doorplate.PATH).status_code == 503
