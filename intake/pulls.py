"""What a sender's webhooks lost is asked for: when, from where on, and through the same door as everything else.

Any number of workers and clocks may run: whoever moves the due time does the pull, and doing one twice is harmless,
because identity makes duplicates of what is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from psycopg.rows import class_row
from uuid_utils.compat import uuid7

from intake import kept
from intake.config import Settings, Source
from intake.db import Conn
from intake.identity import IdentityKey
from intake.reading import Arrival, Post, Reader
from intake.received import Acceptance

# Receipts of what was pulled say so by this header, with the time.
PULLED = "x-intake-pulled"
# Each pull begins this much before the end of the last one: clocks differ, and a sender may show late what it had.
OVERLAP = timedelta(minutes=30)

# --- when -----------------------------------------------------------------------------------------------------------

PLAN = """
    INSERT INTO pulls (source, read_until, due_at)
    SELECT source, clock_timestamp(), clock_timestamp() FROM unnest(%(sources)s::text[]) AS source
    ON CONFLICT (source) DO UPDATE SET due_at = coalesce(pulls.due_at, EXCLUDED.due_at)
"""
UNPLAN = "UPDATE pulls SET due_at = NULL WHERE source <> ALL(%(sources)s) AND due_at IS NOT NULL"


def plan(conn: Conn, settings: Settings) -> None:
    """Let the sources be pulled that want it by `pull_every`, and no others."""
    wanted = [each.name for each in settings.sources.values() if each.pull_every and each.enabled]
    conn.execute(PLAN, {"sources": wanted})
    conn.execute(UNPLAN, {"sources": wanted})


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull that is this worker's.  `started` by the database's clock."""

    source: str
    token: UUID
    read_until: datetime
    started: datetime

    @property
    def since(self) -> datetime:
        """From when on the sender is asked."""
        return self.read_until - OVERLAP


CLAIM = """
    UPDATE pulls SET due_at = clock_timestamp() + %(lease)s, claim_token = %(token)s
     WHERE source = (SELECT source FROM pulls WHERE due_at <= statement_timestamp() AND source = ANY(%(sources)s)
                      ORDER BY due_at FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING source, claim_token AS token, read_until, clock_timestamp() AS started
"""
END = """
    UPDATE pulls SET read_until = greatest(read_until, %(started)s), failure = NULL, ended_at = clock_timestamp(),
                     due_at = clock_timestamp() + %(after)s
     WHERE source = %(source)s AND claim_token = %(token)s AND due_at IS NOT NULL
"""
FAIL = """
    UPDATE pulls SET failure = %(failure)s, ended_at = clock_timestamp(), due_at = clock_timestamp() + %(after)s
     WHERE source = %(source)s AND claim_token = %(token)s AND due_at IS NOT NULL
"""
GIVE_BACK = """
    UPDATE pulls SET due_at = clock_timestamp()
     WHERE source = %(source)s AND claim_token = %(token)s AND due_at IS NOT NULL
"""


def claim(conn: Conn, *, sources: list[str], lease: timedelta) -> Pull | None:
    """The next pull that is due; None: none is."""
    with conn.cursor(row_factory=class_row(Pull)) as cursor:
        return cursor.execute(CLAIM, {"sources": sources, "lease": lease, "token": uuid4()}).fetchone()


def end(conn: Conn, pull: Pull, *, after: timedelta) -> None:
    """All was read; the next one is due then."""
    given = {"source": pull.source, "token": pull.token, "started": pull.started, "after": after}
    conn.execute(END, given)


def fail(conn: Conn, pull: Pull, *, failure: str, after: timedelta) -> None:
    """Not all was read: the next one begins where this one did."""
    conn.execute(FAIL, {"source": pull.source, "token": pull.token, "failure": failure, "after": after})


def give_back(conn: Conn, pull: Pull) -> None:
    """Not all was read, and nothing is wrong: another worker begins at once, where this one did."""
    conn.execute(GIVE_BACK, {"source": pull.source, "token": pull.token})


# --- through the door -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counts:
    """`read`: deliveries that the sender's answers made; the others count what was in them."""

    read: int = 0
    new: int = 0
    duplicate: int = 0
    updates: int = 0
    conflicts: int = 0
    quarantined: int = 0
    ignored: int = 0

    def plus(self, acceptance: Acceptance) -> Counts:
        """With one delivery more."""
        known = sum(each.duplicate for each in acceptance.events)
        return replace(
            self,
            read=self.read + 1,
            new=self.new + len(acceptance.events) - known - acceptance.conflicts,
            duplicate=self.duplicate + known,
            updates=self.updates + acceptance.updates,
            conflicts=self.conflicts + acceptance.conflicts,
            quarantined=self.quarantined + acceptance.quarantined,
            ignored=self.ignored + acceptance.ignored,
        )


@dataclass(frozen=True, slots=True)
class Doorman:
    """Accepts what was pulled as if its sender had delivered it.  `now`: when."""

    settings: Settings
    source: Source
    key: IdentityKey
    now: datetime

    def accept(self, conn: Conn, body: bytes, headers: Mapping[str, str]) -> Acceptance:
        """One delivery, in a transaction of its own.  Raises psycopg.Error."""
        marked = {**headers, PULLED: self.now.isoformat(timespec="seconds")}
        post = Post(self.source.name, "live", "application/json", marked, body, url="")
        reader = Reader(self.settings, self.source, self.now)
        return kept.accept(conn, self.key, reader.received(post, reader.read(post), Arrival(uuid7())))
