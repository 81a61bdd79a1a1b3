"""`intake check`: the doctor.  `workers.commands.checking` hands in what only CRM clients know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import psycopg

from intake import aging, at_rest, doctor, heartbeats, standstill
from intake.cli import place
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import console, print_json
from intake.config import ConfigError, Process, Settings
from intake.doctor import Line, Verdict

COLOURS: dict[Verdict, str] = {"ok": "green", "warn": "yellow", "fail": "red"}

OfClients = Callable[[Settings], Iterator[Line]]


def run(of_clients: OfClients, *, json_wanted: bool) -> None:
    """Look at everything that can be looked at, whatever is missing.

    Raises Misconfigured where a setting is wrong, else Finding where a line is a fail.
    """
    lines: list[Line] = []
    for line in examine(of_clients):
        lines.append(line)
        if not json_wanted:
            show(line)
    failed = sum(line.verdict == "fail" for line in lines)
    if json_wanted:
        print_json({"ok": not failed, "checks": lines})
    if failed:
        told = f"{failed} of {len(lines)} checks failed"
        raise Misconfigured(told) if any(line.configuration for line in lines) else Finding(told)


def show(line: Line) -> None:
    """One line, and below it what to do."""
    out = console()
    out.print(f"{line.verdict:<4} ", style=COLOURS[line.verdict], end="")
    out.print(f"{line.what}: {line.detail}", markup=False, soft_wrap=True)
    if line.remedy:
        out.print(f"     → {line.remedy}", markup=False, soft_wrap=True)


def examine(of_clients: OfClients) -> Iterator[Line]:
    """Every line, in the order in which one thing rests on another."""
    try:
        process = place.process()
    except ConfigError as wrong:
        yield from _problems(wrong)
        return
    settings = None
    try:
        settings = place.settings()
        told = place.told()
        yield from doctor.of_settings(settings, told)
        yield from of_clients(settings)
        yield doctor.of_spool(settings)
        at_rest.from_environ(place.environment())
    except ConfigError as wrong:
        yield from _problems(wrong)
    yield from _database(process, settings)
    if process.redis_url is None:
        yield Line("fail", "redis", "REDIS_URL is not set", "set it, or run `intake up`")
    else:
        yield from doctor.of_redis(process.redis_url)


def _problems(wrong: ConfigError) -> Iterator[Line]:
    for problem in wrong.problems:
        place_of = wrong.file if problem.line is None else f"{wrong.file}:{problem.line}"
        said = ": ".join(part for part in (place_of, problem.where, problem.rule) if part)
        yield Line("fail", "configuration", said, "correct it", configuration=True)


def _database(process: Process, settings: Settings | None) -> Iterator[Line]:
    if process.database_url is None:
        yield Line("fail", "database", "DATABASE_URL is not set", "set it, or run `intake up`")
        return
    try:
        with place.connection(agreeing=False) as conn:
            yield from doctor.of_database(conn, now=lambda: datetime.now(UTC))
            migrations = doctor.of_migrations(conn)
            yield migrations
            if migrations.verdict == "ok":
                yield doctor.of_installation(conn, process)
                yield doctor.of_contents(conn, at_rest.from_environ(place.environment()))
                yield from doctor.of_processes(conn)
                if settings is not None:
                    yield from doctor.of_accounts(conn, settings)
                    yield from doctor.of_test_addresses(conn, settings)
                    yield aging.of_retention(conn, settings)
                    yield from standstill.of_deliveries(conn, settings, heartbeats.lacking(conn))
    except psycopg.OperationalError:
        yield Line("fail", "database", "cannot be reached", "start PostgreSQL, or correct DATABASE_URL")
    except ConfigError:
        pass  # The keys are wrong, which was told above.
