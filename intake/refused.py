"""Refused deliveries, kept sealed for a week: a secret that was wrong or rotated too early loses nothing.

    not authentic ─> 401, at once      └─> Keeper's queue ─> sealed, in the table    `intake recheck SOURCE`:
                                           full: dropped       (a thread)            verified again ─> accepted as usual

Anybody can send what is refused, so all of it is bounded: in memory, and for each source in the table.  When a source
has too much, the oldest goes: a flood must then go on to do harm, while one that filled the place once, with the newest
dropped, would keep out a week of real leads.  Keeping is done as well as may be, and never by the request itself: a 401
is no acknowledgement, and neither a slow database nor a flood may hold the door's threads.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import psycopg
import structlog
from psycopg.rows import scalar_row, tuple_row
from psycopg.types.json import Jsonb

from intake import background, kept
from intake.db import WORKER_OPTIONS, BoundedConnection, Conn, answering_until, prepare_after
from intake.kept import Kept
from intake.reading import Post
from intake.sealing import Seal

log = structlog.get_logger()

KEPT_FOR = timedelta(days=7)

# Of one source: about a day of a busy one.  Bytes as sealed.
MOST = 5_000
MOST_BYTES = 64 * 1024 * 1024

# What one process holds until it is written; a body has up to 3 MB.
WAITING = 200
WAITING_BYTES = 16 * 1024 * 1024

BATCH = 50
PATIENCE = 5.0  # seconds for one batch
AGAIN = 1.0  # seconds until a batch is tried again

# --- storing --------------------------------------------------------------------------------------------------------

# One at a time for each source, so that two that trim at once do not wait for each other crosswise.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('refused ' || %(source)s, 0))"
STORE = """
    INSERT INTO receipts (receipt_id, received_at, mode, source, content_type, verdict, counts)
    VALUES (%(receipt_id)s, %(at)s, %(mode)s, %(source)s, '', 'refused', %(counts)s)
    ON CONFLICT DO NOTHING
"""
SEALED = """
    INSERT INTO bodies (what, receipt_id, content) VALUES ('sealed', %(receipt_id)s, %(sealed)s) ON CONFLICT DO NOTHING
"""
BEYOND = """
    SELECT receipt_id
      FROM (SELECT receipt_id, row_number() OVER newest AS number,
                   sum((counts ->> 'bytes')::bigint) OVER newest AS bytes
              FROM receipts WHERE verdict = 'refused' AND source = %(source)s
            WINDOW newest AS (ORDER BY received_at DESC, receipt_id)) AS refused
     WHERE number > %(most)s OR bytes > %(most_bytes)s
"""


def store(conn: Conn, seal: Seal, refused: Iterable[Kept], *, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
    """Keep them, and drop the oldest of a source that has too much."""
    by_source: dict[str, list[Kept]] = {}
    for each in refused:
        by_source.setdefault(each.post.source, []).append(each)
    for source, some in sorted(by_source.items()):
        with conn.transaction(), conn.cursor(row_factory=scalar_row) as cursor:
            cursor.execute(LOCK, {"source": source})
            for each in some:
                _store(conn, seal, each)
            beyond = cursor.execute(BEYOND, {"source": source, "most": most, "most_bytes": most_bytes}).fetchall()
            forget(conn, beyond)


def _store(conn: Conn, seal: Seal, each: Kept) -> None:
    sealed = seal.close(kept.pack(each))
    given = {"receipt_id": each.receipt_id, "at": each.at, "mode": each.post.mode, "source": each.post.source}
    conn.execute(STORE, given | {"counts": Jsonb({"bytes": len(sealed)})})
    conn.execute(SEALED, {"receipt_id": each.receipt_id, "sealed": sealed})


FORGET_BODIES = "DELETE FROM bodies WHERE what = 'sealed' AND receipt_id = ANY(%(ids)s)"
FORGET = "DELETE FROM receipts WHERE verdict = 'refused' AND receipt_id = ANY(%(ids)s)"


def forget(conn: Conn, receipts: list[UUID]) -> None:
    """As if they had never been kept."""
    if receipts:
        conn.execute(FORGET_BODIES, {"ids": receipts})
        conn.execute(FORGET, {"ids": receipts})


OVER = """
    SELECT receipt_id FROM receipts WHERE verdict = 'refused' AND received_at < statement_timestamp() - %(kept_for)s
