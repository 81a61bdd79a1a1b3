"""Processes that may outlive whoever started them: who they are, whose they are, and how to end just those."""

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TextIO

# Seconds until a server has to accept connections; after a crash PostgreSQL replays its log first.
START_LIMIT = 120.0
# Seconds that a process gets for each kind of stop before the next, harder one.
STOP_LIMIT = 30.0
# Seconds between two looks at a process that starts or stops.
LOOK_EVERY = 0.02
# Characters of a server's log that go into an error.
LOG_TAIL = 2000


class EmbeddedError(Exception):
    """A server of ours cannot run, or not end; the text says why.  What it stored was not touched."""


@dataclass(frozen=True, slots=True)
class User:
    """As whom a server runs."""

    uid: int
    gid: int

    @classmethod
    def me(cls) -> Self:
        """Return who we are."""
        return cls(os.geteuid(), os.getegid())

    @property
    def is_me(self) -> bool:
        """Tell whether nothing needs to change hands."""
        return self.uid == os.geteuid()

    def spawn(self, command: list[str], *, folder: Path, output: int) -> subprocess.Popen[bytes]:
        """Start a program in a session of its own, so that Ctrl-C reaches only those who can stop it in order.

        Raises EmbeddedError if this user may not run it.
        """
        try:
            return subprocess.Popen(
                command,
                cwd=folder,
                env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                umask=0o077,
                user=None if self.is_me else self.uid,
                group=None if self.is_me else self.gid,
                extra_groups=None if self.is_me else [],
            )
        except OSError as error:
            raise EmbeddedError(f"user {self.uid} cannot run {command[0]} in {folder}: {error}") from error


@dataclass(frozen=True, slots=True)
class Process:
    """A process, told apart from a later one with the same number by `started` (clock ticks since boot)."""

    pid: int
    started: int

    def alive(self) -> bool:
        """Tell whether this very process still runs; one that only waits to be reaped does not."""
        return find_process(self.pid) == self

    def end(self, how: signal.Signals, limit: float = STOP_LIMIT) -> bool:
        """Send a signal and wait up to `limit` seconds.  Returns whether the process is gone."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, how)
        return wait_until(lambda: not self.alive(), limit)


@dataclass(frozen=True, slots=True)
class Running:
    """A server that was found: its address, and who it is."""

    url: str
    process: Process


@dataclass(frozen=True, slots=True)
class Server(Running):
    """A server that we own, or whose guest we are."""

    # Held by the owner as long as it lives; None: a guest.
    lock: TextIO | None
    # None: it was started by another process, which may be dead.
    child: subprocess.Popen[bytes] | None

    @property
    def pid(self) -> int:
        """Process number of the server."""
        return self.process.pid

    def end(self, signals: Sequence[signal.Signals]) -> None:
        """End the server if it is ours, each signal being harder.  Raises EmbeddedError if none helps."""
        if self.lock is None or self.lock.closed:
            return
        if not any(self.process.end(how) for how in signals):
            raise EmbeddedError(f"process {self.pid} does not end")
        if self.child is not None:
            self.child.wait()
        self.lock.close()

    def __enter__(self) -> Self:
        return self


def find_process(pid: int) -> Process | None:
    """Look a process up; None if there is none, or a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name before ")" may hold anything.  State is field 3, start time field 22: proc_pid_stat(5).
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else Process(pid, int(fields[19]))


def command_line(process: Process) -> list[str]:
    """Read the arguments that a process was started with; a single empty one if it is gone."""
    try:
        content = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return [""]
    return [os.fsdecode(argument) for argument in content.split(b"\0")]


def claim(path: Path) -> TextIO | None:
    """Become the owner of what this lock file stands for, until it is closed or we die.  None: another lives."""
    lock = path.open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def own_or_find(
    lock_file: Path, find: Callable[[], Running | None], limit: float = START_LIMIT
) -> tuple[TextIO | None, Running | None]:
    """Return the lock if no other owner lives, and the server if one runs; never neither.

    Waits while another owner is about to start it.  Raises EmbeddedError after `limit` seconds.
    """
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        lock = claim(lock_file)
        found = find()
        if lock is not None or found is not None:
            return lock, found
        time.sleep(LOOK_EVERY)
    raise EmbeddedError(f"another process holds {lock_file}, but its server does not answer")


@contextlib.contextmanager
def released_on_failure(lock: TextIO | None) -> Iterator[None]:
    """Let the next one try, if what follows fails."""
    try:
        yield
    except BaseException:
        if lock is not None:
            lock.close()
        raise


def launch(
    user: User, command: list[str], folder: Path, find: Callable[[], Running | None]
) -> tuple[subprocess.Popen[bytes], Running]:
    """Start a server, with its output in the folder's file `log`, and wait until it is found.

    Raises EmbeddedError with the server's own words if it ends, or is not found within START_LIMIT.
    """
    log = folder / "log"
    if log.exists():
        log.replace(folder / "log.old")
    with log.open("wb") as output:
        child = user.spawn(command, folder=folder, output=output.fileno())
    try:
        wait_until(lambda: child.poll() is not None or find(), START_LIMIT)
        found = find()
    except BaseException:
        kill(child)
        raise
    if found is None:
        kill(child)
        raise EmbeddedError(f"{command[0]} did not start:\n{log.read_text(errors='replace')[-LOG_TAIL:]}")
    return child, found


def kill(child: subprocess.Popen[bytes]) -> None:
    """End a child at once and reap it."""
    child.kill()
    child.wait()


def wait_until(condition: Callable[[], object], limit: float) -> bool:
    """Wait up to `limit` seconds for a condition.  Returns whether it came true."""
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_EVERY)
    return True
