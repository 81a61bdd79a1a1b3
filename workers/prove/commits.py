"""Every commit is a boundary, and bears the name of the function that makes it: `deliveries.claim`, `events.accept`.

Nothing in the code under proof says so: the connections that a proof hands out are of a class that tells.  So none can
be forgotten, and a connection in production does nothing more than it must.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import psycopg
from psycopg import sql
from psycopg.abc import Params, Query
from psycopg.pq import TransactionStatus
from psycopg.pq.abc import PGconn
from psycopg.rows import scalar_row

from intake.db import BoundedConnection, Row
from intake.sealing import Seal
from intake.spool import Spool

At = Callable[[str], None]

BEFORE, AFTER = "commits", "done"


def _nobody(_boundary: str) -> None:
    """Nobody is told."""


@dataclass(slots=True)
class Ear:
    """What is told of commits, and who listens; at first nobody does."""

    at: At = _nobody

    def hear(self, boundary: str) -> None:
        """A boundary is passed."""
        self.at(boundary)

    @contextmanager
    def listening(self, at: At) -> Iterator[None]:
        """Tell `at`, until the block ends."""
        self.at = at
        try:
            yield
        finally:
            self.at = _nobody


OURS = ("intake.", "workers.")
WAY = "intake.db"  # `transaction` belongs to its callers
PROOF = ("workers.prove.", "tests.")  # not what is proved

WRITES = re.compile(r"\bINSERT\b|\bDELETE\b|(?<!FOR )(?<!KEY )\bUPDATE\b")
HAS_WRITTEN = "SELECT pg_current_xact_id_if_assigned() IS NOT NULL"


def telling(at: At) -> type[BoundedConnection]:
    """A class of connections that tell `at` of each commit: before it, and when it is done."""

    class Telling(BoundedConnection):
        def __init__(self, pgconn: PGconn) -> None:
            super().__init__(pgconn)
            self.cursor_factory = TellingCursor

        @contextmanager
        def transaction(
            self,
            savepoint_name: str | None = None,
            force_rollback: bool = False,
        ) -> Iterator[psycopg.Transaction]:
            name = _maker() if self.info.transaction_status is TransactionStatus.IDLE else None
            writes = False
            with super().transaction(savepoint_name, force_rollback) as begun:
                yield begun
                if name is not None:
                    writes = bool(self.cursor(row_factory=scalar_row).execute(HAS_WRITTEN).fetchone())
                if writes:
                    at(f"{name}.{BEFORE}")
            if writes:
                at(f"{name}.{AFTER}")

    class TellingCursor(psycopg.Cursor[Row]):
        """A statement outside a transaction commits by itself."""

        def execute(
            self, query: Query, params: Params | None = None, *, prepare: bool | None = None, binary: bool | None = None
        ) -> TellingCursor:
            alone = self.connection.info.transaction_status is TransactionStatus.IDLE
            name = _maker() if alone and WRITES.search(_text(query)) else None
            if name is not None:
                at(f"{name}.{BEFORE}")
            super().execute(query, params, prepare=prepare, binary=binary)  # type: ignore[arg-type, misc]  # its overloads
            if name is not None:
                at(f"{name}.{AFTER}")
            return self

    return Telling


def _text(query: Query) -> str:
    if isinstance(query, sql.Composable):
        return query.as_string(None)
    return query.decode() if isinstance(query, bytes) else str(query)


def _maker() -> str | None:
    """The function of ours that makes the commit; None: the proof itself does."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001  # there is no other way to see who calls
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(PROOF):
            return None
        if module.startswith(OURS) and module != WAY:
            return f"{module.rpartition('.')[2]}.{frame.f_code.co_qualname}"
        frame = frame.f_back
    return None


class TellingSpool(Spool):
    """A spool commits, too: to its own disk."""

    at: At

    def __init__(self, folder: Path, seal: Seal, limit: int, *, at: At) -> None:
        super().__init__(folder, seal, limit)
        self.at = at

    def append(self, content: bytes) -> None:
        """As any spool."""
        self.at(f"spool.append.{BEFORE}")
        super().append(content)
        self.at(f"spool.append.{AFTER}")

    def retire(self, segment: Path, end: int, epoch: int) -> bool:
        """As any spool."""
        self.at(f"spool.retire.{BEFORE}")
        is_aside = super().retire(segment, end, epoch)
        self.at(f"spool.retire.{AFTER}")
        return is_aside
