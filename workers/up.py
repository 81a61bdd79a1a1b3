"""`intake up`: every process of one installation under one supervisor.

servers (unless DATABASE_URL, REDIS_URL) ─> migrate, pin ─> sandbox CRM ─> web, workers, clock ─> sentinels ─> ready
a stop: web drains ─> workers finish, clock ─> sandbox ─> servers          a second signal: at once
"""

from __future__ import annotations

import fcntl
import http.client
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path

import psycopg

from intake import installation, surroundings
from intake.at_rest import Unopenable
from intake.config import Process
from intake.db import FIRST_MIGRATION, POOLER, migrate
from intake.desk import operators
from intake.embedded import start_postgres, start_valkey
from intake.installation import Mismatch
from intake.surroundings import RUNTIME
from workers import checks, wiring
from workers.plan import LOOPBACK, CannotStart, Plan, plan
from workers.supervisor import Program, Say, Supervisor, end_leftovers, log_of

# Seconds that a stop gives: a request to end, and a call to a CRM (send_within, call) with what follows it.
WEB_PATIENCE, WORKER_PATIENCE = 10.0, 45.0

WATCH_EVERY = 0.05  # seconds
TRIM_EVERY = 60.0  # seconds
READY_WITHIN = 60.0  # seconds until somebody should look
WORKS_WITHIN = 15.0  # seconds; workers that wait for a person (another's database) do not live, and leads are accepted


class Hurry(BaseException):
    """A second signal: end everything at once."""


Play = Callable[[Plan, Supervisor, threading.Event], None]
Change = Callable[[Program], Program]


def up(environ: Mapping[str, str], say: Say, stop: threading.Event, play: Play | None = None) -> None:
    """Run until `stop` is set.  `play`: what to do between plan and wind-down, None: `run`.

    Raises ConfigError, CannotStart, EmbeddedError, psycopg.Error, OSError, OlderCode.
    """
    home = surroundings.home_of(environ).resolve()
    home.mkdir(parents=True, exist_ok=True)
    with only_one(home):
        end_leftovers(home, say)
        supervisor = Supervisor(home, say)
        try:
            (play or run)(plan(environ, home), supervisor, stop)
        except Hurry:
            say("ending everything at once")
            supervisor.kill()
        finally:
            (home / RUNTIME).unlink(missing_ok=True)
            wind_down(supervisor)


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Hold the home; the kernel lets go when we die.  Raises CannotStart."""
    with (home / "up.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(f"`intake up` runs here already (in {home}): stop it, or set INTAKE_HOME") from None
        yield


# --- running --------------------------------------------------------------------------------------------------------


def run(plan: Plan, supervisor: Supervisor, stop: threading.Event) -> None:
    """Start everything, say where it is, and watch it until `stop` is set."""
    environ = start(plan, supervisor)
    describe(plan, environ, supervisor)
    watch(plan.process.port, supervisor, stop)


def start(plan: Plan, supervisor: Supervisor, change: Change = lambda program: program) -> Mapping[str, str]:
    """Start everything, each program as `change` wants it; returns the environment that they share."""
    environ = start_servers(plan, supervisor)
    if plan.sandbox_port is not None:
        environ |= {wiring.SANDBOX_URL: f"http://{LOOPBACK}:{plan.sandbox_port}"}
        supervisor.run(sandbox(plan, environ))
    surroundings.write(supervisor.home / RUNTIME, shared(environ, plan.process.port))
    process = Process.from_environ(environ)
    applied = migrate(environ["DATABASE_URL"])
    if applied:
        supervisor.say(f"migrated: {', '.join(applied)}")
    # An embedded database lies in this home, and belongs to it.
    pin(process, ours=plan.process.database_url is None or FIRST_MIGRATION in applied)
    for program in programs(process, environ):
        supervisor.run(change(program))
    create_sentinels(plan, process, environ, supervisor.say)
    return environ


def start_servers(plan: Plan, supervisor: Supervisor) -> dict[str, str]:
    """The embedded servers that are needed; returns the environment of the others."""
    home = supervisor.home
    environ = dict(plan.environ)
    if plan.process.database_url is None:
        environ["DATABASE_URL"] = supervisor.keep("PostgreSQL", lambda: start_postgres(home)).url
    if plan.process.redis_url is None:
        environ["REDIS_URL"] = supervisor.keep("Valkey", lambda: start_valkey(home)).url
    return environ


def shared(environ: Mapping[str, str], port: int) -> dict[str, str]:
    """What other commands of this home need to know."""
    names = ("DATABASE_URL", POOLER, "REDIS_URL", "INTAKE_CONFIG", "INTAKE_WORKERS", wiring.SANDBOX_URL)
    return {name: environ[name] for name in names if name in environ} | {"PORT": str(port)}


def pin(process: Process, *, ours: bool) -> None:
    """Write the mark of a new installation outside its database."""
    if process.installation is None:
        with psycopg.connect(process.database_url or "", autocommit=True) as conn:
            installation.pin(installation.read(conn), installation.mark_file(process), ours=ours)


def sandbox(plan: Plan, environ: Mapping[str, str]) -> Program:
    """The sandbox CRM, as the first of its destinations wants it."""
    options = next((each.options for each in plan.sandboxes if each.options), {})
    command = [sys.executable, "-P", "-m", "crm_clients.sandbox", "--port", str(plan.sandbox_port)]
    command += ["--data", str(plan.process.intake_home / "sandbox.sqlite")]
    for option, key in (("--profile", "profile"), ("--limit", "limit_seconds"), ("--lag", "lag_seconds")):
        if key in options:
            command += [option, options[key]]
    return Program("sandbox", tuple(command), environ)


def programs(process: Process, environ: Mapping[str, str]) -> Iterator[Program]:
    """As in the Procfile."""
    gunicorn = (sys.executable, "-P", "-m", "gunicorn", "--config", "python:intake.gunicorn_conf")
    port = {"PORT": str(process.port)}
    yield Program("web", (*gunicorn, "intake.app:create_app()"), {**environ, **port}, WEB_PATIENCE)
    intake = (sys.executable, "-P", "-m", "workers.main")
    for number in range(1, process.workers + 1):
        yield Program(f"worker-{number}", (*intake, "worker"), environ, WORKER_PATIENCE)
    yield Program("clock", (*intake, "clock"), environ)


def create_sentinels(plan: Plan, process: Process, environ: Mapping[str, str], say: Say) -> None:
    """In the embedded sandbox only: real accounts are their owner's to check."""
    if plan.sandbox_port is None:
        return
    wait_for(plan.sandbox_port)
    try:
        desk = wiring.desk_of(process, plan.settings, environ)
    except (Mismatch, Unopenable) as foreign:
        say(f"nothing is delivered: {foreign}")
        return
    try:
        for each in plan.sandboxes:
            for finding in checks.check(desk, desk.wired[each.name], create=True):
                if not finding.ok:
                    say(f"{finding.destination}: {finding.what}: {finding.detail}; {finding.remedy}")
    finally:
        desk.pool.close()
        desk.transport.close()


