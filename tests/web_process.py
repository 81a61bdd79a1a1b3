"""The door as a child process: gunicorn, as the Procfile runs it, on a free loopback port."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from intake.config import Settings
from tests.doorway import ENVIRON, SOURCES, Json, read_config, signed, write_config
from tests.ports import free_port
from tests.unhurried import STORE_LIMIT

CHECKOUT = Path(__file__).resolve().parent.parent
# Seconds for a start or a stop on a slow machine, and for any answer.
PATIENCE = 30.0
# And for a start where many programs start at once.
PATIENCE_AT_START = 120.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client reads of one answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Json:
        found: Json = json.loads(self.body)
        return found


@dataclass(frozen=True, slots=True)
class Web:
    """A gunicorn of our own."""

    port: int
    pid: int
    settings: Settings
    log: Path

    def send(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def post(self, source: str, body: bytes, *, delivery_id: str, mode: str = "live") -> Answer:
        """An authentic delivery."""
        path = f"/hooks/{source}" if mode == "live" else f"/test/hooks/{source}"
        headers = signed(self.settings, source, body, delivery_id=delivery_id, mode=mode)
        return self.send("POST", path, body, headers)

    def connect(self) -> socket.socket:
        """A connection to say anything on."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def say(self, request: bytes) -> bytes:
        """All that is answered to these bytes; nothing where the server hangs up on them."""
        answer = bytearray()
        with self.connect() as sock, suppress(OSError):
            sock.sendall(request)
            sock.shutdown(socket.SHUT_WR)
            while piece := sock.recv(65536):
                answer += piece
        return bytes(answer)

    def workers(self) -> set[int]:
        """The worker processes that live now."""
        return set(map(int, Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()))


def command() -> list[str]:
    """The Procfile's own, with this interpreter."""
    lines = dict(line.split(": ", 1) for line in (CHECKOUT / "Procfile").read_text().splitlines() if ": " in line)
    program, *arguments = shlex.split(lines["web"])
    assert program == "gunicorn"
    return [sys.executable, "-m", program, *arguments]


@contextmanager
def web(
    folder: Path,
    *,
    database_url: str,
    redis_url: str,
    sources: Mapping[str, str] = SOURCES,
    intake: str = "",
    **settings: str,
) -> Iterator[Web]:
    """Run it until the block ends.  `settings` are variables of its environment, such as WEB_WORKERS.

    It is in no hurry with its database, unless they say so.

    `intake`: what this table of its configuration says.
    """
    config = write_config(folder, sources, intake=intake)
    port = free_port()
    environ = {"PATH": os.environ["PATH"], **ENVIRON, "DATABASE_URL": database_url, "REDIS_URL": redis_url}
    environ |= {
        "INTAKE_CONFIG": str(config),
        "INTAKE_HOME": str(folder),
        "PORT": str(port),
        "WEB_STORE_LIMIT": str(STORE_LIMIT),
        **settings,
    }
    log = folder / "web.log"
    with log.open("wb") as output:
        child = subprocess.Popen(command(), cwd=CHECKOUT, env=environ, stdout=output, stderr=subprocess.STDOUT)
    try:
        made = Web(port, child.pid, read_config(config), log)
        _wait_for(made, child)
        yield made
    finally:
        child.terminate()
        try:
            child.wait(PATIENCE)
        finally:
            child.kill()
            child.wait()


def _wait_for(made: Web, child: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE_AT_START
    while time.monotonic() < until:
        assert child.poll() is None, made.log.read_text()
        try:
            if made.send("GET", "/healthz").status == 200:
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"gunicorn does not answer: {made.log.read_text()}")
