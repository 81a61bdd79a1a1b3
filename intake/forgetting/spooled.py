"""The spool of this host: its kept segments are written anew without the lines of people."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Set as AbstractSet
from pathlib import Path

from intake import kept
from intake.forgetting.people import People, text_of
from intake.kept import Broken
from intake.sealing import Sealed
from intake.spool import Line, Spool, lines, sync_folder


def waiting(spool: Spool, people: People) -> Counter[int]:
    """How many lines of whom are not drained yet."""
    return Counter(
        one for segment in spool.segments() for line in lines(segment, 0) for one in _whose(spool, people, line)
    )


def erase(spool: Spool, people: People, some: AbstractSet[int]) -> Counter[int]:
    """Take those of some of them out of the drained segments; returns how many of whom."""
    gone: Counter[int] = Counter()
    for segment in spool.drained():
        gone += _without(spool, segment, people, some)
    return gone


def _without(spool: Spool, segment: Path, people: People, some: AbstractSet[int]) -> Counter[int]:
    raw, begin, rest = segment.read_bytes(), 0, []
    gone: Counter[int] = Counter()
    for line in lines(segment, 0):
        if theirs := _whose(spool, people, line) & some:
            gone.update(theirs)
        else:
            rest.append(raw[begin : line.end])
        begin = line.end
    if gone:
        _replace(segment, b"".join(rest))
    return gone


def _whose(spool: Spool, people: People, line: Line) -> set[int]:
    """Who is named in a line; nobody, where no key opens it."""
    if line.sealed is None:
        return set()
    try:
        found = kept.unpack(spool.seal.open(line.sealed))
    except (Sealed, Broken):
        return set()
    return people.named_in(text_of(found.post.body), found.at)


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
