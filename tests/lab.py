"""A whole pipeline in one process, for tests: the real door, the real workers, a real database, the sandbox CRM.

Nothing runs by itself.  A test sends deliveries, lets the workers take one piece of work after another, and lets time
pass by moving every stored time into the past: the database's clock is the only one, so that is all that time is.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import psycopg
from flask.testing import FlaskClient
from psycopg.rows import dict_row
from werkzeug.test import TestResponse

from crm_clients.sandbox.dials import Dials
from crm_clients.sandbox.profiles import profile as sandbox_profile
from crm_clients.sandbox.server import running
from crm_clients.transport import Transport
from intake import installation
from intake.app import build
from intake.at_rest import NONE, Keys
from intake.attempts import Patience
from intake.config import Settings, load
from intake.db import Pool, open_pool
from intake.sources import PROVIDERS, find
from tests import unhurried
from workers import checks, clock, drain
from workers.desk import Desk
from workers.prove import timetable
from workers.prove.commits import telling
from workers.prove.named_commits import named
from workers.wiring import wire

SECRET = "whsec_" + "c2VjcmV0LW9mLXR3ZW50eS1mb3VyLWJ5dGVz"
META_SECRET = "meta-app-secret"
ENVIRON = {"WEB_SECRET": SECRET, "META_SECRET": META_SECRET, "VERIFY": "verify-me", "QUOTE_SECRET": SECRET}

CONFIG = """
[[destinations]]
name = "crm"
client = "sandbox"
base_url = "{url}"
currency = "PEN"
[destinations.owner]
rule = "affinity, round_robin"
users = ["ana", "luis"]
[destinations.options]
profile = "{profile}"
limit_seconds = "{limit}"
{lag}

[[destinations]]
name = "playground"
client = "sandbox"
base_url = "{url}"
mode = "test"
[destinations.options]
profile = "{profile}"

[defaults]
destination = "crm"
test_destination = "playground"
"""

SOURCES = """
[[sources]]
name = "web"
kind = "form"
provider = "standard_webhooks"
secrets = ["env:WEB_SECRET"]

[[sources]]
name = "wa"
kind = "whatsapp"
provider = "whatsapp_cloud"
secrets = ["env:META_SECRET"]
verify_token = "env:VERIFY"
debounce_seconds = 0

