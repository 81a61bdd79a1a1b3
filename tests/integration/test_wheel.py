"""What is in the wheel that people install, and what its commands are called by those who run them."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from workers.main import group

CHECKOUT = Path(__file__).parents[2]
UNITS = CHECKOUT / "docs" / "examples" / "systemd"
PACKAGES = ("intake", "workers", "crm_clients")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_holds_the_sql_files_and_nothing_of_the_tests(names: list[str]) -> None:
    packed = {name.removeprefix("intake/") for name in names if name.endswith(".sql")}
    assert packed == {str(path.relative_to(CHECKOUT)) for path in (CHECKOUT / "sql").rglob("*.sql")}
    assert "sql/roles.sql" in packed
    assert {name.partition("/")[0] for name in names if "dist-info" not in name} == set(PACKAGES)


def test_the_wheel_holds_every_file_that_stands_beside_the_code(names: list[str]) -> None:
    files = {str(path.relative_to(CHECKOUT)) for package in PACKAGES for path in beside_code(CHECKOUT / package)}
    assert {"intake/demo.toml", "intake/console/static/desk.css", "intake/console/translations/en.po"} <= files
    assert files <= set(names)


def beside_code(package: Path) -> Iterator[Path]:
    yield from (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def test_the_wheel_holds_the_license(names: list[str]) -> None:
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)


# --- who runs it ----------------------------------------------------------------------------------------------------


def commands() -> Iterator[tuple[str, list[str]]]:
    """What the units, the compose file and the Containerfile run."""
    for unit in sorted(UNITS.glob("*.service")):
        read = configparser.ConfigParser(interpolation=None, strict=False)
        read.optionxform = str  # type: ignore[method-assign, assignment]  # as its documentation says
        read.read_string(unit.read_text())
        yield unit.name, shlex.split(read["Service"]["ExecStart"])
    for file in ("compose.yaml", "Containerfile"):
        text = (CHECKOUT / "deploy" / file).read_text()
        for line in re.findall(r"^(?:CMD|\s+command:) (\[.*\])$", text, re.MULTILINE):
            yield file, json.loads(line)


RUN = list(commands())


def test_every_kind_of_process_is_run() -> None:
    run = {" ".join(words[1:2]) for _, words in RUN if Path(words[0]).name == "intake"}
    assert run == {"worker", "clock", "purge", "migrate"}


@pytest.mark.parametrize(("where", "words"), RUN, ids=[where for where, _ in RUN])
def test_what_is_run_is_a_command_of_ours(where: str, words: list[str]) -> None:
    match Path(words[0]).name, words[1:]:
        case "intake", [command, *_]:
            assert group().get_command(click.Context(group()), command) is not None, where
        case "gunicorn", [*options]:
            assert options[:2] == ["--config", "python:intake.gunicorn_conf"], where
            assert options[-1] == "intake.app:create_app()", where
        case program, _:
            assert program == "valkey-server", where


def test_units_name_only_units_that_are_there() -> None:
    target = (UNITS / "lead-intake.target").read_text()
    (wanted,) = re.findall(r"^Wants=(.*)$", target, re.MULTILINE)
    there = {path.name for path in UNITS.iterdir()}
    assert {re.sub(r"@[0-9]+\.", "@.", name) for name in wanted.split()} <= there


def test_the_container_copies_what_the_wheel_is_made_of() -> None:
    text = (CHECKOUT / "deploy" / "Containerfile").read_text()
    assert all(f"COPY {package} {package}" in text for package in (*PACKAGES, "sql"))
