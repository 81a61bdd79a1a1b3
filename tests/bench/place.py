"""What is measured: the embedded servers as they are shipped, a database, and gunicorns with its own configuration."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from intake import installation
from intake.config import Process, Settings
from intake.db import migrate, open_pool
from intake.embedded import start_postgres, start_valkey
from tests import doorway
from tests.bench.letters import SOURCES
from tests.databases import create, with_database
from tests.ports import free_port

CHECKOUT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # seconds for a start or a stop
DOOR = "intake.app:create_app()"
STAGES = "tests.bench.stages:create_app()"


@dataclass(frozen=True, slots=True)
class Servers:
    """Addresses of PostgreSQL and Valkey, with their process numbers."""

    database_url: str
    redis_url: str
    postgres: int
    valkey: int
    folder: Path


@dataclass(frozen=True, slots=True)
class Web:
    """A gunicorn.  `pid` is its master's."""

    port: int
    pid: int
    settings: Settings
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def servers(folder: Path) -> Iterator[Servers]:
    """PostgreSQL and Valkey of our own, as `intake up` starts them: what is committed is on the disk."""
    with ExitStack() as stack:
        postgres = stack.enter_context(start_postgres(folder))
        valkey = stack.enter_context(start_valkey(folder))
        yield Servers(postgres.url, valkey.url, postgres.process.pid, valkey.process.pid, folder)


def new_database(servers: Servers) -> str:
    """The address of another database, with all tables."""
    url = with_database(servers.database_url, create(servers.database_url, "template0"))
    migrate(url)
    return url


def environ(servers: Servers, database_url: str, home: Path, **more: str) -> dict[str, str]:
    """What a process of this installation finds in its environment."""
    home.mkdir(parents=True, exist_ok=True)
    given = {
        "PATH": os.environ["PATH"],
        **doorway.ENVIRON,
        "DATABASE_URL": database_url,
        "REDIS_URL": servers.redis_url,
        "INTAKE_HOME": str(home),
        "INTAKE_CONFIG": str(doorway.write_config(home, SOURCES)),
        **more,
    }
    _pin(Process.from_environ(given))
    return given


def _pin(process: Process) -> None:
    """The database belongs to this home."""
    pool = open_pool(process.database_url or "", size=1)
    with pool, pool.connection() as conn:
        installation.pin(installation.read(conn), installation.mark_file(process), ours=True)


@contextmanager
def gunicorn(given: Mapping[str, str], *, app: str = DOOR, checkout: Path = CHECKOUT) -> Iterator[Web]:
    """The web process as the Procfile starts it.  `checkout`: whose code it runs."""
    port = free_port()
    log = Path(given["INTAKE_HOME"]) / f"web-{port}.log"
    command = [sys.executable, "-m", "gunicorn", "--config", "python:intake.gunicorn_conf", app]
    with started(command, {**given, "PORT": str(port)}, log, checkout=checkout) as child:
        web = Web(port, child.pid, doorway.read_config(Path(given["INTAKE_CONFIG"])), log)
        _wait_for(web, child)
        yield web


@contextmanager
def started(
    command: Sequence[str], given: Mapping[str, str], log: Path, *, checkout: Path = CHECKOUT
) -> Iterator[subprocess.Popen[bytes]]:
    """A process until the block ends."""
    with log.open("ab") as output:
        # PYTHONPATH stands before what is installed, so that another checkout runs its own code.
        whose = {**given, "PYTHONPATH": str(checkout)}
        child = subprocess.Popen(command, cwd=checkout, env=whose, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield child
    finally:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE)
        child.kill()
        child.wait()


def _wait_for(web: Web, child: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if child.poll() is not None:
            break
        if answers(web.port):
            return
        time.sleep(0.05)
    raise RuntimeError(f"gunicorn does not answer: {web.log.read_text()}")


def answers(port: int) -> bool:
    """Whether a process that serves HTTP lives there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5.0)
    with suppress(OSError):
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.client.OK
    return False
