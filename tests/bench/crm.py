"""The sandbox CRM as a process of its own, slow as wanted, and workers at it, for one database."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import requests
from psycopg.rows import scalar_row

from crm_clients.sandbox.dials import Dials
from tests.bench.load import CannotMeasure
from tests.bench.place import CHECKOUT, PATIENCE, Servers, environ, new_database, started
from tests.bench.sizes import Cell
from tests.ports import free_port
from workers import wiring

INTAKE = (sys.executable, "-P", "-m", "workers.main")


@dataclass(frozen=True, slots=True)
class Company:
    """A database, its CRM, and what a process of it finds in its environment."""

    database_url: str
    dials: Dials
    given: dict[str, str]
    sandbox: int

    @property
    def home(self) -> Path:
        return Path(self.given["INTAKE_HOME"])

    def count(self, query: str) -> int:
        """What the database counts."""
        with psycopg.connect(self.database_url) as conn, conn.cursor(row_factory=scalar_row) as cursor:
            return int(cursor.execute(query.encode()).fetchone() or 0)

    def calls(self) -> int:
        """How many requests the CRM has had."""
        return len(self.dials.requests())


@contextmanager
def company(servers: Servers, cell: Cell) -> Iterator[Company]:
    """A new database and a new CRM whose every call takes `cell.latency`, with sentinels in it."""
    database_url, port = new_database(servers), free_port()
    home = servers.folder / f"company-{port}"
    more = {wiring.SANDBOX_URL: f"http://127.0.0.1:{port}", "INTAKE_THREADS": str(cell.threads)}
    given = environ(servers, database_url, home, INTAKE_WORKERS=str(cell.processes), **more)
    command = [sys.executable, "-P", "-m", "crm_clients.sandbox", "--port", str(port), "--lag", "0"]
    with started(command, given, home / "sandbox.log") as child:
        dials = Dials(f"http://127.0.0.1:{port}")
        _wait_for(dials)
        check = [*INTAKE, "crm", "check", "--create"]
        subprocess.run(check, cwd=CHECKOUT, env=given, check=False, capture_output=True, timeout=PATIENCE)
        dials.replace_faults([{"fault": "slow", "seconds": cell.latency, "times": None}])
        yield Company(database_url, dials, given, child.pid)


def _wait_for(dials: Dials) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            dials.no_faults()
        except requests.RequestException:
            if time.monotonic() > until:
                raise CannotMeasure("the sandbox CRM does not answer") from None
            time.sleep(0.05)
        else:
            return


@contextmanager
def workers(company: Company, processes: int) -> Iterator[list[int]]:
    """Workers and a clock, as the Procfile starts them; the workers' process numbers."""
    with ExitStack() as stack:
        log = company.home / "workers.log"
        made = [stack.enter_context(started([*INTAKE, "worker"], company.given, log)) for _ in range(processes)]
        stack.enter_context(started([*INTAKE, "clock"], company.given, log))
        yield [each.pid for each in made]
