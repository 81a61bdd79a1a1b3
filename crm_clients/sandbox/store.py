"""The sandbox's storage: one SQLite file with the records, the ledger, and the log of requests.

What a request does and its row in the ledger are one transaction, and SQLite's write-ahead log survives the kill of
the process, so the ledger tells what happened whatever was done to the server.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from crm_clients.sandbox.clock import Stopping

TABLES = """
    CREATE TABLE IF NOT EXISTS records (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        reference TEXT,
        parent_id TEXT,
        live INTEGER NOT NULL DEFAULT 1,
        merged_into TEXT,
        created_at REAL NOT NULL,
        hidden_until REAL NOT NULL,
        data TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS records_reference ON records (kind, reference);
    CREATE INDEX IF NOT EXISTS records_parent ON records (kind, parent_id);
    CREATE INDEX IF NOT EXISTS records_email ON records (kind, lower(json_extract(data, '$.email')));
    CREATE INDEX IF NOT EXISTS records_phone ON records (kind, json_extract(data, '$.phone'));
    CREATE TABLE IF NOT EXISTS ledger (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        at REAL NOT NULL,
        what TEXT NOT NULL,
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        reference TEXT,
        request_id INTEGER NOT NULL,
        fields TEXT NOT NULL
    );
    CREATE TRIGGER IF NOT EXISTS ledger_no_update BEFORE UPDATE ON ledger
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
    CREATE TRIGGER IF NOT EXISTS ledger_no_delete BEFORE DELETE ON ledger
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
    CREATE TABLE IF NOT EXISTS requests (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at REAL NOT NULL,
        method TEXT NOT NULL,
        what TEXT NOT NULL,
        kind TEXT,
        record_id TEXT,
        reference TEXT,
        fault TEXT,
        executed INTEGER NOT NULL DEFAULT 0,
        status INTEGER
    );
    CREATE TABLE IF NOT EXISTS replays (
        key TEXT PRIMARY KEY,
        asked TEXT NOT NULL,
        answer TEXT NOT NULL,
        until REAL NOT NULL
    );
"""
# A new ledger is a new table: no row of the old one is ever taken out of it.
DROP_TABLES = "DROP TABLE records; DROP TABLE ledger; DROP TABLE requests; DROP TABLE replays;"


class Store:
    """One connection for all threads, one transaction at a time."""

    def __init__(self, path: str) -> None:
        """`path` is a file, or ":memory:"."""
        self._lock = threading.RLock()
        self._open = True
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.row_factory = sqlite3.Row
        self._connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; {TABLES}")

    @contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[sqlite3.Connection]:
        """`keep` False: all goes as usual, and nothing is left of it.  Raises Stopping."""
        with self._held():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT" if keep else "ROLLBACK")

    @contextmanager
    def _held(self) -> Iterator[None]:
        with self._lock:
            if not self._open:
                raise Stopping
            yield

    def write(self, sql: str, *values: object) -> int:
        """One statement as a transaction of its own; returns the id of the row that an INSERT made."""
        with self.transaction() as db:
            return db.execute(sql, values).lastrowid or 0

    def rows(self, sql: str, *values: object) -> list[dict[str, object]]:
        """What a SELECT gives.  Raises Stopping."""
        with self._held():
            return [dict(row) for row in self._connection.execute(sql, values)]

    def reset(self) -> None:
        """Begin anew, with an empty ledger.  Raises Stopping."""
        with self._held():
            self._connection.executescript(f"BEGIN; {DROP_TABLES} {TABLES} COMMIT;")

    def close(self) -> None:
        """Let nobody in any more; requests that still run end with Stopping."""
        with self._lock:
            self._open = False
            self._connection.close()
