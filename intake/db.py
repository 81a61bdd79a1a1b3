"""PostgreSQL: connections whose waits end, and forward-only migrations.

One transaction is one `with transaction(pool)` block.  None is ever open while we wait for a CRM.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg import Connection, sql
from psycopg.abc import PQGen
from psycopg.rows import scalar_row
from psycopg_pool import ConnectionPool

from intake import at_rest

# Rows are read through class_row, dict_row or scalar_row; the connection's own type says nothing of them.
Row = tuple[Any, ...]
Conn = Connection[Row]
T = TypeVar("T")

# PostgreSQL's own limits for workers and commands, in milliseconds.  The door has its own, shorter ones.
WORKER_OPTIONS = "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"


def door_options(patience: float) -> str:
    """For connections of the door, which gives up after `patience` seconds: the server does not work on for nobody.

    Each statement is planned once: the door looks up whole keys alone, and a plan for its values costs as much as it.
    """
    statement = round(patience * 1000)
    lock = max(1, statement - 100)
    limits = f"-c statement_timeout={statement} -c lock_timeout={lock} -c idle_in_transaction_session_timeout=5000"
    return f"{limits} -c plan_cache_mode=force_generic_plan"


# "transaction": a pooler stands before PostgreSQL that lends a connection for one transaction, as PgBouncer may.
POOLER = "DATABASE_POOLER"


def prepare_after(environ: Mapping[str, str] = os.environ) -> int | None:
    """After how many times a statement is prepared on its connection; None: never, as the next one may be another's."""
    return None if environ.get(POOLER) else 5


# The migration that makes an installation: where it is among those just applied, the database is new.
FIRST_MIGRATION = "0001_core.sql"

# The advisory lock at which two migrations at once meet; arbitrary, and only ours.
MIGRATION_LOCK = 7_030_215

# How long `connect` waits for a connection, in seconds, and then for what it has to ask first.
CONNECT_TIMEOUT = 3

# How often a waiting connection looks at its deadline, in seconds.
WAKE_EVERY = 0.05


class Overdue(psycopg.OperationalError):
    """The database did not answer in time: what was in flight is unknown, and the connection is closed."""


# What is raised where the database went away, or took itself away, in the middle of something: nobody's mistake, and it
# may be tried again.  A server that stood still ends the transactions that were idle meanwhile, and one that became a
# standby refuses to write; psycopg takes both for internal errors.
LOST = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.TransactionTimeout,
    psycopg.errors.ReadOnlySqlTransaction,
)


class OlderCode(RuntimeError):
    """The database holds a migration that this version does not know: upgrade the code before using it."""


class BoundedConnection(Connection[Row]):
    """A connection whose waits end at `deadline` (a reading of time.monotonic; None: never), whatever the server does.

    PostgreSQL's own time-outs need a server that runs; a stopped one would hold a thread for minutes.
    """

    deadline: float | None = None

    def wait(self, gen: PQGen[T], interval: float = WAKE_EVERY, timeout: float | None = None) -> T:
        """Like psycopg's, ended at the deadline.  Raises Overdue."""
        if self.deadline is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(_until(gen, self.deadline), WAKE_EVERY, timeout)
        except Overdue:
            self.pgconn.finish()  # The server may still run it; the pool throws a closed connection away.
            raise


def _until(gen: PQGen[T], deadline: float) -> PQGen[T]:
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if time.monotonic() > deadline:
                raise Overdue("the database did not answer in time")
            wanted = gen.send(ready)
    except StopIteration as done:
        value: T = done.value
        return value


Pool = ConnectionPool[BoundedConnection]


def open_pool(  # noqa: PLR0913  # one for each thing in which pools differ
    database_url: str,
    *,
    size: int,
    options: str = WORKER_OPTIONS,
    connect_timeout: int = 5,
    turn: float | None = None,
    reconnect_timeout: float = 30.0,
    connection_class: type[BoundedConnection] = BoundedConnection,
    payloads: at_rest.Keys = at_rest.NONE,
) -> Pool:
    """A pool of at most `size` autocommit connections; it opens without waiting for the database to be there.

    `payloads`: what seals the contents.
    `turn`: how long somebody waits for a connection, in seconds; None: as long as one takes to be made.
    `reconnect_timeout`: how long the pool tries by itself, in seconds, with pauses that double; afterwards it tries
    when somebody asks.  Who must notice at once that the database is back makes it short.
    """
    return ConnectionPool(
        database_url,
        connection_class=connection_class,
        kwargs={
            "autocommit": True,
            "options": options,
            "connect_timeout": connect_timeout,
            "prepare_threshold": prepare_after(),
            "context": at_rest.adapting(payloads),
        },
        configure=lambda conn: _agreed_within(conn, payloads, connect_timeout),
        min_size=1,
        max_size=size,
        timeout=connect_timeout if turn is None else turn,
        max_idle=120.0,
        reconnect_timeout=reconnect_timeout,
        open=True,
    )


