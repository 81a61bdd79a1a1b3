"""Commands that run processes: up, worker, clock."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import closing

import click
import psycopg
import redis
import structlog

from crm_clients.registry import BadSetting, UnknownClient
from intake import at_rest, installation, logs, queue
from intake.at_rest import Unopenable
from intake.cli.group import Finding, Misconfigured
from intake.config import Process
from intake.db import open_pool
from intake.heartbeats import process_name
from intake.installation import Mismatch
from intake.missing_secrets import missing
from intake.processes import EmbeddedError
from intake.surroundings import surroundings

log = structlog.get_logger()

# How often a process asks again for servers that come late, in seconds.
ASK_AGAIN = 1.0

# How long a clock that stops waits for a message that is being sent, in seconds.
WATCH_ENDS_WITHIN = 12.0


@click.command()
def up() -> None:
    """Run everything on this host until a signal.

    PostgreSQL and Valkey come from wheels unless DATABASE_URL and REDIS_URL are set.  State stands under INTAKE_HOME
    (./var), the receiver listens on 127.0.0.1:$PORT (8080).
    """
    # Worker and clock do not need them.
    from workers import up as everything  # noqa: PLC0415
    from workers.plan import CannotStart  # noqa: PLC0415

    logs.configure()
    try:
        everything.main(click.echo)
    except CannotStart as told:
        raise Misconfigured(str(told)) from told
    except everything.Hurry:
        raise Finding("ended at once") from None
    except EmbeddedError as told:
        raise Finding(str(told)) from told


@click.command()
def worker() -> None:
    """Take jobs until a signal; the calls in hand end first."""
    from workers import process as working  # noqa: PLC0415  # the clock does not need it

    process = _begin()
    _wait_for_servers(process)
    _wait_for_installation(process)
    try:
        made = working.from_environ(os.environ)
    except (UnknownClient, BadSetting, ValueError) as wrong:
        raise Misconfigured(str(wrong)) from wrong
    working.run(process.redis_url or "", made)


@click.command()
def clock() -> None:
    """Tick until a signal: release, wake, hint; and watch beside it: alerts, the digest, the nightly reconciliation."""
    from crm_clients.transport import Transport  # noqa: PLC0415  # the worker needs none of these
    from workers import clock as ticking  # noqa: PLC0415
    from workers import watch, wiring  # noqa: PLC0415

    process = _begin()
    settings = wiring.settings_of(process, os.environ)
    _wait_for_servers(process)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    pool = open_pool(process.database_url or "", size=2, payloads=at_rest.from_environ(os.environ))
    client = queue.connect(process.redis_url or "")
    with closing(pool), Transport() as transport:
        tools = watch.Watch(pool, settings, transport)
        # Not in the ticks' own thread: a webhook that hangs holds no delivery up.
        watching = threading.Thread(target=watch.run, args=(tools, stop), name="watch", daemon=True)
        watching.start()
        ticking.run(
            pool,
            name=process_name(),
            hint=lambda: queue.hint(client, at_most=process.workers),
            stop=stop,
            missing=missing(settings, "clock"),
        )
        watching.join(WATCH_ENDS_WITHIN)


def _begin() -> Process:
    """The process settings, completed by what a running `up` says.  Raises ConfigError, Misconfigured."""
    logs.configure()
    os.environ.update(surroundings(os.environ))
    process = Process.from_environ(os.environ)
    missing = [
        name for name, url in (("DATABASE_URL", process.database_url), ("REDIS_URL", process.redis_url)) if url is None
    ]
    if missing:
        raise Misconfigured(f"{' and '.join(missing)} must be set, or `intake up` must run in {process.intake_home}")
    return process


def _wait_for_servers(process: Process) -> None:
    """Until PostgreSQL answers with our tables, and Redis answers."""
    client = queue.connect(process.redis_url or "")
    while True:
        try:
            with psycopg.connect(process.database_url or "", connect_timeout=3) as conn:
                installation.read(conn)
            client.ping()
        except psycopg.errors.UndefinedTable:
            log.warning("waiting for the tables, which intake migrate makes")
        except (psycopg.Error, redis.RedisError, Mismatch) as away:
            log.warning("waiting for PostgreSQL and Redis", error=type(away).__name__)
        else:
            return
        time.sleep(ASK_AGAIN)


def _wait_for_installation(process: Process) -> None:
    """Until the database is the one that this host delivers for; a person says so (`intake restored`)."""
    told = False
    while True:
        try:
            with psycopg.connect(process.database_url or "", connect_timeout=3) as conn:
                installation.check(installation.read(conn), installation.expected(process))
                at_rest.agree(conn, at_rest.from_environ(os.environ))
        except (Mismatch, Unopenable) as foreign:
            if not told:
                log.error("nothing is delivered", why=str(foreign))  # noqa: TRY400  # no bug, so no traceback
            told = True
        except psycopg.Error as away:
            log.warning("waiting for PostgreSQL", error=type(away).__name__)
        else:
            return
        time.sleep(ASK_AGAIN)
