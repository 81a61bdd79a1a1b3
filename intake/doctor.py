"""What the doctor looks at: configuration, database, Redis, processes, accounts.  Each line says what to do.

A line is ok, warn (something works less well, or soon will not) or fail (deliveries are not accepted or not delivered).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import psycopg
from psycopg.rows import scalar_row, tuple_row

from intake import at_rest, heartbeats, installation, missing_secrets, queue, spooling
from intake.alerts import conditions
from intake.at_rest import Keys
from intake.config import Process, Settings
from intake.db import Conn, sql_folder
from intake.installation import Mismatch
from intake.missing_secrets import Told
from intake.sealing import SETTING
from intake.spool import stock_of

Verdict = Literal["ok", "warn", "fail"]

# Seconds; a clock that ticked longer ago than this has stopped.
CLOCK_LATE = 15.0
# Seconds that this host's clock may differ: signatures are checked by it, with tolerances of minutes.
SKEW = 5.0
OLDEST_POSTGRES = 15
OLDEST_REDIS = 7


@dataclass(frozen=True, slots=True)
class Line:
    """`remedy` is empty where nothing is to be done.  `configuration`: what fails is a setting, so exit status 2."""

    verdict: Verdict
    what: str
    detail: str
    remedy: str = ""
    configuration: bool = False


# --- configuration --------------------------------------------------------------------------------------------------


def of_settings(settings: Settings, told: Told) -> Iterator[Line]:
    """A configuration that was read, and what it lacks: here, and in the processes that run, as these have `told`."""
    names = ", ".join(settings.sources) or "none"
    yield Line("ok", "configuration", f"{len(settings.sources)} sources: {names}")
    judged = [use for use in missing_secrets.uses(settings) if missing_secrets.lacks(use, told) is not None]
    elsewhere = {use.secret.problem for use in judged if use.secret.problem}
    # Each has a line of its own, which fails.
    elsewhere |= {each.unfinished for each in settings.destinations.values() if each.unfinished}
    for notice in settings.notices:
        if not any(problem in notice for problem in elsewhere):
            yield Line("warn", "notice", notice, "set it and start again, or remove it from the configuration")
    yield from _secrets(settings, judged, told)


def _secrets(settings: Settings, judged: Iterable[missing_secrets.Use], told: Told) -> Iterator[Line]:
    """What counts is what the running processes have; where this shell has another environment, that is told."""
    needed = list(missing_secrets.uses(settings))
    if not any(use.is_missing or missing_secrets.lacks(use, told) for use in needed):
        yield Line("ok", "secrets", f"{len(needed)} are named, and all are there")
    closed = missing_secrets.closed(settings, told)
    for use in judged:
        those, there = missing_secrets.PROCESSES[use.process], missing_secrets.lacks(use, told)
        if there:
            verdict: Verdict = "fail" if use.owner in closed else "warn"
            here = "" if use.is_missing else "; this shell has it"
            yield Line(verdict, use.owner, f"the running {those} lack {use.secret.reference}{here}",
                       "set it where they are started, and start them again")  # fmt: skip
        elif use.is_missing:
            yield Line("ok", use.owner, f"the running {those} have {use.secret.reference}; this shell lacks it")


# --- the database ---------------------------------------------------------------------------------------------------


def setting(conn: Conn, name: str) -> str:
    """One of PostgreSQL's settings."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        value: str | None = cursor.execute("SELECT current_setting(%(name)s)", {"name": name}).fetchone()
    return value or ""


def of_database(conn: Conn, *, now: Callable[[], datetime]) -> Iterator[Line]:
    """Its version, whether a commit is on disk, and whether its clock and ours agree.  `now`: this host's, aware."""
    version = conn.info.server_version // 10_000
    known = version >= OLDEST_POSTGRES
    yield Line("ok" if known else "fail", "database", f"PostgreSQL {version}",
               "" if known else f"use PostgreSQL {OLDEST_POSTGRES} or later")  # fmt: skip
    for name in ("fsync", "synchronous_commit"):
        value = setting(conn, name)
        on = value not in {"off", "false"}
        yield Line("ok" if on else "fail", name, value,
                   "" if on else f"set {name} = on: what was acknowledged may be lost with the power")  # fmt: skip
    yield from _hasty(conn)
    yield from _limits(conn)
    yield _skew(conn, now)


