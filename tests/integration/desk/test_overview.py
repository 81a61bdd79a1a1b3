"""The ways in and the CRM accounts: what is registered, what was refused, and what is left of an account's limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import psycopg
import pytest
import redis

from crm_clients.abilities import CALLS, HasLimits, Limit
from crm_clients.base import Response
from crm_clients.registry import build
from intake import account_facts, budgets
from intake.config import Destination
from intake.desk.serving import create
from intake.desk.tools import Tools
from tests.desk_lab import QUICK, Person
from tests.integration.desk.conftest import Scene
from workers import facts
from workers.desk import Desk, Wired
from workers.limiter import RedisLimiter

DESTINATIONS = ("crm", "playground")


@dataclass(frozen=True, slots=True)
class Limited:
    """An account whose CRM publishes limits, and a desk that sees the counters of its workers."""

    scene: Scene
    wired: Wired
    workers: Desk
    client: redis.Redis

    def hear(self, **headers: str) -> None:
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        facts.hear(self.workers, self.wired, Response(200, told, b"{}"))

    def person(self) -> Person:
        tools = Tools(self.scene.lab.settings, self.scene.lab.pool, lambda: None, QUICK, counters=self.client)
        return replace(self.scene.desk, app=create(tools)).person("viewer")


@pytest.fixture
def limited(scene: Scene, redis_url: str) -> Iterator[Limited]:
    hubspot = build("hubspot", {})
    wired = replace(scene.lab.desk.wired["crm"], client=hubspot, destination=Destination("crm", "hubspot"))
    with redis.Redis.from_url(redis_url) as client, scene.lab.pool.connection() as conn:
        facts.note(conn, wired)
        yield Limited(scene, wired, scene.lab.other_desk(quotas={}), client)
        conn.execute("DELETE FROM account_facts")


def calls(limited: Limited) -> Limit:
    assert isinstance(limited.wired.client, HasLimits)
    return next(each for each in limited.wired.client.limits() if each.bucket == CALLS)


def test_an_account_says_what_is_left_of_its_limit(limited: Limited) -> None:
    limit, limiter = calls(limited), RedisLimiter(limited.client)
    for _ in range(3):
        limiter.room("crm", CALLS, [limit])
    page = limited.person().page("/console/accounts")
    assert "87 de 90 libres, cada 10 segundos" in page
    assert "sin verificar" in page


def test_an_account_says_what_its_crm_said_of_the_day(limited: Limited) -> None:
    limited.hear(x_hubspot_ratelimit_daily="250000", x_hubspot_ratelimit_daily_remaining="249870")
    assert "quedan 249870 de 250000" in limited.person().page("/console/accounts")


def test_a_quota_is_written_down_once_a_minute_at_most(limited: Limited) -> None:
    limited.hear(sforce_limit_info="api-usage=18/5000")
    limited.hear(sforce_limit_info="api-usage=19/5000")
    (row,) = limited.scene.lab.rows("SELECT quota_left, quota_of FROM account_facts")
    assert row == {"quota_left": 4982, "quota_of": 5000}


def test_a_database_that_is_away_costs_no_answer(limited: Limited) -> None:
    class Away:
        def connection(self) -> None:
            raise psycopg.OperationalError("away")

    workers = limited.scene.lab.other_desk(quotas={}, pool=Away())
    facts.hear(workers, limited.wired, Response(200, {"x-api-credits-remaining": "7"}, b"{}"))
    assert limited.scene.lab.rows("SELECT quota_left FROM account_facts") == [{"quota_left": None}]


def test_without_redis_nobody_says_how_much_is_left(limited: Limited) -> None:
    away = redis.Redis(port=1, socket_connect_timeout=0.1)
    known = account_facts.Published(CALLS, 100, 90, 10_000)
    assert budgets.read(away, "crm", [known]) is None
    page = limited.scene.desk.person("viewer").page("/console/accounts")
    assert "nadie las cuenta ahora" in page


MEASURED = """
    INSERT INTO crm_contracts (destination, client, measured_at, measured) VALUES ('crm', 'sandbox',
      clock_timestamp() - interval '100 days', '{"kinds": [{"kind": "contact", "second": "adopted",
        "by_reference": {"most": 1.25}}, {"kind": "task", "second": "doubled", "by_reference": {"most": null}}]}')
"""


def test_an_account_says_when_and_how_it_was_measured(scene: Scene) -> None:
    viewer = scene.desk.person("viewer")
    before = viewer.page("/console/accounts")
    with scene.lab.pool.connection() as conn:
        conn.execute(MEASURED)
    page = viewer.page("/console/accounts")
    with scene.lab.pool.connection() as conn:
        conn.execute("DELETE FROM crm_contracts")
    assert "mídalo otra vez" not in before
    assert "mídalo otra vez" in page
    assert "Con la misma referencia devuelve el primero. Lo nuevo se encontró a más tardar en 1.2 s." in page
    assert "Con la misma referencia crea otro. Lo nuevo no se encontró por su referencia." in page


def test_a_source_says_what_to_register_and_what_was_refused(scene: Scene) -> None:
    page = scene.desk.person("viewer").page("/console/sources")
    base = scene.lab.settings.public_base_url
    assert f"{base}/hooks/web</code>" in page
    assert f"{base}/test/hooks/web</code>" in page
    assert "Rechazados en la puerta, 7 días: 3" in page
    assert "La firma o el token no corresponde" in page


def test_the_api_says_the_same(scene: Scene) -> None:
    program, headers = scene.desk.stranger(), scene.desk.token("viewer", "read")
    sources = program.get("/api/v1/sources", headers=headers).get_json()["sources"]
    accounts = program.get("/api/v1/accounts", headers=headers).get_json()["accounts"]
    web = next(each for each in sources if each["name"] == "web")
    assert web["refused"] == [{"reason": "not_authentic", "number": 3}]
    assert (web["status"], web["last_live_at"] is not None) == ("open", True)
    assert {each["name"]: each["status"] for each in accounts} == {"crm": "open", "playground": "open"}