"""


def purge(conn: Conn) -> int:
    """Forget those whose time is over; returns how many."""
    with conn.transaction(), conn.cursor(row_factory=scalar_row) as cursor:
        over = cursor.execute(OVER, {"kept_for": KEPT_FOR}).fetchall()
        forget(conn, over)
    return len(over)


# --- reading --------------------------------------------------------------------------------------------------------

WAITING_OF = """
    SELECT receipt_id FROM receipts
     WHERE verdict = 'refused' AND source = ANY(%(names)s) ORDER BY received_at, receipt_id
"""
TAKE = """
    SELECT r.received_at, b.content FROM receipts r JOIN bodies b USING (receipt_id)
     WHERE r.receipt_id = %(receipt_id)s AND r.verdict = 'refused' AND b.what = 'sealed'
       FOR UPDATE OF r SKIP LOCKED
"""


def waiting(conn: Conn, names: list[str]) -> list[UUID]:
    """The receipts of a source, under all the names that it had, the oldest first."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(WAITING_OF, {"names": names}).fetchall()


def take(conn: Conn, receipt_id: UUID) -> bytes | None:
    """Its sealed bytes, its row locked until the transaction ends.  None: it has gone, or another has it in hand."""
    with conn.cursor(row_factory=tuple_row) as cursor:
        row = cursor.execute(TAKE, {"receipt_id": receipt_id}).fetchone()
    return None if row is None else bytes(row[1])


# --- the door's side ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Keeper:
    """Takes what is refused, and writes it from a thread of its own.  `new_id` gives ids of receipts."""

    database_url: str = field(repr=False)
    seal: Seal
    new_id: Callable[[], UUID]
    _waiting: queue.Queue[Kept] = field(default_factory=lambda: queue.Queue(WAITING))
    _bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    def keep(self, post: Post, at: datetime) -> bool:
        """Returns at once.  False: there was no room, and it is dropped."""
        with self._lock:
            if self._bytes + _size(post) > WAITING_BYTES or self._waiting.full():
                return False
            self._bytes += _size(post)
            self._waiting.put_nowait(Kept(self.new_id(), at, post))
            if self._thread is None:
                self._thread = background.begin(None, self._run, "refused")
        return True

    def stop(self) -> None:
        """Try no longer to reach a database that is away."""
        self._stop.set()

    def flush(self, within: float) -> None:
        """Wait until all is written, `within` seconds at most."""
        until = time.monotonic() + within
        while self._bytes and time.monotonic() < until:
            time.sleep(0.02)

    def _run(self) -> None:
        while True:
            batch = [self._waiting.get()]
            while len(batch) < BATCH and not self._waiting.empty():
                batch.append(self._waiting.get())
            while not self._write(batch):
                if self._stop.wait(AGAIN):
                    return
            with self._lock:
                self._bytes -= sum(_size(each.post) for each in batch)

    def _write(self, batch: list[Kept]) -> bool:
        """False: the database is away.  What it refuses is given up."""
        try:
            with (
                BoundedConnection.connect(
                    self.database_url,
                    autocommit=True,
                    connect_timeout=3,
                    options=WORKER_OPTIONS,
                    prepare_threshold=prepare_after(),
                ) as conn,
                answering_until(conn, time.monotonic() + PATIENCE),
            ):
                store(conn, self.seal, batch)
        except psycopg.OperationalError as away:
            log.warning("refused deliveries wait to be kept", error=type(away).__name__)
            return False
        except Exception as odd:  # noqa: BLE001  # Whatever it is, the next ones must still be kept.
            log.error("refused deliveries not kept", error=type(odd).__name__)  # noqa: TRY400  # it quotes values
        return True


def _size(post: Post) -> int:
    """Bytes in memory, roughly: the body, and headers."""
    return len(post.body) + 2048