# Of roles and of the whole database: what a web process that connects as another role gets.
HASTY = """
    SELECT coalesce(r.rolname, 'this database')
      FROM pg_db_role_setting s
      LEFT JOIN pg_roles r ON r.oid = s.setrole
      LEFT JOIN pg_database d ON d.oid = s.setdatabase
     WHERE (d.datname = current_database() OR s.setdatabase = 0)
       AND s.setconfig && ARRAY['synchronous_commit=off', 'synchronous_commit=false', 'synchronous_commit=no',
                                'synchronous_commit=0']
     ORDER BY 1
"""


def _hasty(conn: Conn) -> Iterator[Line]:
    with conn.cursor(row_factory=scalar_row) as cursor:
        whose: list[str] = cursor.execute(HASTY).fetchall()
    for each in whose:
        yield Line("fail", "synchronous_commit", f"off for {each}",
                   "ALTER ROLE ... RESET it: what was acknowledged may be lost with the power")  # fmt: skip


# What each of our connections asks for (intake.db), and a pooler may leave out.
LIMITS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")


def _limits(conn: Conn) -> Iterator[Line]:
    for name in LIMITS:
        if setting(conn, name) == "0":
            remedy = f"the pooler drops it: ALTER ROLE ... SET {name}, see docs/scaling.md"
            yield Line("warn", name, "0: a statement may wait for ever", remedy)


def _skew(conn: Conn, now: Callable[[], datetime]) -> Line:
    with conn.cursor(row_factory=scalar_row) as cursor:
        there: datetime | None = cursor.execute("SELECT clock_timestamp()").fetchone()
    seconds = abs((now() - there).total_seconds()) if there else 0.0
    if seconds <= SKEW:
        return Line("ok", "clocks", f"{seconds:.1f} s apart")
    return Line("warn", "clocks", f"{seconds:.1f} s apart", "synchronise this host and the database's (NTP)")


def of_migrations(conn: Conn) -> Line:
    """Whether the schema is this version's."""
    known = {path.name for path in (sql_folder() / "migrations").glob("*.sql")}
    try:
        with conn.cursor(row_factory=scalar_row) as cursor:
            applied = set(cursor.execute("SELECT name FROM schema_migrations"))
    except psycopg.errors.UndefinedTable:
        applied = set()
    if applied - known:
        return Line("fail", "migrations", f"the database knows {max(applied - known)}", "use the newer code")
    if known - applied:
        return Line("fail", "migrations", f"{len(known - applied)} not applied", "run `intake migrate`")
    return Line("ok", "migrations", f"{len(applied)} applied")


def of_installation(conn: Conn, process: Process) -> Line:
    """Whether this host delivers for this database."""
    expected = installation.expected(process)
    try:
        found = installation.read(conn)
        installation.check(found, expected)
    except Mismatch as foreign:
        return Line("fail", "installation", "is not this host's", str(foreign))
    if expected is None:
        return Line("warn", "installation", "is not pinned on this host", "run `intake migrate`")
    return Line("ok", "installation", f"{found.installation_id}, epoch {found.epoch}")


def of_contents(conn: Conn, keys: Keys) -> Line:
    """Whether this host opens all contents, and whether each process seals them with the first key."""
    used = at_rest.used_by(conn)
    if not used <= {key.id for key in keys.keys}:
        return Line("fail", "contents", "sealed with a key that this shell lacks",
                    f"add it to {SETTING}, after the first one, here and where processes are started")  # fmt: skip
    if not keys.seals:
        return Line("ok", "contents", f"stored as they come; with {at_rest.SETTING}=yes they are sealed")
    remedy = "when every process has the new key first, run `intake reseal`"
    if not used <= {keys.keys[0].id}:
        return Line("warn", "contents", "an older key is in use", remedy)
    if otherwise := at_rest.lately_otherwise(conn, keys):
        return Line("warn", "contents", f"{otherwise} of the newest are not sealed with the first key", remedy)
    return Line("ok", "contents", "sealed as they come; `intake reseal` seals what came before")


# --- the spool ------------------------------------------------------------------------------------------------------

# Seconds; what waits longer is not being drained.
SPOOL_LATE = 60.0


def of_spool(settings: Settings) -> Line:
    """Whether this host's spool can keep a delivery, and is drained."""
    folder = settings.spool_dir
    if folder is None:
        return Line("ok", "spool", "none: senders are answered 503 while PostgreSQL is away")
    wrong = spooling.unfit(folder, persistent=settings.spool_persistent)
    if wrong is not None:
        return Line("fail", "spool", f"{folder} {wrong}", "correct intake.spool_dir, and start again")
    stock = stock_of(folder, settings.spool_megabytes * 1024 * 1024)
    detail = f"{stock.bytes} of {stock.limit} bytes wait"
    if not stock.has_room:
        return Line("fail", "spool", detail, "bring PostgreSQL back, or raise intake.spool_megabytes")
    if stock.oldest is not None and stock.oldest > SPOOL_LATE:
        remedy = "bring PostgreSQL back; start the web process of this host, whose log says what is held, and why"
        return Line("fail", "spool", f"{detail}, since {stock.oldest:.0f} s", remedy)
    return Line("ok", "spool", detail)


