"""Where the demonstration runs: a home of its own, ports of its own, and the same processes as `intake up`."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from crm_clients.sandbox.dials import Dials
from intake.config import DEMO_CONFIG
from workers import up, wiring
from workers.demo.login import Login, make
from workers.plan import LOOPBACK, Plan
from workers.supervisor import Program, Supervisor

# What could lead the demonstration to somebody's servers, or change how its own behave.
FOREIGN = frozenset({"DATABASE_URL", "REDIS_URL", "PORT", "SANDBOX_TOKEN", "GUNICORN_CMD_ARGS", "WEB_CONCURRENCY"})
FOREIGN_PREFIXES = ("INTAKE_", "PG")

POLL = 0.05  # seconds


class Stopped(Exception):
    """A signal came: leave everything as it is, and clean up."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that runs.  Its supervisor watches only while somebody waits here."""

    url: str
    database_url: str
    dials: Dials
    login: Login
    plan: Plan
    supervisor: Supervisor
    stop: threading.Event

    def wait_until(self, condition: Callable[[], bool], patience: float) -> bool:
        """Whether it came true within `patience` seconds.  Raises Stopped."""
        until = time.monotonic() + patience
        while not condition():
            if time.monotonic() > until:
                return False
            self.pause()
        return True

    def pause(self) -> None:
        """Let the processes run for a moment.  Raises Stopped."""
        if self.stop.wait(POLL):
            raise Stopped
        self.supervisor.watch()


def set_up(plan: Plan, supervisor: Supervisor, stop: threading.Event, worker: Sequence[str] | None) -> Stage:
    """Start everything.  `worker`: the command of another worker than ours, None: ours.

    Raises Stopped, and what `up.start` raises.
    """

    def cast(program: Program) -> Program:
        if stop.is_set():
            raise Stopped
        is_worker = worker is not None and program.name.startswith("worker-")
        return replace(program, command=tuple(worker)) if is_worker and worker else program

    environ = up.start(plan, supervisor, cast)
    return Stage(
        url=f"http://{LOOPBACK}:{plan.process.port}",
        database_url=environ["DATABASE_URL"],
        dials=Dials(environ[wiring.SANDBOX_URL]),
        login=make(environ["DATABASE_URL"]),
        plan=plan,
        supervisor=supervisor,
        stop=stop,
    )


# --- its surroundings -------------------------------------------------------------------------------------------------


def surroundings(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """The environment of the demonstration: nothing of another installation, and free ports."""
    own = {
        name: value
        for name, value in environ.items()
        if value and name not in FOREIGN and not name.startswith(FOREIGN_PREFIXES)
    }
    return own | {"INTAKE_HOME": str(home), "INTAKE_CONFIG": str(DEMO_CONFIG), "PORT": str(_free_port())}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
