"""Draining the spool: each host its own, one process at a time, through the normal accept path.

A delivery that is accepted twice (the process died before it could say so) is a duplicate of itself: its receipt and
its events have the ids that they had the first time.  So nothing is written back for each line; a segment is put aside
when all of it is accepted.
"""

from __future__ import annotations

import fcntl
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO, Literal

import psycopg
import structlog

from intake import aliases, at_rest, installation, kept
from intake.config import Settings, Source
from intake.db import BoundedConnection, answering_until, connect
from intake.installation import Installation
from intake.kept import Broken, Kept
from intake.reading import source_of
from intake.sealing import Seal, Sealed
from intake.spool import Line, Spool, epoch_of, lines

log = structlog.get_logger()

EVERY = 0.5  # seconds between two looks at the folder
PATIENCE = 5.0  # seconds that the database has for one delivery
# Seconds until what could not be accepted is tried again, and until the epoch is looked at again.
HELD_FOR = 60.0
KEEP_DRAINED = 7 * 24 * 3600.0  # seconds, as long as people take to notice that a database must be restored

# Deliveries at a time: each waits for a dozen answers of the database.  Lines read at a time; a body has up to 3 MB.
THREADS = 4
LINES = 16

# Why a line is not accepted: it is held, and tried again in a while; at once if the database went away before it
# (skipped) or over it (broke), but only once if over it.  `torn` is the exception: nobody was told of it.
Outcome = Literal["accepted", "torn", "no_key", "unreadable", "no_source", "failed", "skipped", "broke"]
DONE: frozenset[Outcome] = frozenset({"accepted", "torn"})
AT_ONCE: frozenset[Outcome] = frozenset({"skipped", "broke"})


Accept = Callable[[list[bytes | None]], Iterable[Outcome]]


@dataclass(slots=True)
class _Progress:
    """How far a segment is drained, and the lines before that which are held: where each begins."""

    end: int = 0
    held: dict[int, Outcome] = field(default_factory=dict)
    tried_at: float = -math.inf
    size: int = 0

    def note(self, begin: int, end: int, outcome: Outcome) -> None:
        """What became of a line."""
        self.end = max(self.end, end)
        before = self.held.pop(begin, None)
        if outcome not in DONE:
            self.held[begin] = "failed" if before == outcome == "broke" else outcome