# --- Redis ----------------------------------------------------------------------------------------------------------


def of_redis(redis_url: str) -> Iterator[Line]:
    """Whether hints get through, and are not thrown away."""
    client = queue.connect(redis_url)
    found = queue.reachable(client)
    if not found["ok"]:
        yield Line("fail", "redis", f"cannot be reached ({found['error']})", "start it, or correct REDIS_URL")
        return
    yield _redis_version(queue.version(client), f"answers; {found['waiting']} hints wait")
    policy = queue.eviction(client)
    if policy in {"noeviction", None}:
        yield Line("ok", "maxmemory-policy", policy or "not told")
    else:
        yield Line("warn", "maxmemory-policy", policy, "set it to noeviction: hints may be thrown away and come late")


def _redis_version(told: tuple[str, int] | None, answers: str) -> Line:
    name, number = told or ("", 0)
    if name == "Redis" and number < OLDEST_REDIS:
        return Line("warn", "redis", f"Redis {number}, {answers}", f"use Redis {OLDEST_REDIS} or later, or Valkey")
    return Line("ok", "redis", f"{name} {number}, {answers}" if name else answers)


# --- processes and accounts -----------------------------------------------------------------------------------------


def of_processes(conn: Conn) -> Iterator[Line]:
    """Whether a clock ticks and workers live."""
    pulses = {each.process: each for each in heartbeats.pulses(conn)}
    clock, worker = pulses.get("clock"), pulses.get("worker")
    start = "start one: `intake up`, or `intake {}`"
    if clock is None or clock.age.total_seconds() > CLOCK_LATE:
        when = "never ticked" if clock is None else f"last ticked {clock.age.total_seconds():.0f} s ago"
        yield Line("fail", "clock", when, start.format("clock"))
    else:
        yield Line("ok", "clock", f"ticked {clock.age.total_seconds():.1f} s ago")
    if worker is None or worker.alive == 0:
        yield Line("fail", "workers", "none lives", start.format("worker"))
    else:
        yield Line("ok", "workers", f"{worker.alive} live")


PAUSED = "SELECT destination, paused_reason FROM accounts WHERE paused_at IS NOT NULL ORDER BY destination"
SENTINELS = "SELECT destination, count(*) FROM sentinels GROUP BY destination"
KINDS = 4  # of sentinels that a CRM has when it is checked


def of_accounts(conn: Conn, settings: Settings) -> Iterator[Line]:
    """Whether each CRM account is open, and has what makes an "absent" count."""
    with conn.cursor(row_factory=tuple_row) as cursor:
        paused: dict[str, str] = dict(cursor.execute(PAUSED).fetchall())
        sentinels: dict[str, int] = dict(cursor.execute(SENTINELS).fetchall())
    used = {name for each in settings.sources.values() for name in (each.destination, each.test_destination)}
    for name in sorted(used & settings.destinations.keys()):
        if name in paused:
            yield Line("fail", f"account {name}", f"paused: {paused[name]}",
                       "mend it; it resumes once its control call works, or with `intake resume`")  # fmt: skip
        count = sentinels.get(name, 0)
        if count < KINDS:
            yield Line("warn", f"account {name}", f"{count} of {KINDS} sentinels",
                       f"run `intake crm check --create --destination {name}`")  # fmt: skip
        elif name not in paused:
            yield Line("ok", f"account {name}", "sentinels stand")


# --- senders --------------------------------------------------------------------------------------------------------


def of_test_addresses(conn: Conn, settings: Settings) -> Iterator[Line]:
    """Whether a live form seems to post where nothing reaches the CRM; the alert of this name asks the same."""
    what = "addresses for tests"
    found = conditions.holding(conn, settings, {"test_address": conditions.SLOW["test_address"]})
    for each in found:
        since = each.since.astimezone(settings.timezone)
        yield Line("warn", what, f"{each.count} deliveries of {each.subject} came to one since {since:%Y-%m-%d %H:%M},"
                   " more than live ones, and go to no live CRM",
                   f"if it is a live form, change its address to /hooks/{each.subject}")  # fmt: skip
    if not found:
        yield Line("ok", what, "no live form seems to post to one")
