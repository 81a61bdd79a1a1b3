"""The image, the compose file and the units say what is there; systemd's own check finds nothing in the units."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

CHECKOUT = Path(__file__).parents[2]
UNITS = CHECKOUT / "docs" / "examples" / "systemd"
CONTAINERFILE = (CHECKOUT / "deploy" / "Containerfile").read_text("utf-8")
COMPOSE = yaml.safe_load((CHECKOUT / "deploy" / "compose.yaml").read_text("utf-8"))
PROCFILE = dict(
    line.split(": ", 1) for line in (CHECKOUT / "Procfile").read_text("utf-8").splitlines() if not line.startswith("#")
)
# A service of the compose file whose command is not in the Procfile.
OTHERS = {"postgres", "valkey", "migrate"}


def instructions(name: str) -> list[str]:
    """What follows a word of the Containerfile, its lines joined."""
    return re.findall(rf"^{name} (.+)$", CONTAINERFILE.replace("\\\n", ""), re.MULTILINE)


def test_what_the_image_copies_is_there() -> None:
    copied = [words.split()[:-1] for words in instructions("COPY") if not words.startswith("--from=")]
    assert copied
    assert [path for paths in copied for path in paths if not (CHECKOUT / path).exists()] == []


def test_what_a_stage_copies_another_stage_made() -> None:
    stages = {words.split()[-1] for words in instructions("FROM") if " AS " in words}
    taken = set(re.findall(r"^COPY --from=(\S+) /dist ", CONTAINERFILE, re.MULTILINE))
    assert taken <= stages
    assert "--directory /dist" in CONTAINERFILE


def test_the_image_runs_as_nobody_of_consequence() -> None:
    user = int(instructions("USER")[-1])
    assert f"--uid {user} " in CONTAINERFILE
    assert CONTAINERFILE.index(f"\nUSER {user}\n") < CONTAINERFILE.index("\nCMD ")


def test_the_image_has_an_interpreter_that_the_package_supports() -> None:
    project = (CHECKOUT / "pyproject.toml").read_text("utf-8")
    for version in re.findall(r"library/python:(3\.\d+)-slim", CONTAINERFILE):
        assert f"Python :: {version}" in project


def test_each_process_of_the_procfile_is_a_service_with_its_command() -> None:
    services = COMPOSE["services"]
    assert set(services) - OTHERS == set(PROCFILE)
    (default,) = instructions("CMD")
    for name, line in PROCFILE.items():
        command = services[name].get("command") or json.loads(default)
        # The container listens on all its addresses: only what the compose file publishes is reached.
        assert [word for word in command if word not in {"--bind", "0.0.0.0:8080"}] == shlex.split(line), name


def test_nothing_is_published_beyond_this_host() -> None:
    ports = [port for service in COMPOSE["services"].values() for port in service.get("ports", ())]
    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_what_a_service_waits_for_and_mounts_is_defined() -> None:
    for service in COMPOSE["services"].values():
        assert set(service.get("depends_on", ())) <= set(COMPOSE["services"])
        mounted = {each.partition(":")[0] for each in service.get("volumes", ())}
        assert {each for each in mounted if not each.startswith(".")} <= set(COMPOSE["volumes"])


def test_a_worker_gets_the_time_that_a_call_may_take() -> None:
    unit = (UNITS / "lead-intake-worker@.service").read_text("utf-8")
    assert COMPOSE["services"]["worker"]["stop_grace_period"] == "45s"
    assert "\nTimeoutStopSec=45\n" in unit


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="not run: there is no systemd-analyze")
def test_systemd_finds_nothing_in_the_units(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("intake", "gunicorn"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    units = []
    for unit in UNITS.glob("lead-intake*"):
        copy = tmp_path / unit.name
        copy.write_text(unit.read_text("utf-8").replace("/opt/lead-intake/bin", str(programs)), "utf-8")
        units.append(copy)
    command = [shutil.which("systemd-analyze") or "", "verify", "--man=no", *map(str, units)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert [line for line in done.stderr.splitlines() if "lead-intake" in line] == []


def test_each_service_unit_runs_a_line_of_the_procfile_or_the_purge() -> None:
    run = {
        line.replace("/opt/lead-intake/bin/", "")
        for unit in UNITS.glob("*.service")
        for line in re.findall(r"^ExecStart=(.+)$", unit.read_text("utf-8"), re.MULTILINE)
    }
    assert run == {*PROCFILE.values(), "intake purge"}