def wait_for(port: int) -> None:
    """Until something listens there, at most some seconds."""
    until = time.monotonic() + 10.0
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=1.0):
            return
        time.sleep(WATCH_EVERY)


def describe(plan: Plan, environ: Mapping[str, str], supervisor: Supervisor) -> None:
    """Where things are."""
    supervisor.say(f"console     http://{LOOPBACK}:{plan.process.port}/console{first_login(environ)}")
    supervisor.say(f"receiver    http://{LOOPBACK}:{plan.process.port}/hooks/<source>")
    if plan.sandbox_port is not None:
        supervisor.say(f"sandbox CRM {environ[wiring.SANDBOX_URL]}")
    supervisor.say(f"state       {supervisor.home}")
    supervisor.say(f"logs        {log_of(supervisor.home, 'web').parent}")
    for notice in plan.settings.notices:
        supervisor.say(f"notice      {notice}")


def first_login(environ: Mapping[str, str]) -> str:
    """How the console is opened, where nobody has a login yet."""
    with psycopg.connect(environ["DATABASE_URL"]) as conn:
        return "" if operators.everybody(conn) else "  (first: intake operators add NAME --role admin)"


def watch(port: int, supervisor: Supervisor, stop: threading.Event) -> None:
    """Keep everything running; say once when it is ready."""
    began = trimmed = time.monotonic()
    told = False
    while not stop.wait(WATCH_EVERY):
        supervisor.watch()
        now = time.monotonic()
        if not told and is_ready(port) and (works(port) or now - began > WORKS_WITHIN):
            supervisor.say(f"ready       http://{LOOPBACK}:{port}/readyz")
            told = True
        elif not told and now - began > READY_WITHIN:
            supervisor.say(
                f"not ready after {READY_WITHIN:.0f} s: see {log_of(supervisor.home, 'web')}, `intake check`"
            )
            began = now
        if now - trimmed > TRIM_EVERY:
            supervisor.trim_logs()
            trimmed = now


def is_ready(port: int) -> bool:
    """Whether a delivery would be accepted now."""
    return _readiness(port) is not None


def works(port: int) -> bool:
    """Whether what is accepted would be delivered: a worker and a clock live."""
    told = _readiness(port)
    processes = told.get("processes") if told is not None else None
    return isinstance(processes, dict) and all(processes.get(name, {}).get("alive") for name in ("worker", "clock"))


def _readiness(port: int) -> dict[str, object] | None:
    """What the receiver says of itself; None: it accepts nothing."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=1.0)
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        told: dict[str, object] = json.loads(answer.read())
    except (OSError, ValueError, http.client.HTTPException):
        return None
    else:
        return told if answer.status == HTTPStatus.OK else None
    finally:
        connection.close()


# --- stopping -------------------------------------------------------------------------------------------------------


def wind_down(supervisor: Supervisor) -> None:
    """No new deliveries, then the work in hand, then what both rest on."""
    try:
        names = [child.program.name for child in supervisor.children]
        supervisor.stop(_some(names, "web"))
        supervisor.stop(_some(names, "worker-", "clock"))
        supervisor.stop(names)
        supervisor.stop_servers()
    except Hurry:
        supervisor.say("ending everything at once")
        supervisor.kill()
        supervisor.stop_servers()


def _some(names: Iterable[str], *prefixes: str) -> list[str]:
    return [name for name in names if name.startswith(prefixes)]


class Signals:
    """The first SIGTERM or SIGINT sets `stop`; a second one raises Hurry, a third does nothing.

    A terminal that is closed (SIGHUP) stops it too, unless it was started to outlive its terminal.
    """

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.hurried = False
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def _handle(self, signum: int, frame: object) -> None:
        del signum, frame
        if not self.stop.is_set():
            self.stop.set()
        elif not self.hurried:
            self.hurried = True
            raise Hurry


def main(say: Say) -> None:
    """Run with this process's environment and signals."""
    up({name: value for name, value in os.environ.items() if value}, say, Signals().stop)
