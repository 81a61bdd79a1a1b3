"""The spool of this host: its kept segments are written anew without the lines of a person."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from intake import kept
from intake.forgetting.person import Person, text_of
from intake.kept import Broken
from intake.sealing import Sealed
from intake.spool import Line, Spool, lines, sync_folder


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whose lines; those that came until then."""

    person: Person
    until: datetime

    def is_of(self, spool: Spool, line: Line) -> bool:
        """False also for what no key opens."""
        if line.sealed is None:
            return False
        try:
            found = kept.unpack(spool.seal.open(line.sealed))
        except (Sealed, Broken):
            return False
        return found.at <= self.until and self.person.is_named_in(text_of(found.post.body))


def waiting(spool: Spool, wanted: Wanted) -> int:
    """How many of their lines are not drained yet."""
    return sum(wanted.is_of(spool, line) for segment in spool.segments() for line in lines(segment, 0))


def erase(spool: Spool, wanted: Wanted) -> int:
    """Take them out of the drained segments; returns how many."""
    return sum(_without(spool, segment, wanted) for segment in spool.drained())


def _without(spool: Spool, segment: Path, wanted: Wanted) -> int:
    raw, begin, rest, gone = segment.read_bytes(), 0, [], 0
    for line in lines(segment, 0):
        if wanted.is_of(spool, line):
            gone += 1
        else:
            rest.append(raw[begin : line.end])
        begin = line.end
    if gone:
        _replace(segment, b"".join(rest))
    return gone


def _replace(segment: Path, content: bytes) -> None:
    """In one piece, with the age that it had: that is what ends it."""
    times = segment.stat()
    unfinished = segment.with_name(f"{secrets.token_hex(4)}.unfinished")
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    os.utime(unfinished, ns=(times.st_atime_ns, times.st_mtime_ns))
    unfinished.replace(segment)
    sync_folder(segment.parent)
