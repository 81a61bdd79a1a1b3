"""The command line as a whole: its help, its imports, its errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from psycopg import errors

from intake.cli import Command, LazyGroup
from tests.commands import intake
from workers.main import group

HEAVY = ("psycopg", "rich", "requests", "flask", "rq", "cryptography")


def test_help_imports_nothing_heavy() -> None:
    """This is what keeps `intake --help` quick."""
    code = (
        "import sys; from workers.main import group\n"
        "try: group()(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("name", group().list_commands(click.Context(group())))
def test_every_command_is_there_and_has_help(name: str) -> None:
    said = intake({}, name, "--help")
    assert (said.status, bool(said.out.strip())) == (0, True)


@pytest.mark.parametrize("name", ["events", "show", "explain", "items", "item", "sources", "check"])
def test_every_reading_command_has_json(name: str) -> None:
    assert "--json" in intake({}, name, "--help").out


@pytest.mark.parametrize(
    "name", ["settle", "correct", "revive", "look", "approve", "decline", "assign", "resolve", "pause", "resume"]
)
def test_every_deciding_command_asks_who_and_why(name: str) -> None:
    said = intake({}, name, "--help").out
    assert ("--by" in said, "--reason" in said) == (True, True)


def test_an_unknown_command_is_a_usage_error() -> None:
    assert intake({}, "nonsense").status == 2


def test_a_wrong_configuration_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "intake.toml"
    file.write_text('[[sources]]\nname = "web"\nkind = "form"\nprovider = "nonsense"\nsecrets = ["env:X"]\n')
    said = intake({"INTAKE_CONFIG": str(file), "DATABASE_URL": "postgresql://127.0.0.1:1/x"}, "sources")
    assert (said.status, f"{file}:4" in said.err) == (2, True)


def test_it_says_which_version_it_is() -> None:
    assert intake({}, "--version").out.startswith("lead-intake ")


@click.command()
def busy() -> None:
    """A statement that takes longer than it may."""
    raise errors.QueryCanceled


def test_a_database_that_is_busy_is_not_said_to_be_away() -> None:
    group_of_one = LazyGroup([Command("busy", f"{__name__}:busy", "Take long.")], "One command.")
    said = CliRunner().invoke(group_of_one, ["busy"])
    assert (said.exit_code, "took longer" in said.output, "reached" in said.output) == (1, True, False)
