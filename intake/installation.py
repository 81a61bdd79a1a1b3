"""Which installation a database belongs to, so that a copy of it delivers nothing.

The id and epoch stand in the database and in a file outside it (`$INTAKE_HOME/installation`, or the settings
INTAKE_INSTALLATION and INTAKE_EPOCH on hosts without a disk of their own).  A clone on a staging host, or an earlier
copy brought back, disagrees with the file: then nothing is delivered until a person says what happened.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from psycopg.rows import class_row

from intake.db import Conn
from intake.identity import IdentityKey

if TYPE_CHECKING:
    from intake.config import Process


class Mismatch(Exception):
    """The database is not the one that this host delivers for; deliver nothing."""


@dataclass(frozen=True, slots=True)
class Installation:
    """As the database says.  `epoch` grows by one with each restore."""

    installation_id: UUID
    epoch: int
    epoch_opened_at: datetime
    key: IdentityKey

    @property
    def mark(self) -> str:
        """What the file holds: id, epoch, and a digest of the key (another key would name every contact anew)."""
        return f"{self.installation_id} {self.epoch} {hashlib.sha256(self.key.secret).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class _Row:
    installation_id: UUID
    epoch: int
    epoch_opened_at: datetime
    identity_key: bytes


READ = "SELECT installation_id, epoch, epoch_opened_at, identity_key FROM installation"


def read(conn: Conn) -> Installation:
    """The installation of this database."""
    with conn.cursor(row_factory=class_row(_Row)) as cursor:
        row = cursor.execute(READ).fetchone()
    if row is None:
        raise Mismatch("the database has no installation row: run `intake migrate`")
    return Installation(row.installation_id, row.epoch, row.epoch_opened_at, IdentityKey(row.identity_key))


def mark_file(process: Process) -> Path:
    """Where this host keeps the mark of its installation."""
    return process.intake_home / "installation"


def expected(process: Process) -> str | None:
    """What the settings or the file pin; None: nothing yet."""
    if process.installation is not None:
        return f"{process.installation} {process.epoch}" if process.epoch is not None else process.installation
    file = mark_file(process)
    return file.read_text("utf-8") if file.exists() else None


def epoch_of(mark: str | None) -> int:
    """The epoch that a mark names; 0: it names none."""
    words = (mark or "").split()
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() else 0


def pin(found: Installation, file: Path, *, ours: bool) -> None:
    """Write the mark where there is none yet.  `ours`: this host made the database, or a person says it belongs here.

    A database that is already somebody's is not taken silently: it may be a copy.  Raises OSError.
    """
    if ours and not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        overwrite(found, file)


def overwrite(found: Installation, file: Path) -> None:
    """Write the mark in one piece; only `intake restored` does it over another one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".new")
    unfinished.write_text(found.mark + "\n", "utf-8")
    unfinished.replace(file)


def check(found: Installation, expected: str | None) -> None:
    """Compare with the mark of the file or the settings; `expected` None: there is none.  Raises Mismatch."""
    if expected is None:
        raise Mismatch(
            "this host does not know the database, which may be a copy of another's. If it delivers for it, run "
            f"`intake migrate --this-host`, or set INTAKE_INSTALLATION={found.installation_id}."
        )
    words = expected.split()
    if not words or words != found.mark.split()[: len(words)]:
        raise Mismatch(
            "the database is not the one this host delivers for (installation, epoch or key differ). If it was "
            "restored from a backup, run `intake restored`; if it is a copy for tests, give it a home and a CRM "
            "account of its own."
        )


# A new epoch: every record that is not known to stand in the CRM is in doubt from now on, and looked for.  A doubt that
# the copy knows begins anew: what became of it afterwards, and what was written then, is forgotten, and what a person
# said of it was said before that.
OPEN_EPOCH = """
    UPDATE installation SET epoch = greatest(epoch, %(after)s) + 1, epoch_opened_at = clock_timestamp()
"""
DOUBT_ALL = """
    UPDATE records
       SET state = 'in_doubt', asked_until = clock_timestamp() + %(lease)s, look_at = clock_timestamp() + %(lease)s,
           looks = 0, ruled_absent = false
     WHERE state IN ('none', 'asked', 'in_doubt')
"""


def open_epoch(conn: Conn, *, lease: timedelta, after: int = 0) -> Installation:
    """The database was restored to an earlier copy: it may have forgotten what it wrote.

    What the workers of before had in flight is over after `lease`.  `after`: the latest epoch that is known outside
    the database; the same copy restored twice has forgotten the first time, and its epoch must not be that one again.
    """
    with conn.transaction():
        conn.execute(OPEN_EPOCH, {"after": after})
        conn.execute(DOUBT_ALL, {"lease": lease})
    return read(conn)