[[sources]]
name = "quotes"
kind = "quote"
provider = "quote"
secrets = ["env:QUOTE_SECRET"]
"""

# Long enough for a slow machine; a test that waits for a time-out brings its own.
PATIENCE = Patience(
    lease=timedelta(seconds=30),
    send_within=timedelta(seconds=10),
    call=timedelta(seconds=10),
    look=timedelta(seconds=10),
)

Json = dict[str, object]


@dataclass(slots=True)
class Lab:
    """`at` is called at every boundary of a worker, and may raise or block."""

    database_url: str
    settings: Settings
    pool: Pool
    door: FlaskClient
    desk: Desk
    dials: Dials
    hints: list[str] = field(default_factory=list)
    counter: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    # --- sending ---

    def post(self, source: str, body: bytes, *, mode: str = "live", delivery_id: str | None = None) -> TestResponse:
        """A correctly signed delivery."""
        configured = self.settings.sources[source]
        path = f"/hooks/{source}" if mode == "live" else f"/test/hooks/{source}"
        headers = find(configured.provider).sign(
            body,
            secret=configured.secret_values[0],
            url=self.settings.public_base_url + path,
            now=datetime.now(UTC),
            delivery_id=delivery_id or f"msg_{next(self.counter)}",
        )
        return self.door.post(path, data=body, headers=dict(headers))

    def form(self, *, mode: str = "live", delivery_id: str | None = None, **answers: str) -> UUID:
        """One form; returns its event_id.  Answers that are not given are invented."""
        given = {"name": "Ana Prueba", "email": "ana@example.com", "phone": "987654321", "message": "Hola"} | answers
        body = json.dumps({name: value for name, value in given.items() if value}).encode()
        return self.only_event(self.post("web", body, mode=mode, delivery_id=delivery_id))

    def quote(self, number: str = "COT-1", version: int = 1, amount: str = "100.00", **more: object) -> UUID:
        """One version of a quote; returns its event_id."""
        body: Json = {
            "number": number,
            "version": version,
            "issued_at": "2026-11-20T15:04:05-05:00",
            "currency": "PEN",
            "amount": amount,
            "items": [{"sku": "A", "name": "Silla", "quantity": 1, "unit_price": amount}],
            "contact": {"name": "Lucía Prueba", "phone": "912345678", "email": "lucia@example.com"},
            "message": "Por favor",
        }
        return self.only_event(self.post("quotes", json.dumps(body | more).encode()))

    def whatsapp(
        self,
        *texts: str,
        sender: str = "51987650001",
        at: int = 1_790_000_000,
        name: str = "Rosa Prueba",
        ids: Sequence[str] = (),
        **more: object,
    ) -> list[UUID]:
        """One batch of text messages of one person, a second apart; returns their event_ids in order.

        `ids`: those of messages that came before.  `more`: what else each message holds.
        """
        messages = [
            {
                **more,
                "from": sender,
                "id": ids[i] if ids else f"wamid.{next(self.counter)}",
                "timestamp": str(at + i),
                "type": "text",
                "text": {"body": text},
            }
            for i, text in enumerate(texts)
        ]
        value: Json = {
            "messaging_product": "whatsapp",
            "metadata": {"display_phone_number": "5115550000", "phone_number_id": "100"},
            "contacts": [{"profile": {"name": name}, "wa_id": sender}],
            "messages": messages,
        }
        body: Json = {
            "object": "whatsapp_business_account",
            "entry": [{"id": "1", "changes": [{"field": "messages", "value": value}]}],
        }
        answer = self.post("wa", json.dumps(body).encode())
        return [UUID(each["event_id"]) for each in answer.get_json()["events"]]

    @staticmethod
    def only_event(answer: TestResponse) -> UUID:
        """The id of the one event of an answer."""
        assert answer.status_code == 200, answer.get_data(as_text=True)
        (event,) = answer.get_json()["events"]
        return UUID(event["event_id"])

    # --- troubles ---

    def lose(self, kind: str, *, executed: bool = True, looks_before: int = 1) -> None:
        """The answer to the next create of this kind is lost, and the look that follows at once is refused.

        `looks_before`: how often the CRM is asked before the create, from now on.
        The control's looks for the sentinel are answered and not counted: when one is due is a matter of minutes.
        """
        sentinel = {"what": "find", "kind": kind, "reference_prefix": "intake-sentinel"}
        self.dials.fault("lost_answer", match={"what": "create", "kind": kind}, effect=executed)
        self.dials.fault("slow", match=sentinel, times=None, seconds=0)
        self.dials.fault("503", match={"what": "find", "kind": kind}, skip=looks_before)

    # --- working ---

    def work(self, most: int = 200) -> int:
        """Do all that is due now, in this thread; returns how many pieces of work there were."""
        done = 0
        while done < most and self.step():
            done += 1
        assert done < most, "the work does not end"
        return done

    def step(self) -> bool:
        """One tick of the clock and one piece of work.  False: nothing was due."""
        clock.tick(self.pool, name="lab")
        return drain.one(self.desk)

    def settle(self, rounds: int = 12, step: timedelta = timedelta(seconds=31)) -> None:
        """Let the workers and the time run until nothing changes by itself any more (or looks are all that is left)."""
        for _ in range(rounds):
            self.work()
            self.pass_time(step)
        self.work()

    def pass_time(self, span: timedelta) -> None:
        """Every stored time is now this much longer ago."""
        with psycopg.connect(self.database_url) as conn:
            timetable.pass_time(conn, span)

    def other_desk(self, **changes: object) -> Desk:
        """A second worker at the same database."""
        return replace(self.desk, **changes)  # type: ignore[arg-type]  # names of its fields

    # --- reading ---

    def rows(self, query: str, **parameters: object) -> list[Json]:
        """What the database says."""
        with psycopg.connect(self.database_url, row_factory=dict_row) as conn:
            return conn.execute(query, parameters).fetchall()

    def state(self, event_id: UUID) -> str:
        """The state of an event's newest delivery."""
        return str(self.delivery(event_id)["state"])

    def delivery(self, event_id: UUID) -> Json:
        """The row of an event's newest delivery."""
        rows = self.rows("SELECT * FROM deliveries WHERE event_id = %(id)s ORDER BY generation DESC", id=event_id)
        return rows[0]

    def attempts(self, event_id: UUID) -> list[Json]:
        """All attempts at the records of an event, in order."""
        return self.rows(
            "SELECT a.*, r.kind AS record FROM attempts a JOIN records r USING (record_id) JOIN deliveries d"
            " ON r.record_id IN (d.contact_record, d.opportunity_record, d.task_record, d.note_record)"
            " WHERE d.event_id = %(id)s ORDER BY attempt_id",
            id=event_id,
        )

    def in_crm(self, kind: str) -> list[Json]:
        """The live records of a kind that the CRM holds, without sentinels."""
        return [
            each
            for each in self.dials.records()
            if each["kind"] == kind and each["live"] and "sentinel" not in str(each["reference"])
        ]


def _lag(seconds: float) -> str:
    return f'lag_seconds = "{seconds}"' if seconds else ""


@contextmanager
def lab(
    database_url: str,
    folder: Path,
    *,
    profile: str = "stored",
    limit: float = 20.0,
    lag: float = 0.0,
    debounce: int = 0,
    at: Callable[[str], None] = lambda _boundary: None,
    sources: str = SOURCES,
    payloads: Keys = NONE,
) -> Iterator[Lab]:
    """A lab with its own sandbox CRM.  `limit` and `lag` in seconds, as the account declares them.

    `debounce`: how many seconds a first WhatsApp message waits for those that follow.  `sources`: other tables.
    `payloads`: what seals contents.
    """
    with running(of=sandbox_profile(profile, lag=0.0, limit=limit)) as sandbox, Transport() as transport:
        file = folder / "intake.toml"
        crm = CONFIG.format(url=sandbox.url, profile=profile, limit=limit, lag=_lag(lag))
        file.write_text(crm + sources.replace("debounce_seconds = 0", f"debounce_seconds = {debounce}"), "utf-8")
        settings = load(file, ENVIRON, built_in=PROVIDERS.keys())
        pool = open_pool(database_url, size=12, connection_class=telling(named), payloads=payloads)
        door_pool = unhurried.door_pool(database_url, size=60, payloads=payloads)
        try:
            with pool.connection() as conn:
                here = installation.read(conn)
            wired = {each.name: wire(each, ENVIRON) for each in settings.destinations.values()}
            wired = {name: each for name, each in wired.items() if name in {"crm", "playground"}}
            desk = Desk(pool, settings, here, wired, transport, patience=PATIENCE, jitter=lambda: 0.0, at=at)
            for each in wired.values():
                assert all(finding.ok for finding in checks.check(desk, each, create=True))
            # The sentinels are old when the lag begins, so that no test waits for them.
            Dials(sandbox.url).profile(profile, lag=lag, limit=limit)
            door = unhurried.door(settings, door_pool)
            hints: list[str] = []
            app = build(door, hint=lambda: hints.append("hint"))
            yield Lab(database_url, settings, pool, app.test_client(), desk, Dials(sandbox.url), hints)
        finally:
            door_pool.close()
            pool.close()
