"""The doctor: what it finds, and that it looks at the rest when something is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest

from crm_clients.registry import CLIENTS
from intake import doctor
from intake.config.known import KNOWN_CLIENTS
from tests.commands import beside, intake, listed
from tests.lab import Lab, lab


@pytest.fixture
def stored(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as made:
        yield made


@pytest.fixture
def environ(stored: Lab, tmp_path: Path, redis_url: str) -> Mapping[str, str]:
    return {**beside(stored, tmp_path), "REDIS_URL": redis_url}


def verdicts(environ: Mapping[str, str]) -> dict[str, str]:
    """The verdict of each line."""
    return {
        str(line["what"]): str(line["verdict"])
        for line in listed(intake(environ, "check", "--json").document, "checks")
    }


def test_what_is_in_order_is_ok(environ: Mapping[str, str]) -> None:
    found = verdicts(environ)
    # The test's own PostgreSQL runs without fsync, and no process of ours runs.
    expected = {"fsync": "fail", "synchronous_commit": "fail", "workers": "fail", "clock": "fail"}
    assert {what: verdict for what, verdict in found.items() if verdict != "ok" and what not in expected} == {}


def test_a_commit_that_is_not_on_disk_fails(environ: Mapping[str, str]) -> None:
    assert verdicts(environ)["fsync"] == "fail"


def test_limits_that_a_pooler_left_out_are_told(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        told = {line.what: line.verdict for line in doctor.of_database(conn)}
    assert [told.get(name) for name in doctor.LIMITS] == ["warn"] * 3


def test_a_tick_is_seen(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.step()
    assert verdicts(environ)["clock"] == "ok"


def test_a_failing_check_is_a_finding(environ: Mapping[str, str]) -> None:
    assert intake(environ, "check").status == 1


def test_every_line_that_is_not_ok_says_what_to_do(environ: Mapping[str, str]) -> None:
    lines = listed(intake(environ, "check", "--json").document, "checks")
    assert [line["what"] for line in lines if line["verdict"] != "ok" and not line["remedy"]] == []


def test_a_database_that_is_away_does_not_hide_the_rest(environ: Mapping[str, str]) -> None:
    found = verdicts({**environ, "DATABASE_URL": "postgresql://127.0.0.1:1/none"})
    assert (found["database"], found["redis"]) == ("fail", "ok")


def test_a_redis_that_is_away_is_told(environ: Mapping[str, str]) -> None:
    assert verdicts({**environ, "REDIS_URL": "redis://127.0.0.1:1/0"})["redis"] == "fail"


def test_the_version_of_redis_is_told(environ: Mapping[str, str]) -> None:
    lines = {line["what"]: line for line in listed(intake(environ, "check", "--json").document, "checks")}
    assert str(lines["redis"]["detail"]).startswith(("Valkey ", "Redis "))


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
    assert verdicts({**environ, "WEB_SECRET": ""})["notice"] == "warn"


def test_a_client_that_this_version_lacks_is_told(environ: Mapping[str, str], tmp_path: Path) -> None:
    future = min(KNOWN_CLIENTS - CLIENTS.keys())
    file = tmp_path / "intake.toml"
    file.write_text(
        file.read_text()
        + f'\n[[destinations]]\nname = "future"\nclient = "{future}"\nbase_url = "https://crm.example.com"\n'
    )
    assert (verdicts(environ)["destination future"], intake(environ, "check").status) == ("fail", 2)


def test_a_wrong_configuration_is_told_with_its_line(environ: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "intake.toml").write_text("[intake\n")
    lines = listed(intake(environ, "check", "--json").document, "checks")
    assert [line["verdict"] for line in lines if "intake.toml:1" in str(line["detail"])] == ["fail"]
