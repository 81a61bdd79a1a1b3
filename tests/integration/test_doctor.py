"""The doctor: what it finds, and that it looks at the rest when something is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import redis
from psycopg.sql import SQL, Identifier

from crm_clients.registry import CLIENTS
from intake import doctor
from intake.config.known import KNOWN_CLIENTS
from tests.commands import Json, beside, intake, listed
from tests.lab import Lab, lab
from tests.ports import free_port
from tests.unit.test_probe import CONTRACT
from workers.probe import keeping


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def stored(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as made:
        yield made


@pytest.fixture
def environ(stored: Lab, tmp_path: Path, redis_url: str) -> Mapping[str, str]:
    return {**beside(stored, tmp_path), "REDIS_URL": redis_url, "PORT": str(free_port())}


def lines(environ: Mapping[str, str]) -> dict[str, Json]:
    """Each line by what it is about."""
    return {str(line["what"]): line for line in listed(intake(environ, "check", "--json").document, "checks")}


def verdicts(environ: Mapping[str, str]) -> dict[str, str]:
    """The verdict of each line."""
    return {what: str(line["verdict"]) for what, line in lines(environ).items()}


def test_what_is_in_order_is_ok(environ: Mapping[str, str]) -> None:
    found = verdicts(environ)
    # The test's own PostgreSQL runs without fsync, no process of ours runs, and no proxy stands before it.
    expected = {"fsync", "synchronous_commit", "workers", "clock", "public address", "public address reached"}
    assert {what: verdict for what, verdict in found.items() if verdict != "ok" and what not in expected} == {}


def test_everything_that_deliveries_rest_on_has_a_line(environ: Mapping[str, str]) -> None:
    assert {
        "public address", "public address reached", "secrets", "database", "fsync", "synchronous_commit", "clocks",
        "redis", "maxmemory-policy", "clock", "workers", "retention", "addresses for tests",
    } <= lines(environ).keys()  # fmt: skip


def test_a_commit_that_is_not_on_disk_fails(environ: Mapping[str, str]) -> None:
    assert verdicts(environ)["fsync"] == "fail"


def test_limits_that_a_pooler_left_out_are_told(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        told = {line.what: line.verdict for line in doctor.of_database(conn, now=now)}
    assert [told.get(name) for name in doctor.LIMITS] == ["warn"] * 3


def test_a_clock_that_is_wrong_is_told(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        late = list(doctor.of_database(conn, now=lambda: now() - timedelta(minutes=2)))
    assert [(line.verdict, bool(line.remedy)) for line in late if line.what == "clocks"] == [("warn", True)]


def test_a_commit_that_does_not_wait_for_one_role_fails(stored: Lab, environ: Mapping[str, str]) -> None:
    with stored.pool.connection() as conn:
        conn.execute(SQL("ALTER DATABASE {} SET synchronous_commit = off").format(Identifier(conn.info.dbname)))
    assert lines(environ)["synchronous_commit"]["detail"] == "off for this database"


def test_a_tick_is_seen(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.step()
    assert verdicts(environ)["clock"] == "ok"


def test_a_failing_check_is_a_finding(environ: Mapping[str, str]) -> None:
    assert intake(environ, "check").status == 1


def test_every_line_that_is_not_ok_says_what_to_do(environ: Mapping[str, str]) -> None:
    assert [what for what, line in lines(environ).items() if line["verdict"] != "ok" and not line["remedy"]] == []


def test_a_database_that_is_away_does_not_hide_the_rest(environ: Mapping[str, str]) -> None:
    found = verdicts({**environ, "DATABASE_URL": "postgresql://127.0.0.1:1/none"})
    assert (found["database"], found["redis"]) == ("fail", "ok")


def test_a_redis_that_is_away_is_told(environ: Mapping[str, str]) -> None:
    assert verdicts({**environ, "REDIS_URL": "redis://127.0.0.1:1/0"})["redis"] == "fail"


def test_the_version_of_redis_is_told(environ: Mapping[str, str]) -> None:
    assert str(lines(environ)["redis"]["detail"]).startswith(("Valkey ", "Redis "))


def test_hints_that_may_be_thrown_away_are_told(environ: Mapping[str, str], redis_url: str) -> None:
    client = redis.Redis.from_url(redis_url)
    client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        assert verdicts(environ)["maxmemory-policy"] == "warn"
    finally:
        client.config_set("maxmemory-policy", "noeviction")


def test_a_database_without_tables_asks_for_migrate(environ: Mapping[str, str], empty_database_url: str) -> None:
    assert verdicts({**environ, "DATABASE_URL": empty_database_url})["migrations"] == "fail"


def test_another_hosts_database_is_told(environ: Mapping[str, str]) -> None:
    mark = Path(environ["INTAKE_HOME"]) / "installation"
    mark.write_text("00000000-0000-0000-0000-000000000000 1 0\n")
    assert verdicts(environ)["installation"] == "fail"


def test_a_paused_account_is_told(environ: Mapping[str, str]) -> None:
    intake(environ, "pause", "crm", "--by", "rosa", "--reason", "test")
    assert verdicts(environ)["account crm"] == "fail"


def test_missing_sentinels_are_told(stored: Lab, environ: Mapping[str, str]) -> None:
    with stored.pool.connection() as conn:
        conn.execute("DELETE FROM sentinels WHERE destination = 'crm'")
    assert verdicts(environ)["account crm"] == "warn"


def test_the_sentinels_can_be_made(stored: Lab, environ: Mapping[str, str]) -> None:
    with stored.pool.connection() as conn:
        conn.execute("DELETE FROM sentinels WHERE destination = 'crm'")
    intake(environ, "crm", "check", "--create", "--destination", "crm")
    assert verdicts(environ)["account crm"] == "ok"


def test_a_missing_secret_is_a_notice(environ: Mapping[str, str]) -> None:
    found = verdicts({**environ, "WEB_SECRET": ""})
    assert (found["notice"], "secrets" in found) == ("warn", False)


def test_a_crm_without_its_address_fails_in_one_line(environ: Mapping[str, str], tmp_path: Path) -> None:
    file = tmp_path / "intake.toml"
    file.write_text(f'{file.read_text()}\n[[destinations]]\nname = "other"\nclient = "hubspot"\n')
    said = intake(environ, "check", "--json")
    told = [line for line in listed(said.document, "checks") if "other" in str(line) and line["verdict"] != "ok"]
    why = 'base_url is missing: the client "hubspot" needs the address of your account'
    assert [(line["verdict"], line["what"], line["detail"]) for line in told] == [("fail", "destination other", why)]
    assert said.status == 2


def test_a_crm_without_any_credential_is_told(environ: Mapping[str, str], tmp_path: Path) -> None:
    file = tmp_path / "intake.toml"
    other = '\n[[destinations]]\nname = "other"\nclient = "hubspot"\nbase_url = "https://api.hubapi.com"\n'
    file.write_text(file.read_text() + other)
    assert verdicts(environ)["destination other: credential"] == "warn"


def test_a_client_that_this_version_lacks_is_told(environ: Mapping[str, str], tmp_path: Path) -> None:
    future = min(KNOWN_CLIENTS - CLIENTS.keys())
    file = tmp_path / "intake.toml"
    file.write_text(
        file.read_text()
        + f'\n[[destinations]]\nname = "future"\nclient = "{future}"\nbase_url = "https://crm.example.com"\n'
    )
    assert (verdicts(environ)["destination future"], intake(environ, "check").status) == ("fail", 2)


@pytest.mark.parametrize(("days", "verdict"), [(1, "ok"), (91, "warn")])
def test_a_contract_that_was_measured_long_ago_is_told(
    stored: Lab, environ: Mapping[str, str], days: int, verdict: str
) -> None:
    file = Path(environ["INTAKE_CONFIG"])
    other = '\n[[destinations]]\nname = "other"\nclient = "bottlecrm"\nbase_url = "http://127.0.0.1:1"\nmode = "test"\n'
    file.write_text(file.read_text() + other + 'credential = "env:WEB_SECRET"\n')
    measured = replace(CONTRACT, account="other", client="bottlecrm", measured_at=now() - timedelta(days=days))
    with stored.pool.connection() as conn:
        keeping.keep(conn, measured)
    assert verdicts(environ)["contract other"] == verdict


def test_a_wrong_configuration_is_told_with_its_line(environ: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "intake.toml").write_text("[intake\n")
    found = lines(environ).values()
    assert [line["verdict"] for line in found if "intake.toml:1" in str(line["detail"])] == ["fail"]


# --- senders, and what is old -----------------------------------------------------------------------------------------


def received(stored: Lab, ages: Iterable[timedelta], *, mode: str) -> None:
    """Deliveries of the source `web` that came so long ago."""
    with stored.pool.connection() as conn:
        conn.cursor().executemany(
            "INSERT INTO receipts (receipt_id, received_at, mode, source, content_type, verdict)"
            " VALUES (%s, clock_timestamp() - %s, %s, 'web', '', 'accepted')",
            [(uuid4(), age, mode) for age in ages],
        )


def test_a_live_form_that_posts_to_the_address_for_tests_is_told(stored: Lab, environ: Mapping[str, str]) -> None:
    received(stored, [timedelta(minutes=1, hours=hour) for hour in range(20)], mode="test")
    line = lines(environ)["addresses for tests"]
    assert (line["verdict"], "/hooks/web" in str(line["remedy"])) == ("warn", True)


def test_trying_a_form_out_is_no_live_form(stored: Lab, environ: Mapping[str, str]) -> None:
    received(stored, [timedelta(minutes=minute) for minute in range(20)], mode="test")
    assert verdicts(environ)["addresses for tests"] == "ok"


@pytest.fixture
def aging(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Where contents shall go after thirty days."""
    file = Path(environ["INTAKE_CONFIG"])
    file.write_text(file.read_text().replace("[defaults]", "[defaults]\npayload_retention_days = 30", 1))
    return environ


