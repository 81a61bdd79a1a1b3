"""How long a start takes, and how much memory each kind of process has then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.bench.effort import cpu_seconds, family, own_mib
from tests.bench.figures import Figures
from tests.bench.load import CannotMeasure
from tests.bench.place import PATIENCE
from tests.bench.sizes import Sizes
from tests.ports import free_port

INTAKE = Path(sys.executable).with_name("intake")

# What a command line holds, and what that process is called.
KINDS = (
    ("intake.gunicorn_conf", "web"),
    ("workers.main worker", "worker"),
    ("workers.main clock", "clock"),
    ("crm_clients.sandbox", "sandbox CRM"),
    ("valkey", "Valkey"),
    ("postgres", "PostgreSQL"),
    ("intake up", "intake up"),
)


def measure(sizes: Sizes, figures: Figures, folder: Path) -> None:
    for _ in range(sizes.starts):
        _help(figures)
    home = folder / "up"
    for name in ("first", *["again"] * sizes.starts):
        _up(figures, home, name)


def _help(figures: Figures) -> None:
    began = time.monotonic()
    subprocess.run([INTAKE, "--help"], stdout=subprocess.DEVNULL, check=True)
    figures.note("intake --help", "ms", (time.monotonic() - began) * 1000)


def _up(figures: Figures, home: Path, name: str) -> None:
    """Everything, until a delivery would be accepted."""
    home.mkdir(exist_ok=True)
    given = {"PATH": os.environ["PATH"], "INTAKE_HOME": str(home), "PORT": str(free_port())}
    log = home / "up.log"
    began = time.monotonic()
    with log.open("wb") as output:
        child = subprocess.Popen([INTAKE, "up"], cwd=home, env=given, stdout=output, stderr=subprocess.STDOUT)
    try:
        _wait_until_ready(log, child)
        figures.note(f"intake up, {name}", "ms", (time.monotonic() - began) * 1000)
        figures.note(f"intake up, {name}", "ms CPU", cpu_seconds(child.pid) * 1000)
        if name == "again":
            _memory(figures, child.pid)
    finally:
        child.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE)
        child.kill()
        child.wait()


def _wait_until_ready(log: Path, child: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while b"\nready" not in log.read_bytes():
        if child.poll() is not None or time.monotonic() > until:
            raise CannotMeasure(f"`intake up` is not ready: {log.read_text()[-500:]}")
        time.sleep(0.01)


def _memory(figures: Figures, pid: int) -> None:
    sums: dict[str, float] = {}
    for each in family(pid):
        kind = _kind(each)
        sums[kind] = sums.get(kind, 0.0) + own_mib(each)
    for kind, mib in sums.items():
        figures.note(f"memory when idle: {kind}", "MiB", mib)


def _kind(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        command = ""
    return next((kind for words, kind in KINDS if words in command), "other")
