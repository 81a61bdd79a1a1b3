"""Who was forgotten, in the database and in a file beside it, which an earlier copy of the database reads."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from intake.db import Conn

FILE = "forgotten.jsonl"


class Unreadable(Exception):
    """A line of the file is none of ours."""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What came until `at` is erased; who comes again later is a new person to us."""

    forgotten_id: UUID
    at: datetime
    author: str
    reason: str
    keys: tuple[bytes, ...] = field(repr=False)


KEEP = """
    INSERT INTO forgotten (forgotten_id, at, author, reason, keys)
    VALUES (%(forgotten_id)s, %(at)s, %(author)s, %(reason)s, %(keys)s) ON CONFLICT DO NOTHING
"""
END = "UPDATE forgotten SET counts = %(counts)s WHERE forgotten_id = %(forgotten_id)s"
READ = "SELECT forgotten_id, at, author, reason, keys FROM forgotten"


def begin(conn: Conn, file: Path, forgetting: Forgetting, *, in_file: Container[UUID]) -> None:
    """Note it in both, before anything is erased.  `in_file`: whom the file names already.  Raises OSError."""
    if forgetting.forgotten_id not in in_file:
        _append(file, forgetting)
    given = {"forgotten_id": forgetting.forgotten_id, "at": forgetting.at, "keys": list(forgetting.keys)}
    conn.execute(KEEP, given | {"author": forgetting.author, "reason": forgetting.reason})


def end(conn: Conn, forgetting: Forgetting, counts: Mapping[str, int]) -> None:
    """Note that it is done."""
    conn.execute(END, {"forgotten_id": forgetting.forgotten_id, "counts": Jsonb(dict(counts))})


def everybody(conn: Conn, *files: Path) -> list[Forgetting]:
    """The list of the database and of the files together, the oldest first.  Raises Unreadable, OSError."""
    with conn.cursor(row_factory=class_row(Forgetting)) as cursor:
        known = {each.forgotten_id: each for each in cursor.execute(READ)}
    for file in files:
        known |= {each.forgotten_id: each for each in of_file(file)}
    return sorted(known.values(), key=lambda each: (each.at, each.forgotten_id))


def of_file(file: Path) -> list[Forgetting]:
    """[] where there is none.  Raises Unreadable."""
    if not file.exists():
        return []
    return [_read(line, number) for number, line in enumerate(file.read_text("utf-8").splitlines(), 1) if line]


def _append(file: Path, forgetting: Forgetting) -> None:
    line = {
        "forgotten_id": str(forgetting.forgotten_id),
        "at": forgetting.at.isoformat(),
        "by": forgetting.author,
        "reason": forgetting.reason,
        "keys": [each.hex() for each in forgetting.keys],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")
        out.flush()
        os.fsync(out.fileno())


def _read(line: str, number: int) -> Forgetting:
    try:
        found = json.loads(line)
        keys = tuple(bytes.fromhex(each) for each in found["keys"])
        at = datetime.fromisoformat(found["at"])
        return Forgetting(UUID(found["forgotten_id"]), at, str(found["by"]), str(found["reason"]), keys)
    except (ValueError, TypeError, LookupError, AttributeError):
        raise Unreadable(f"line {number} is no forgetting") from None
