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
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

import psycopg
import structlog

from intake import aliases, installation, kept
from intake.config import Settings
from intake.db import WORKER_OPTIONS, BoundedConnection, answering_until
from intake.installation import Installation
from intake.kept import Broken
from intake.reading import source_of
from intake.sealing import Sealed
from intake.spool import Spool, epoch_of, lines

log = structlog.get_logger()

EVERY = 0.5  # seconds between two looks at the folder
PATIENCE = 5.0  # seconds that the database has for one delivery
# Seconds until what could not be accepted is tried again, and until the epoch is looked at again.
HELD_FOR = 60.0
KEEP_DRAINED = 7 * 24 * 3600.0  # seconds, as long as people take to notice that a database must be restored

# Why a line is not accepted: it stays, and is tried again.  `torn` is the exception: nobody was told of it.
Outcome = Literal["accepted", "torn", "no_key", "unreadable", "no_source", "failed"]
DONE: frozenset[Outcome] = frozenset({"accepted", "torn"})


@dataclass(slots=True)
class _Progress:
    """How far a segment is drained, and the lines before that which are held: where each begins."""

    end: int = 0
    held: dict[int, Outcome] = field(default_factory=dict)
    tried_at: float = -math.inf
    size: int = 0


@dataclass(slots=True)
class Drainer:
    """`clock` in seconds, for pauses; `now` since 1970, for the age of files."""

    spool: Spool
    settings: Settings
    database_url: str = field(repr=False)
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
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
        return is_new or self.clock() > progress.tried_at + HELD_FOR

    def drain(self) -> Counter[Outcome]:
        """All that waits; returns what became of how many lines.  Raises psycopg.OperationalError if it is away."""
        told: Counter[Outcome] = Counter()
        with BoundedConnection.connect(
            self.database_url, autocommit=True, connect_timeout=3, options=WORKER_OPTIONS
        ) as conn:
            with answering_until(conn, time.monotonic() + PATIENCE):
                here = installation.read(conn)
            self._mind_restores(here)
            for segment in self.spool.segments():
                with suppress(FileNotFoundError):  # Another drainer has put it aside.
                    self._drain(conn, here, segment, told)
        if told:
            log.info("spool drained", outcomes=dict(told))
        return told

    def _mind_restores(self, here: Installation) -> None:
        """What was drained before a restore is drained again; what is old goes."""
        self._epoch_seen_at = self.clock()
        for drained in self.spool.drained():
            if epoch_of(drained) < here.epoch:
                self.spool.again(drained)
            elif self.now() - drained.stat().st_mtime > KEEP_DRAINED:
                drained.unlink()
        while (kept_ones := self.spool.drained()) and self.spool.stock().drained_bytes > self.spool.limit:
            kept_ones[0].unlink()

    def _drain(self, conn: BoundedConnection, here: Installation, segment: Path, told: Counter[Outcome]) -> None:
        progress = self._progress.setdefault(segment.name, _Progress())
        progress.size = segment.stat().st_size
        begin = progress.end
        if self.clock() > progress.tried_at + HELD_FOR:
            progress.tried_at = self.clock()
            begin = min(progress.held, default=progress.end)
        for line in lines(segment, begin):
            if begin >= progress.end or begin in progress.held:
                # If the database goes away over it, it is held too: no single line may stop those behind it.
                progress.held[begin] = "failed"
                progress.end = max(progress.end, line.end)
                outcome = self._accept(conn, here, line.sealed)
                told[outcome] += 1
                progress.held[begin] = outcome
                if outcome in DONE:
                    del progress.held[begin]
            begin = line.end
        self._retire(here, segment, progress)

    def _retire(self, here: Installation, segment: Path, progress: _Progress) -> None:
        if progress.held:
            why = dict(Counter(progress.held.values()))
            log.error("spooled deliveries held", segment=segment.name, outcomes=why)
        elif self.spool.retire(segment, progress.end, here.epoch):
            del self._progress[segment.name]

    def _accept(self, conn: BoundedConnection, here: Installation, sealed: bytes | None) -> Outcome:
        if sealed is None:
            return "torn"
        try:
            found = kept.unpack(self.spool.seal.open(sealed))
        except Sealed:
            return "no_key"
        except Broken:
            return "unreadable"
        source = source_of(self.settings, found.post.source)
        if source is None:
            return "no_source"
        try:
            with answering_until(conn, time.monotonic() + PATIENCE), conn.transaction():
                acceptance = kept.accept(conn, here.key, kept.read(self.settings, source, found))
                aliases.keep(conn, found.promised, acceptance)
        except Exception as odd:  # One that fails in whatever way stops no other.
            if conn.closed:
                raise
            log.error("spooled delivery not accepted", source=source.name, error=type(odd).__name__)  # noqa: TRY400  # it quotes values
            return "failed"
        return "accepted"
