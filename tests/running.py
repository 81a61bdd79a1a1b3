"""`intake up` as a person runs it: a process of its own, with a home of its own, on a free port."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.ports import free_port

Json = dict[str, object]

PATIENCE = 120.0  # seconds, for a slow machine
FORM = {"name": "Ana Prueba", "email": "ana@example.com", "phone": "987654321", "message": "Hola"}


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Json:
        found: Json = json.loads(self.out)
        return found


@dataclass(slots=True)
class Home:
    """A home with its environment; `start` runs `up` on it."""

    folder: Path
    port: int
    more: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None

    @property
    def environ(self) -> dict[str, str]:
        """Nothing of this test run's own settings but the way to programs."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {**kept, "INTAKE_HOME": str(self.folder / "var"), **self.more}

    def start(self) -> None:
        """Start `up` and wait until it says that it is ready."""
        log = self.log.open("w")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workers.main", "up"],
            env={**self.environ, "PORT": str(self.port), "INTAKE_WORKERS": "2"},
            cwd=self.folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
        )
        log.close()
        until(lambda: "\nready " in self.said or self.process is None or self.process.poll() is not None)
        assert "\nready " in self.said, self.said + self.logs

    @property
    def log(self) -> Path:
        return self.folder / "up.log"

    @property
    def said(self) -> str:
        """What `up` printed."""
        return self.log.read_text()

    @property
    def logs(self) -> str:
        """The last words of the processes."""
        files = sorted((self.folder / "var" / "log").glob("*.log"))
        return "\n".join(f"{file.name}: {file.read_text()[-1000:]}" for file in files)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End `up`; returns its status."""
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)

    def children(self) -> dict[str, int]:
        """The processes below `up`, by what they run."""
        assert self.process is not None
        return dict(named(self.process.pid))

    def intake(self, *words: object, given: str = "") -> Done:
        """Another command, from another shell: the home is all that it knows."""
        command = [sys.executable, "-m", "workers.main", *(str(word) for word in words)]
        done = subprocess.run(
            command, env=self.environ, cwd=self.folder, input=given, capture_output=True, text=True, check=False
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def send(self, **answers: str) -> str:
        """One form, accepted; returns its event_id.  Sent again while nobody listens, as every sender does.

        The workers of a web server that was killed answer for a moment longer, and the next one listens after that.
        """
        tries: list[Done] = []

        def accepted() -> bool:
            tries.append(self.intake("send", "web-contact", "-", "--json", given=json.dumps(FORM | answers)))
            return "no receiver answers" not in tries[-1].err

        until(accepted)
        done = tries[-1]
        assert done.status == 0, done.err
        match done.document["event_ids"]:
            case [event_id]:
                return str(event_id)
            case other:
                raise AssertionError(f"one event was sent, and there are {other}")

    def state(self, event_id: str) -> str:
        """Where an event stands."""
        return str(self.intake("show", event_id, "--json").document["state"])

    def is_ready(self) -> bool:
        """Whether the receiver would accept a delivery."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5.0)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def named(parent: int) -> Iterator[tuple[str, int]]:
    """The children of a process: postgres, valkey, sandbox, web, worker, worker-2, clock."""
    for each in Path("/proc").glob("[0-9]*"):
        try:
            fields = (each / "stat").read_text().rpartition(")")[2].split()
            words = (each / "cmdline").read_bytes().decode().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == parent and fields[0] not in "ZX":
            name = name_of(words)
            yield (name if name != "worker" else f"worker {each.name}"), int(each.name)


def name_of(words: list[str]) -> str:
    """What a command line runs."""
    text = " ".join(words)
    for sign, name in (("valkey", "valkey"), ("postgres", "postgres"), ("sandbox", "sandbox"), ("gunicorn", "web")):
        if sign in text:
            return name
    # A process between fork and exec, or one that ends, has no words.
    return "".join(words[-2:])


def until(condition: Callable[[], object], patience: float = PATIENCE) -> bool:
    """Wait for a condition.  Returns whether it came true."""
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def home(**more: str) -> Iterator[Home]:
    """A new home, and nothing left running of it at the end."""
    # A short path that an unprivileged user may pass through, as PostgreSQL needs it when root starts it.
    folder = Path(tempfile.mkdtemp(prefix="lead-intake-up-"))
    folder.chmod(0o711)
    made = Home(folder, free_port(), more)
    try:
        yield made
    finally:
        if made.process is not None and made.process.poll() is None:
            made.stop()
        clean_up(folder)
        shutil.rmtree(folder)


def clean_up(folder: Path) -> None:
    """End what a killed `up` left of this home: only processes whose command line names this folder."""
    for each in Path("/proc").glob("[0-9]*"):
        try:
            words = (each / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(folder).encode() in words:
            os.kill(int(each.name), signal.SIGKILL)
