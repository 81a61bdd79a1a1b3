"""`intake prove --chaos` in a few seconds, and that nothing of it remains when it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.plant import CHECKOUT, WITHIN, hurry
from tests.running import until
from workers.demo.home import PREFIX
from workers.prove.chaos.run import Wishes, run
from workers.supervisor import Program

pytestmark = pytest.mark.slow

# One of each sort; none whose recovery takes long by design, as that from a paused account.
FAULTS = ("kill_worker", "kill_one_web", "cut_connections", "crm_lost_answers", "flush_valkey", "postgres_away")
SECONDS = 5.0


def hasty(program: Program) -> Program:
    """The tests' own workers, whose leases last for seconds."""
    if not program.name.startswith("worker-"):
        return program
    environ = {**program.environ, "PYTHONPATH": str(CHECKOUT)}
    return replace(program, command=(sys.executable, "-m", "tests.stopping_worker"), environ=environ)


def test_some_seconds_of_chaos_lose_and_double_nothing() -> None:
    said: list[str] = []
    wishes = Wishes(SECONDS, seed=1, faults=FAULTS, pause=0.4, change=hasty, nudge=hurry, mounts=False)
    report = run(wishes, said.append)
    document = report.document()
    assert {name: document[name] for name in ("lost", "doubled", "open", "reconcile", "failures", "refused")} == {
        "lost": 0, "doubled": 0, "open": 0, "reconcile": {}, "failures": {"lost": [], "doubled": []}, "refused": [],
    }, said  # fmt: skip
    assert document["accepted"] == document["confirmed"] != 0
    assert report.faults.total() >= 1
    assert report.recovery is not None


def test_an_interrupted_proof_leaves_nothing_behind(tmp_path: Path) -> None:
    """Whenever that happens, here while it starts: what it started lies below its home, and ends with it."""
    command = [sys.executable, "-P", "-m", "workers.main", "prove", "--chaos", "1"]
    base = Path(tempfile.mkdtemp(prefix="chaos-", dir=tempfile.gettempdir()))
    base.chmod(0o711)  # Started by root, PostgreSQL runs as another user.
    with subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "TMPDIR": str(base)}, stderr=subprocess.PIPE) as it:
        assert it.stderr is not None
        assert until(lambda: any(base.glob(f"{PREFIX}*/children")), WITHIN)
        (home,) = base.glob(f"{PREFIX}*")
        it.send_signal(signal.SIGINT)
        rest = it.stderr.read()
    assert (it.returncode, b"interrupted" in rest) == (130, True)
    assert not any(base.iterdir())
    assert processes_of(home) == []
    base.rmdir()


def processes_of(home: Path) -> list[str]:
    """The numbers of processes that name this folder."""
    return [each.parent.name for each in Path("/proc").glob("[0-9]*/cmdline") if str(home) in text(each)]


def text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""  # It has just ended.