def _agreed_within(conn: BoundedConnection, payloads: at_rest.Keys, seconds: float) -> None:
    with answering_until(conn, time.monotonic() + seconds):
        at_rest.agree(conn, payloads)


def connect(  # as above
    database_url: str,
    *,
    payloads: at_rest.Keys,
    agreeing: bool = True,
    connection_class: type[BoundedConnection] = BoundedConnection,
    environ: Mapping[str, str] = os.environ,
) -> BoundedConnection:
    """One autocommit connection with the limits of workers.  `agreeing` False: also where a key of contents is missing.

    Raises psycopg.Error.
    """
    conn = connection_class.connect(
        database_url,
        autocommit=True,
        connect_timeout=CONNECT_TIMEOUT,
        options=WORKER_OPTIONS,
        prepare_threshold=prepare_after(environ),
        context=at_rest.adapting(payloads),
    )
    if agreeing:
        _agreed(conn, payloads)
    return conn


def _agreed(conn: BoundedConnection, payloads: at_rest.Keys) -> None:
    try:
        _agreed_within(conn, payloads, CONNECT_TIMEOUT)
    except BaseException:
        conn.close()
        raise


@contextmanager
def answering_until(conn: BoundedConnection, deadline: float) -> Iterator[None]:
    """What is asked of the database in this block is answered by `deadline` (time.monotonic), or raises Overdue."""
    conn.deadline = deadline
    try:
        yield
    finally:
        conn.deadline = None


@contextmanager
def transaction(pool: Pool) -> Iterator[BoundedConnection]:
    """One transaction: committed at the end of the block, rolled back by an exception."""
    with pool.connection() as conn, conn.transaction():
        yield conn


# --- migrations --------------------------------------------------------------------------------------------------


def sql_folder() -> Path:
    """Where the .sql files stand: inside the package if installed from a wheel, else at the top of the checkout."""
    packaged = Path(str(files("intake"))) / "sql"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parent.parent / "sql"


CREATE_LEDGER = """
    CREATE TABLE IF NOT EXISTS schema_migrations (
        name       text PRIMARY KEY,
        applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )
"""


# A migration waits for as long as it must until another run has ended; no limit that a role has applies.
TAKE_TURN = """
    SET LOCAL statement_timeout = 0;
    SET LOCAL lock_timeout = 0;
    SELECT pg_advisory_xact_lock({turn});
"""

# While a migration waits for a table, everybody who comes later waits behind it.  So it waits for a moment, gives way,
# and tries again; the receiver gives a delivery up, or spools it, after a little more than this.
LOCK_PATIENCE = "SET LOCAL lock_timeout = '800ms'"
TRIES = 60
GIVES_WAY = 1.0  # seconds


def migrate(
    database_url: str,
    *,
    folder: Path | None = None,
    tries: int = TRIES,
    pause: Callable[[float], None] = time.sleep,
) -> tuple[str, ...]:
    """Apply the migrations that the database has not seen, each in a transaction of its own; returns their names.

    Any number may run at once: they take turns at an advisory lock.  `folder`: where they stand, else those of this
    version.  Raises OlderCode, LockNotAvailable if a table is never free, and psycopg.Error for what the database says.
    """
    known = sorted((folder or sql_folder() / "migrations").glob("*.sql"))
    with psycopg.connect(database_url, autocommit=True, prepare_threshold=None) as conn:
        _check_known(conn, {path.name for path in known})
        return tuple(path.name for path in known if _apply_when_free(conn, path, tries, pause))


def _check_known(conn: Conn, known: set[str]) -> None:
    with conn.transaction():
        _take_turn(conn)
        conn.execute(CREATE_LEDGER)
        applied = set(conn.cursor(row_factory=scalar_row).execute("SELECT name FROM schema_migrations"))
    if unknown := applied - known:
        raise OlderCode(f"the database knows {max(unknown)}, this version does not: use the newer code")


def _apply_when_free(conn: Conn, path: Path, tries: int, pause: Callable[[float], None]) -> bool:
    for _ in range(tries - 1):
        try:
            return _apply(conn, path)
        except psycopg.errors.LockNotAvailable:
            pause(GIVES_WAY)
    return _apply(conn, path)


def _apply(conn: Conn, path: Path) -> bool:
    """Whether it was still to be applied."""
    with conn.transaction():
        _take_turn(conn)
        done = conn.execute("SELECT FROM schema_migrations WHERE name = %s", [path.name]).fetchone()
        if done is not None:
            return False
        conn.execute(LOCK_PATIENCE)
        conn.execute(sql.SQL(path.read_text("utf-8")))  # our own file
        conn.execute("INSERT INTO schema_migrations (name) VALUES (%s)", [path.name])
    return True


def _take_turn(conn: Conn) -> None:
    conn.execute(sql.SQL(TAKE_TURN).format(turn=sql.Literal(MIGRATION_LOCK)))