def test_where_nothing_is_old_yet_no_purge_is_missing(stored: Lab, aging: Mapping[str, str]) -> None:
    received(stored, [timedelta(days=29)], mode="live")
    assert verdicts(aging)["retention"] == "ok"


def test_a_purge_that_never_ran_is_told(stored: Lab, aging: Mapping[str, str]) -> None:
    received(stored, [timedelta(days=33)], mode="live")
    assert verdicts(aging)["retention"] == "warn"


def test_a_purge_that_ran_is_seen(stored: Lab, aging: Mapping[str, str]) -> None:
    received(stored, [timedelta(days=33)], mode="live")
    intake(aging, "purge")
    assert verdicts(aging)["retention"] == "ok"


@pytest.mark.parametrize("words", [("--dry-run",), ("web",)])
def test_half_a_purge_is_none(stored: Lab, aging: Mapping[str, str], words: tuple[str, ...]) -> None:
    received(stored, [timedelta(days=33)], mode="live")
    intake(aging, "purge", *words)
    assert verdicts(aging)["retention"] == "warn"


def test_a_purge_that_runs_no_more_is_told(stored: Lab, aging: Mapping[str, str]) -> None:
    intake(aging, "purge")
    with stored.pool.connection() as conn:
        conn.execute("UPDATE rounds SET due_at = due_at - interval '3 days' WHERE name = 'purge'")
    assert verdicts(aging)["retention"] == "warn"


def test_what_came_through_a_source_that_is_named_no_more_is_told(stored: Lab, aging: Mapping[str, str]) -> None:
    received(stored, [timedelta(days=1)], mode="live")
    file = Path(aging["INTAKE_CONFIG"])
    renamed = file.read_text().replace('name = "web"', 'name = "web-2"', 1)
    file.write_text(renamed)
    line = lines(aging)["retention"]
    assert (line["verdict"], "web stays for ever" in str(line["detail"])) == ("warn", True)
    file.write_text(renamed.replace('name = "web-2"', 'name = "web-2"\nrenamed_from = "web"', 1))
    assert verdicts(aging)["retention"] == "ok"
