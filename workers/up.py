"""`intake up`: every process of one installation under one supervisor.

servers (unless DATABASE_URL, REDIS_URL) ─> migrate, pin ─> sandbox CRM ─> web, workers, clock ─> sentinels ─> ready
a stop: web drains ─> workers finish, clock ─> sandbox ─> servers          a second signal: at once
"""

from __future__ import annotations

import base64
import fcntl
import http.client
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path

import psycopg

from crm_clients.registry import BadSetting, UnknownClient
from intake import installation, sealing, spooling, surroundings
from intake.config import Destination, Process, Settings
from intake.db import FIRST_MIGRATION, migrate
from intake.embedded import start_postgres, start_valkey
from intake.installation import Mismatch
from intake.surroundings import DEMO_SECRETS, RUNTIME
from workers import checks, wiring
from workers.supervisor import Program, Say, Supervisor, end_leftovers, log_of

# The sandbox's port may be chosen, for a person who looks at it; any free one serves otherwise.
SANDBOX_PORT = "INTAKE_SANDBOX_PORT"
LOOPBACK = "127.0.0.1"

# Seconds that a stop gives: a request to end, and a call to a CRM (send_within, call) with what follows it.
WEB_PATIENCE, WORKER_PATIENCE = 10.0, 45.0

WATCH_EVERY = 0.05  # seconds
TRIM_EVERY = 60.0  # seconds
READY_WITHIN = 60.0  # seconds until somebody should look


class CannotStart(Exception):
    """Nothing was started; the text says what to do."""


class Hurry(BaseException):
    """A second signal: end everything at once."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What `up` found out before it started anything.  `sandbox_port` None: no destination needs the sandbox."""

    process: Process
    settings: Settings
    environ: Mapping[str, str]
    sandboxes: tuple[Destination, ...]
    sandbox_port: int | None


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


# --- before anything is started -------------------------------------------------------------------------------------


def plan(environ: Mapping[str, str], home: Path) -> Plan:
    """Read the configuration and check it against this version and this host.  Raises ConfigError, CannotStart."""
    environ = {**environ, "INTAKE_HOME": str(home)}
    process = Process.from_environ(environ)
    process = replace(process, config=process.config.resolve())
    if process.is_demo:
        environ = {**demo_secrets(process, environ), **environ}
    settings = wiring.settings_of(process, environ)
    must_be_wired(settings.destinations.values(), environ)
    must_keep(settings, environ)
    must_be_free(process.port)
    sandboxes = tuple(each for each in settings.destinations.values() if is_embedded(each, environ))
    environ["INTAKE_CONFIG"] = str(process.config)
    return Plan(process, settings, environ, sandboxes, sandbox_port(environ) if sandboxes else None)


def must_be_wired(destinations: Iterable[Destination], environ: Mapping[str, str]) -> None:
    """Raises CannotStart for a destination that this version cannot speak to."""
    try:
        for each in destinations:
            if not each.closed_because:
                wiring.wire(each, environ)
    except (UnknownClient, BadSetting, ValueError) as wrong:
        raise CannotStart(str(wrong)) from wrong


def must_keep(settings: Settings, environ: Mapping[str, str]) -> None:
    """Raises CannotStart, ConfigError where the receiver would not start: its spool would forget, or lacks its keys."""
    sealing.from_environ(environ)
    wrong = spooling.unfit(settings.spool_dir, persistent=settings.spool_persistent) if settings.spool_dir else None
    if wrong is not None:
        raise CannotStart(f"intake.spool_dir: {settings.spool_dir} {wrong}")


def demo_secrets(process: Process, environ: Mapping[str, str]) -> Mapping[str, str]:
    """The secrets of the built-in configuration, made once, so that a newcomer can send at once."""
    file = process.intake_home / DEMO_SECRETS
    known = surroundings.read(file)
    sources = wiring.settings_of(process, environ).sources.values()
    wanted = [secret for source in sources for secret in (*source.secrets, source.verify_token) if secret is not None]
    names = [each.reference.removeprefix("env:") for each in wanted if each.reference.startswith("env:INTAKE_DEMO_")]
    missing = {
        name: f"whsec_{base64.b64encode(secrets.token_bytes(24)).decode()}" for name in names if name not in known
    }
    if missing:
        surroundings.write(file, {**known, **missing})
    return {**known, **missing}


def must_be_free(port: int) -> None:
    """Raises CannotStart where something else listens on the receiver's port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise CannotStart(f"port {port} cannot be used ({error.strerror}): set PORT to a free one") from None


def is_embedded(destination: Destination, environ: Mapping[str, str]) -> bool:
    """Whether this account is the sandbox that comes with the program, and nobody runs one elsewhere."""
    return destination.client == "sandbox" and destination.base_url is None and wiring.SANDBOX_URL not in environ


def sandbox_port(environ: Mapping[str, str]) -> int:
    """The port that was asked for, or a free one; kept for as long as this supervisor runs."""
    wanted = environ.get(SANDBOX_PORT) or "0"
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, int(wanted)))
        except (OSError, ValueError, OverflowError):
            raise CannotStart(f"{SANDBOX_PORT} is no port that can be used: choose another, or none") from None
        port: int = probe.getsockname()[1]
        return port


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
    names = ("DATABASE_URL", "REDIS_URL", "INTAKE_CONFIG", "INTAKE_WORKERS", wiring.SANDBOX_URL)
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
    except Mismatch as foreign:
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
    supervisor.say(f"receiver    http://{LOOPBACK}:{plan.process.port}/hooks/<source>")
    if plan.sandbox_port is not None:
        supervisor.say(f"sandbox CRM {environ[wiring.SANDBOX_URL]}")
    supervisor.say(f"state       {supervisor.home}")
    supervisor.say(f"logs        {log_of(supervisor.home, 'web').parent}")
    for notice in plan.settings.notices:
        supervisor.say(f"notice      {notice}")


def watch(port: int, supervisor: Supervisor, stop: threading.Event) -> None:
    """Keep everything running; say once when it is ready."""
    began = trimmed = time.monotonic()
    told = False
    while not stop.wait(WATCH_EVERY):
        supervisor.watch()
        now = time.monotonic()
        if not told and is_ready(port):
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
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=1.0)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
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
