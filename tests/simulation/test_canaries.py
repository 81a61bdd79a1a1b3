"""A person's data is fed through every path, and no byte of it gets into a log, an alert, an error or an address."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal

import psycopg
import pytest
from structlog.testing import capture_logs

from intake.config import Secret
from tests.commands import beside, intake
from tests.lab import Lab
from tests.simulation.intruder import Intruder, reconciled
from tests.simulation.watching import AGAIN, Told, watching
from workers import clock

# Whatever a person may leave: each value holds one of these, and nothing else in the system does.
CANARIES = ("zxqvcanary", "55500177", "20555001770")
NAME, EMAIL, TEXT = "Zxqvcanary Prueba", "zxqvcanary@example.com", "zxqvcanary quiere sillas"
PHONE, WA, RUC = "955500177", "51955500177", "20555001770"
PERSON = {
    "name": NAME, "email": EMAIL, "phone": PHONE, "message": TEXT, "company": "Zxqvcanary SAC", "ruc": RUC,
    "utm_source": "zxqvcanary", "zxqvcanary": "zxqvcanary",
}  # fmt: skip


def variants(number: int) -> dict[str, str]:
    """The same, as another person."""
    return PERSON | {"email": f"zxqvcanary{number}@example.com", "phone": f"9{number}5500177"}


@dataclass(slots=True)
class Heard:
    """All that got out, by where."""

    said: dict[str, str] = field(default_factory=dict)

    def add(self, where: str, text: object) -> None:
        self.said[where] = self.said.get(where, "") + str(text)

    def found(self) -> set[tuple[str, str]]:
        """Where a canary stands."""
        return {(where, one) for where, text in self.said.items() for one in CANARIES if one in text.lower()}


def feed(told: Told) -> set[str]:
    """Every kind, and every end that it can come to; returns the states that there are."""
    lab, dials = told.lab, told.lab.dials
    lab.form(**PERSON)
    lab.form(mode="test", **PERSON)
    lab.whatsapp(TEXT, "zxqvcanary otra vez", sender=WA, name=NAME)
    lab.quote("COT-zxqvcanary", contact={"name": NAME, "phone": PHONE, "email": EMAIL, "ruc": RUC}, message=TEXT)
    lab.quote("COT-zxqvcanary", 2, contact={"name": NAME, "phone": PHONE, "email": EMAIL}, message=TEXT)
    lab.settle(2)
    # uncertain: the CRM failed and executed nothing, and its look sees nothing yet
    dials.fault("500_without_effect", match={"what": "create", "kind": "opportunity"})
    lab.form(**variants(2))
    lab.work()
    # review: the CRM refuses the content, and quotes it
    dials.fault("422", match={"what": "create", "kind": "contact"}, fields={"email": f"{EMAIL} is not free."})
    lab.form(**variants(3))
    lab.work()
    # conflict: other content under a known identity
    lab.form(delivery_id="zxqvcanary-1", **variants(4))
    lab.form(delivery_id="zxqvcanary-1", **variants(4) | {"message": "zxqvcanary: otro"})
    # quarantine: nobody can read it; a value that no database takes
    lab.post("web", b'{"name": "zxqvcanary", ')
    lab.post("web", json.dumps({"name": "zxqvcanary\x00", "email": EMAIL}).encode(), delivery_id="z\x01")
    refuse(told)
    lab.work()
    rows = lab.rows("SELECT state FROM deliveries UNION SELECT kind FROM items WHERE closed_at IS NULL")
    return {str(row["state"]) for row in rows}


def refuse(told: Told) -> None:
    """Not authentic, to no source of ours, in no form."""
    door = told.lab.door
    for path in ("web", "wa", "quotes", "zxqvcanary", f"web?email={EMAIL}"):
        door.post(f"/hooks/{path}", data=json.dumps(PERSON), headers={"X-Token": "zxqvcanary", "Referer": "zxqvcanary"})
        door.get(f"/hooks/{path}")


def fail(told: Told) -> None:
    """Errors in the middle: of the database, whose own words quote the row, and of the CRM."""
    lab = told.lab
    with psycopg.connect(lab.database_url) as conn:
        conn.execute("ALTER TABLE events ADD CONSTRAINT odd CHECK (request_id <> 'zxqvcanary-odd')")
    lab.post("web", json.dumps(PERSON).encode(), delivery_id="zxqvcanary-odd")
    lab.dials.fault("garbage", times=None)
    lab.form(**variants(5))
    lab.work()
    lab.dials.replace_faults([{"fault": "401", "times": None}])
    lab.form(**variants(6))
    lab.work()
    told.round(timedelta(minutes=20))
    lab.dials.no_faults()


def sabotage(told: Told) -> None:
    """Incidents that a reconciliation finds."""
    Intruder(told.lab).sql("DELETE FROM deliveries WHERE state = 'confirmed'")
    reconciled(told.lab)


def command(told: Told, folder: Path, heard: Heard) -> None:
    """What commands say, and what they refuse."""
    environ = beside(told.lab, folder)
    (review,) = told.lab.rows(
        "SELECT event_id FROM deliveries WHERE state = 'review' AND reason = 'validation' LIMIT 1"
    )
    for words in (
        ("correct", review["event_id"], f"email={EMAIL}x@", f"phone=zxqvcanary{PHONE}"),
        ("correct", review["event_id"], "nombre=zxqvcanary"),
        ("settle", review["event_id"], "applied", "--crm-id", "zx-none"),
        ("show", "zx"),
        ("alerts",),
        ("alerts", "--json"),
        ("reconcile",),
        ("reconcile", "--history"),
    ):
        decided = ("--by", "rosa", "--reason", "x") if words[0] in {"correct", "settle"} else ()
        said = intake(environ, *words, *decided)
        heard.add(f"intake {words[0]}", said.out + said.err)


@pytest.fixture(params=["slack", "json"])
def told(request: pytest.FixtureRequest, stored: Lab) -> Iterator[Told]:
    form: Literal["slack", "json"] = request.param
    with watching(stored, form=form) as made:
        made.with_alerts(heartbeat_url=Secret("env:B", f"{made.hook.url}/ping/abc"))
        yield made


def test_no_byte_of_a_person_gets_out(told: Told, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    heard = Heard()
    with capture_logs() as logs, caplog.at_level(logging.INFO):
        states = feed(told)
        told.round()
        fail(told)
        sabotage(told)
        told.round(AGAIN)
        soon = told.clock.astimezone(told.watch.settings.timezone).time().replace(microsecond=0)
        told.with_alerts(digest_at=soon)
        clock.tick(told.lab.pool, name="lab")
        told.round(timedelta(minutes=30))
        command(told, tmp_path, heard)
    assert {"confirmed", "uncertain", "review", "conflict", "quarantine"} <= states
    heard.add("log", logs)
    heard.add("library log", caplog.text)
    heard.add("webhook", told.hook.raw)
    heard.add("e-mail", told.mail.letters)
    heard.add("outbox", told.lab.rows("SELECT content::text, failure FROM outbox"))
    heard.add("conditions", told.lab.rows("SELECT * FROM conditions"))
    heard.add("refusals", told.lab.rows("SELECT * FROM refusals"))
    heard.add("incidents", told.lab.rows("SELECT reason, subject, evidence::text FROM items WHERE subject IS NOT NULL"))
    assert heard.found() == set()
    for where in ("log", "webhook", "e-mail", "outbox", "conditions", "intake correct", "intake alerts"):
        assert len(heard.said[where]) > 100, where


def test_a_canary_would_be_noticed() -> None:
    heard = Heard()
    heard.add("log", {"event": f"delivery of {EMAIL.upper()}"})
    assert heard.found() == {("log", "zxqvcanary")}
