"""The console and the API as gunicorn serves them, beside the door."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import psycopg

from intake.desk import operators, sessions, tokens
from intake.desk.operators import Secret
from intake.desk.passwords import Passwords
from tests.desk_lab import PASSWORD
from tests.doorway import ANSWERS, SOURCES, as_json, events
from tests.web_process import web


def test_a_lead_that_came_through_the_door_stands_in_the_console_and_the_api(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        operators.add(conn, Passwords(), "ana", "admin", Secret(PASSWORD, must_change=False))
        secret = tokens.add(conn, "ana", "reports", ["read"], timedelta(hours=1))
        ana = operators.find(conn, "ana")
        assert ana is not None
        cookie = f"intake={sessions.begin(conn, ana).token}"
    with web(tmp_path, database_url=database_url, redis_url=redis_url, sources=SOURCES) as served:
        (event,) = events(served.post("web", as_json(ANSWERS), delivery_id="msg_1").document)
        page = served.send("GET", "/console/inbox/all", headers={"Cookie": cookie})
        listed = served.send("GET", "/api/v1/events", headers={"Authorization": f"Bearer {secret}"})
        metrics = served.send("GET", "/metrics")
    assert str(event["event_id"]) in page.body.decode()
    assert [each["event_id"] for each in json.loads(listed.body)["events"]] == [event["event_id"]]
    assert b'intake_open_events{state="received"} 1.0' in metrics.body
