"""What a command finds around it."""

from __future__ import annotations

import stat
from pathlib import Path

from intake.surroundings import RUNTIME, surroundings, write


def test_a_running_up_tells_where_its_servers_are(tmp_path: Path) -> None:
    write(tmp_path / RUNTIME, {"DATABASE_URL": "postgresql://x/y?host=%2Ftmp&port=5432"})
    assert surroundings({"INTAKE_HOME": str(tmp_path)})["DATABASE_URL"] == "postgresql://x/y?host=%2Ftmp&port=5432"


def test_the_environment_wins(tmp_path: Path) -> None:
    write(tmp_path / RUNTIME, {"PORT": "1"})
    assert surroundings({"INTAKE_HOME": str(tmp_path), "PORT": "2"})["PORT"] == "2"


def test_an_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    write(tmp_path / RUNTIME, {"PORT": "1"})
    assert surroundings({"INTAKE_HOME": str(tmp_path), "PORT": ""})["PORT"] == "1"


def test_what_holds_secrets_is_its_owners_alone(tmp_path: Path) -> None:
    write(tmp_path / RUNTIME, {"A": "b"})
    assert stat.S_IMODE((tmp_path / RUNTIME).stat().st_mode) == 0o600


def test_a_home_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    given = {"INTAKE_HOME": str(tmp_path / "none")}
    assert surroundings(given) == given
