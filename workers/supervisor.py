"""Keeping processes alive: who dies is started again, and a stop reaches only those that were started here.

Children end with the supervisor, however it ends (tether.py).  One that was stopped or stuck then is on record with its
number and start time, and is ended by the next supervisor of the same home.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from intake.embedded import Postgres, Valkey
from intake.processes import EmbeddedError, Process, find_process

# Seconds before the 1st, 2nd, ... restart in a row: at once for an accident, seldom for one that cannot start.
BACKOFF = (0.1, 0.5, 1.0, 2.0, 5.0)
# One that lived this long in seconds was no failed start.
SETTLED = 10.0
# A log that grew beyond this many bytes becomes `.old`, and begins anew.
LARGEST_LOG = 20_000_000
TETHER = Path(__file__).with_name("tether.py")

Say = Callable[[str], None]
Embedded = Postgres | Valkey


@dataclass(frozen=True, slots=True)
class Program:
    """What to run.  `patience`: seconds from SIGTERM to SIGKILL."""

    name: str
    command: tuple[str, ...]
    environ: Mapping[str, str] = field(repr=False)
    patience: float = 10.0


@dataclass(slots=True)
class Child:
    """A program and the process that runs it now.  `next_start`: not before this reading of the clock."""

    program: Program
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    next_start: float = 0.0

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None


@dataclass(slots=True)
class Keeper:
    """An embedded server that is started again, on the same data, when it was killed."""

    name: str
    server: Embedded
    start: Callable[[], Embedded]
    next_start: float = 0.0


@dataclass(slots=True)
class Supervisor:
    """The children of one home.  Call it from one thread: the kernel ties children to the thread that started them."""

    home: Path
    say: Say
    clock: Callable[[], float] = time.monotonic
    children: list[Child] = field(default_factory=list)
    keepers: list[Keeper] = field(default_factory=list)

    # --- starting ---

    def run(self, program: Program) -> None:
        """Start a program and keep it running."""
        child = Child(program)
        self.children.append(child)
        self._spawn(child)

    def keep(self, name: str, start: Callable[[], Embedded]) -> Embedded:
        """Start an embedded server and keep it running.  Raises EmbeddedError, OSError."""
        server = start()
        self.keepers.append(Keeper(name, server, start))
        return server

    def _spawn(self, child: Child) -> None:
        tied = (sys.executable, "-I", "-S", str(TETHER), str(os.getpid()), *child.program.command)
        with log_of(self.home, child.program.name).open("ab") as log:
            child.process = subprocess.Popen(
                tied,
                env=dict(child.program.environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C in a terminal must reach the supervisor alone, which stops the others in order.
                start_new_session=True,
            )
        child.started = self.clock()
        self._record()

    def _record(self) -> None:
        found = (find_process(child.process.pid) for child in self.children if child.process is not None)
        record(self.home, [each for each in found if each is not None])

    # --- watching ---

    def watch(self) -> None:
        """One look at all of them: who died is started again when its time has come."""
        for keeper in self.keepers:
            if not keeper.server.process.alive():
                self._revive(keeper)
        for child in self.children:
            if not child.running:
                self._restart(child)

    def _revive(self, keeper: Keeper) -> None:
        if self.clock() < keeper.next_start:
            return
        self.say(f"{keeper.name} died; starting it again")
        try:
            keeper.server.stop()  # It is dead: this lets go of its lock.
            keeper.server = keeper.start()
        except (EmbeddedError, OSError) as failed:
            self.say(f"{keeper.name} does not start ({failed}); trying again in {BACKOFF[-1]:g} s")
            keeper.next_start = self.clock() + BACKOFF[-1]

    def _restart(self, child: Child) -> None:
        now = self.clock()
        if child.process is not None:
            settled = now - child.started >= SETTLED
            child.failures = 0 if settled else child.failures + 1
            wait = BACKOFF[min(child.failures, len(BACKOFF) - 1)]
            child.next_start = now + wait
            log = log_of(self.home, child.program.name)
            how = ended(child.process.returncode)
            self.say(f"{child.program.name} {how}; starting it again in {wait:g} s (log: {log})")
            child.process = None
        if now >= child.next_start:
            self._spawn(child)

    def trim_logs(self) -> None:
        """Keep the logs from growing for ever.  They are open for appending, so that truncating them is safe."""
        for child in self.children:
            log = log_of(self.home, child.program.name)
            if log.stat().st_size > LARGEST_LOG:
                shutil.copyfile(log, log.with_suffix(".old"))
                os.truncate(log, 0)

    # --- stopping ---

    def stop(self, names: Iterable[str]) -> None:
        """Ask these children to end, wait for them, and end by force who does not."""
        wanted = set(names)
        ending = [child for child in self.children if child.program.name in wanted]
        asked = self.clock()
        for child in ending:
            if child.process is not None and child.running:
                child.process.terminate()
        for child in ending:
            self._await_end(child, asked + child.program.patience)
            self.children.remove(child)

    def _await_end(self, child: Child, until: float) -> None:
        if child.process is None:
            return
        try:
            child.process.wait(max(0.0, until - self.clock()))
        except subprocess.TimeoutExpired:
            self.say(f"{child.program.name} does not end; ending it by force")
            child.process.kill()
            child.process.wait()

    def kill(self) -> None:
        """End all children at once."""
        for child in self.children:
            if child.process is not None and child.running:
                child.process.kill()
                child.process.wait()
        self.children = []

    def stop_servers(self) -> None:
        """End the embedded servers, the last started first.  Raises EmbeddedError for one that does not end."""
        while self.keepers:
            self.keepers[-1].server.stop()
            self.keepers.pop()


def ended(status: int) -> str:
    """How a process ended, in words."""
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"


def log_of(home: Path, name: str) -> Path:
    """Where a child's output goes."""
    folder = home / "log"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.log"


# --- children of a supervisor that was killed -----------------------------------------------------------------------


def record(home: Path, processes: Iterable[Process]) -> None:
    """Remember who runs, by number and start time."""
    (home / "children").write_text("".join(f"{each.pid} {each.started}\n" for each in processes), "utf-8")


def leftovers(home: Path) -> list[Process]:
    """The recorded children that still live; a later process with the same number is none of them."""
    file = home / "children"
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    recorded = [Process(*map(int, line.split())) for line in lines]
    return [each for each in recorded if each.alive()]


def end_leftovers(home: Path, say: Say) -> None:
    """End the children of a supervisor that was killed: they had their signal, so they get a moment, no more."""
    for each in leftovers(home):
        say(f"ending process {each.pid}, left over from before")
        if not each.end(signal.SIGTERM, 5.0):
            each.end(signal.SIGKILL)
