"""The spool: this host's own files, in which deliveries are kept while PostgreSQL cannot commit.

    spool_dir/ 1790000000000-4711-a1b2.spool           one a process; its lines are drained by this host (spool_drain)
               drained-1-1790000000000-4711-a1b2.spool   kept some days: a restored database may need them again
               drain.lock                              whoever holds it drains

A line is a checksum and one sealed delivery.  It is on disk when `append` returns: that is what its sender is told.
A process that dies in the middle of a line leaves a torn one, which nobody was told of, and never writes there again.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from intake.sealing import Seal

SEGMENT_BYTES = 16 * 1024 * 1024
DRAINED = "drained-"
SUFFIX = ".spool"
CHECKSUM = 8  # hexadecimal digits


class Full(OSError):
    """There is no room left; nothing was kept."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a segment.  `sealed` None: its checksum is wrong.  `end`: where the next one begins."""

    sealed: bytes | None
    end: int


@dataclass(frozen=True, slots=True)
class Stock:
    """What waits in a spool, and what is kept after it was drained.  `oldest` in seconds, None: nothing waits."""

    segments: int
    bytes: int
    limit: int
    oldest: float | None
    drained_bytes: int

    @property
    def has_room(self) -> bool:
        """For a body of a usual size."""
        return self.bytes + 64 * 1024 < self.limit


@dataclass(slots=True)
class Spool:
    """`folder` exists, on a disk that keeps it.  `limit`: bytes that may wait."""

    folder: Path
    seal: Seal
    limit: int
    _mine: Path | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    # --- writing ---

    def append(self, content: bytes) -> None:
        """Seal it and put it on disk.  Raises Full, OSError: then it is not kept."""
        sealed = self.seal.close(content)
        line = b"%0*x %s\n" % (CHECKSUM, zlib.crc32(sealed), sealed)
        with self._lock:
            if self.stock().bytes + len(line) > self.limit:
                raise Full("the spool is full")
            file = self._written(line)
        # Outside the lock, so that those who wait for the disk wait together.
        with file:
            os.fdatasync(file.fileno())

    def _written(self, line: bytes) -> BinaryIO:
        """The file that holds it now, open and not locked."""
        file = self._segment()
        try:
            _write(file, line)
        except OSError:
            self._mine = None  # A torn line may stand at its end, and would spoil the next one.
            file.close()
            raise
        fcntl.flock(file, fcntl.LOCK_UN)
        return file

    def _segment(self) -> BinaryIO:
        """This process's own, locked: a drainer that retires it must not do so in the middle of a line."""
        mine = None if self._mine is None else _locked(self._mine)
        if mine is not None:
            return mine
        # Of a name that no parent of this process wrote to.
        path = self.folder / f"{time.time_ns():019d}-{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
        file = _open(path, os.O_CREAT | os.O_EXCL)
        fcntl.flock(file, fcntl.LOCK_EX)
        sync_folder(self.folder)
        self._mine = path
        return file

    # --- reading ---

    def segments(self) -> list[Path]:
        """Those that wait to be drained, the oldest first."""
        return _segments(self.folder)

    def drained(self) -> list[Path]:
        """Those that were drained, the oldest of each epoch first."""
        return _drained(self.folder)

    def stock(self) -> Stock:
        """How much there is."""
        return stock_of(self.folder, self.limit)

    def retire(self, segment: Path, end: int, epoch: int) -> bool:
        """Put aside a segment that is drained up to `end`.  False: more was written meanwhile, or just now is."""
        with segment.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            if any(True for _ in lines(segment, end)):
                return False
            segment.rename(self.folder / f"{DRAINED}{epoch}-{segment.name}")
        sync_folder(self.folder)
        return True

    def again(self, drained: Path) -> None:
        """Let a drained segment wait once more."""
        drained.rename(self.folder / drained.name.removeprefix(DRAINED).partition("-")[2])


def stock_of(folder: Path, limit: int) -> Stock:
    """What a folder holds; it need not be opened for that."""
    waiting = [(path, size) for path in _segments(folder) if (size := _size(path)) is not None]
    began = [int(path.name.partition("-")[0]) / 1e9 for path, size in waiting if size]
    return Stock(
        segments=len(waiting),
        bytes=sum(size for _, size in waiting),
        limit=limit,
        oldest=max(0.0, time.time() - min(began)) if began else None,
        drained_bytes=sum(_size(path) or 0 for path in _drained(folder)),
    )


def _segments(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if not path.name.startswith(DRAINED))


def _drained(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{DRAINED}*{SUFFIX}"))


def lines(segment: Path, begin: int) -> Iterator[Line]:
    """The whole lines from there on.  What has no end yet is being written, or is torn."""
    with segment.open("rb") as file:
        file.seek(begin)
        end = begin
        for raw in file:
            if not raw.endswith(b"\n"):
                return
            end += len(raw)
            checksum, _, sealed = raw[:-1].partition(b" ")
            is_whole = checksum == b"%0*x" % (CHECKSUM, zlib.crc32(sealed))
            yield Line(sealed if is_whole else None, end)


def epoch_of(drained: Path) -> int:
    """The epoch of the installation in which a segment was drained."""
    return int(drained.name.removeprefix(DRAINED).partition("-")[0])


def sync_folder(folder: Path) -> None:
    """The names in a folder are on disk when this returns."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open(path: Path, flags: int = 0) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_APPEND | flags, 0o600), "r+b", buffering=0)


def _locked(path: Path) -> BinaryIO | None:
    """None: it was put aside, another has its lock, or it is large enough; a new one is begun then."""
    try:
        file = _open(path)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        there, mine = path.stat(), os.fstat(file.fileno())
    except OSError:
        file.close()
        return None
    if there.st_ino == mine.st_ino and mine.st_size < SEGMENT_BYTES:
        return file
    file.close()
    return None


def _write(file: BinaryIO, line: bytes) -> None:
    """All of it.  Raises OSError; what was written of it by then is taken back, if the disk allows."""
    begin = file.seek(0, os.SEEK_END)
    view = memoryview(line)
    try:
        while view:
            view = view[file.write(view) :]
    except OSError:
        with suppress(OSError):
            file.truncate(begin)
        raise


def _size(path: Path) -> int | None:
    """None: it has just gone."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None