@dataclass(slots=True)
class Drainer:
    """`clock` in seconds, for pauses; `now` since 1970, for the age of files.  `connections`: of which class.

    `payloads`: what seals contents in the database.
    """

    spool: Spool
    settings: Settings
    database_url: str = field(repr=False)
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    connections: type[BoundedConnection] = BoundedConnection
    payloads: at_rest.Keys = at_rest.NONE
    _progress: dict[str, _Progress] = field(default_factory=dict)
    _epoch_seen_at: float | None = None
    _turn: BinaryIO | None = None

    def start(self) -> None:
        """In a thread of this process, until it ends."""
        threading.Thread(target=self._run, args=(threading.Event(),), name="spool", daemon=True).start()

    def _run(self, stop: threading.Event) -> None:
        while not stop.wait(EVERY):
            try:
                if self.has_turn() and self.is_due():
                    self.drain()
            except psycopg.OperationalError:
                pass  # The door says that it is away; here it is waited for.
            except Exception as odd:  # noqa: BLE001  # Whatever it is, the next look may succeed.
                log.error("spool not drained", error=type(odd).__name__)  # noqa: TRY400  # no payload in logs

    def has_turn(self) -> bool:
        """Whether this process is the one that drains; once it is, until it ends (the kernel lets go)."""
        if self._turn is None:
            file = (self.spool.folder / "drain.lock").open("ab")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                return False
            self._turn = file
        return True

    def stop(self) -> None:
        """Leave the turn to another process."""
        if self._turn is not None:
            self._turn.close()
            self._turn = None

    def is_due(self) -> bool:
        """Whether there is anything to ask the database for."""
        if any(self._is_waiting(segment) for segment in self.spool.segments()):
            return True
        seen = self._epoch_seen_at
        return bool(self.spool.drained()) and (seen is None or self.clock() > seen + HELD_FOR)

    def _is_waiting(self, segment: Path) -> bool:
        """Not those of which only held lines are left, until it is time to try them again."""
        progress = self._progress.get(segment.name, _Progress())
        is_new = not progress.held or segment.stat().st_size != progress.size
        return is_new or not AT_ONCE.isdisjoint(progress.held.values()) or self.clock() > progress.tried_at + HELD_FOR

    def drain(self) -> Counter[Outcome]:
        """All that waits; returns what became of how many lines.  Raises psycopg.OperationalError if it is away."""
        told: Counter[Outcome] = Counter()
        with ExitStack() as stack:
            first = stack.enter_context(self._connect())
            with answering_until(first, time.monotonic() + PATIENCE):
                here = installation.read(first)
            self._mind_restores(here)
            connections = [first, *(stack.enter_context(self._connect()) for _ in range(1, THREADS))]
            bench = _Bench(self.settings, self.spool.seal, here, connections)
            pool = stack.enter_context(ThreadPoolExecutor(THREADS))
            for segment in self.spool.segments():
                with suppress(FileNotFoundError):  # Another drainer has put it aside.
                    told += self._drain(segment, here.epoch, lambda some: pool.map(bench.accept, some))
        if told:
            log.info("spool drained", outcomes=dict(told))
        return told

    def _connect(self) -> BoundedConnection:
        return connect(self.database_url, payloads=self.payloads, connection_class=self.connections)

    def _mind_restores(self, here: Installation) -> None:
        """What was drained before a restore is drained again; what is old goes."""
        self._epoch_seen_at = self.clock()
        for drained in self.spool.drained():
            if epoch_of(drained) != here.epoch:
                self.spool.again(drained)
            elif self.now() - drained.stat().st_mtime > KEEP_DRAINED:
                drained.unlink()
        while (kept_ones := self.spool.drained()) and self.spool.stock().drained_bytes > self.spool.limit:
            kept_ones[0].unlink()

    def _drain(self, segment: Path, epoch: int, accept: Accept) -> Counter[Outcome]:
        progress = self._progress.setdefault(segment.name, _Progress())
        progress.size = segment.stat().st_size
        told: Counter[Outcome] = Counter()
        due = iter(self._due(segment, progress))
        while AT_ONCE.isdisjoint(told) and (some := list(islice(due, LINES))):
            for (begin, line), outcome in zip(some, accept([line.sealed for _, line in some]), strict=True):
                told[outcome] += 1
                progress.note(begin, line.end, outcome)
        if progress.held:
            why = dict(Counter(progress.held.values()))
            log.error("spooled deliveries held", segment=segment.name, outcomes=why)
        elif self.spool.retire(segment, progress.end, epoch):
            del self._progress[segment.name]
        return told

    def _due(self, segment: Path, progress: _Progress) -> Iterator[tuple[int, Line]]:
        """The lines that were never tried, and those held ones that are to be tried again; each with its begin."""
        is_time = self.clock() > progress.tried_at + HELD_FOR
        if is_time:
            progress.tried_at = self.clock()
        again = {begin for begin, why in progress.held.items() if is_time or why in AT_ONCE}
        end, begin = progress.end, min(again, default=progress.end)
        for line in lines(segment, begin):
            if begin >= end or begin in again:
                yield begin, line
            begin = line.end


@dataclass(frozen=True, slots=True)
class _Bench:
    """What accepts lines, as many at a time as there are connections."""

    settings: Settings
    seal: Seal
    here: Installation
    connections: list[BoundedConnection]
    free: SimpleQueue[BoundedConnection] = field(default_factory=SimpleQueue)

    def __post_init__(self) -> None:
        for each in self.connections:
            self.free.put(each)

    def accept(self, sealed: bytes | None) -> Outcome:
        if sealed is None:
            return "torn"
        try:
            found = kept.unpack(self.seal.open(sealed))
        except Sealed:
            return "no_key"
        except Broken:
            return "unreadable"
        source = source_of(self.settings, found.post.source)
        return "no_source" if source is None else self._store(source, found)

    def _store(self, source: Source, found: Kept) -> Outcome:
        conn = self.free.get()
        if _is_broken(conn):
            self.free.put(conn)
            return "skipped"
        try:
            with answering_until(conn, time.monotonic() + PATIENCE), conn.transaction():
                acceptance = kept.accept(conn, self.here.key, kept.read(self.settings, source, found))
                aliases.keep(conn, found.promised, acceptance)
        except Exception as odd:  # noqa: BLE001  # One that fails in whatever way stops no other.
            log.error("spooled delivery not accepted", source=source.name, error=type(odd).__name__)  # noqa: TRY400  # it quotes values
            return "broke" if _is_broken(conn) else "failed"
        finally:
            self.free.put(conn)
        return "accepted"


def _is_broken(conn: BoundedConnection) -> bool:
    """Asked anew each time; a type checker takes a property for a constant."""
    return conn.closed
