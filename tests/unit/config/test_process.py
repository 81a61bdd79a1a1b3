"""The settings of a process, from its environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from intake.config import DEMO_CONFIG, ConfigError, Process


def test_empty_environment_has_the_defaults(tmp_path: Path) -> None:
    assert Process.from_environ({}, tmp_path) == Process(
        database_url=None,
        redis_url=None,
        intake_home=tmp_path / "var",
        port=8080,
        config=DEMO_CONFIG,
        installation=None,
        epoch=None,
        workers=2,
        threads=8,
        connections=8,
    )


def test_everything_can_be_said() -> None:
    environ = {
        "DATABASE_URL": "postgresql://intake@db.example.com/intake",
        "REDIS_URL": "redis://redis.example.com:6379/0",
        "INTAKE_HOME": "/srv/intake",
        "PORT": "80",
        "INTAKE_CONFIG": "/etc/intake.toml",
        "INTAKE_INSTALLATION": "a-1",
        "INTAKE_EPOCH": "3",
        "INTAKE_WORKERS": "4",
        "INTAKE_THREADS": "16",
        "INTAKE_CONNECTIONS": "6",
    }
    assert Process.from_environ(environ) == Process(
        "postgresql://intake@db.example.com/intake",
        "redis://redis.example.com:6379/0",
        Path("/srv/intake"),
        80,
        Path("/etc/intake.toml"),
        "a-1",
        3,
        4,
        16,
        6,
    )


def test_empty_variable_counts_as_unset() -> None:
    assert Process.from_environ({"PORT": "", "DATABASE_URL": ""}).port == 8080


def test_own_file_is_used_where_it_stands(tmp_path: Path) -> None:
    own = tmp_path / "intake.toml"
    own.touch()
    assert Process.from_environ({}, tmp_path).config == own


def test_demo_is_used_where_nobody_wrote_a_file(tmp_path: Path) -> None:
    assert Process.from_environ({}, tmp_path).is_demo


def test_socket_and_key_value_addresses_are_fine() -> None:
    process = Process.from_environ({"DATABASE_URL": "host=/run/pg dbname=intake", "REDIS_URL": "unix:///run/v.sock"})
    assert process.database_url == "host=/run/pg dbname=intake"


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("PORT", "http", "must be a whole number from 1 to 65535"),
        ("PORT", "0", "must be a whole number from 1 to 65535"),
        ("PORT", "٣", "must be a whole number from 1 to 65535"),
        ("INTAKE_WORKERS", "1000", "must be a whole number from 1 to 64"),
        ("INTAKE_THREADS", "-1", "must be a whole number from 1 to 256"),
        ("INTAKE_CONNECTIONS", "1", "must be a whole number from 2 to 258"),
        ("INTAKE_EPOCH", "two", "must be a whole number from 1 to 999999999"),
        ("INTAKE_INSTALLATION", "a b", "must be 1 to 64 letters, digits or dashes"),
        ("DATABASE_URL", "mysql://canary", "must be a postgresql:// address"),
        ("REDIS_URL", "canary", "must be a redis://, rediss:// or unix:// address"),
    ],
)
def test_wrong_variable_is_named_with_its_rule_and_not_shown(name: str, value: str, rule: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Process.from_environ({name: value})
    assert str(refused.value) == f"environment: {name}: {rule}"


def test_all_wrong_variables_are_named() -> None:
    with pytest.raises(ConfigError) as refused:
        Process.from_environ({"PORT": "x", "INTAKE_WORKERS": "x"})
    assert len(refused.value.problems) == 2


def test_process_does_not_show_its_addresses() -> None:
    urls = {"DATABASE_URL": "postgresql://u:canary@h/d", "REDIS_URL": "redis://:canary@h"}
    assert "canary" not in repr(Process.from_environ(urls))
