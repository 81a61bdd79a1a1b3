"""A stock of events, made at once: without keys and indexes, which are made anew when all rows stand.

Row by row into twenty indexes of random ids, ten million events would take many hours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg

from intake.db import Conn

STOCK: Final = Path(__file__).with_name("stock.sql")
TABLES: Final = [
    "receipts", "events", "bodies", "needs", "records", "deliveries", "delivery_history", "attempts",
]  # fmt: skip

# What points at these tables, then what finds rows in them: how each goes, and how it comes back.
REFERENCES: Final = """
    SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname),
           format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s NOT VALID', conrelid::regclass, conname,
                  pg_get_constraintdef(oid))
      FROM pg_constraint WHERE contype = 'f' AND confrelid = ANY(%(tables)s::regclass[])
"""
INDEXES: Final = """
    SELECT CASE WHEN c.oid IS NULL THEN format('DROP INDEX %%s', i.indexrelid::regclass)
                ELSE format('ALTER TABLE %%s DROP CONSTRAINT %%I', i.indrelid::regclass, c.conname) END,
           CASE WHEN c.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
                ELSE format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', i.indrelid::regclass, c.conname,
                            pg_get_constraintdef(c.oid)) END
      FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u')
     WHERE i.indrelid = ANY(%(tables)s::regclass[])
"""
# Nothing of it is worth anything before all of it stands.
HURRY: Final = """
    SET synchronous_commit = off;
    SET maintenance_work_mem = '512MB';
"""


def fill(database_url: str, *, stored: int, pending: int) -> None:
    """So many events, the newest of which are due; the planner knows of them."""
    script = STOCK.read_text("utf-8")
    for name, number in (("stored", stored), ("pending", pending)):
        script = script.replace(f"%({name})s", str(number))
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute(HURRY)
        with _without(conn, REFERENCES), _without(conn, INDEXES):
            conn.execute(script.encode())
        conn.execute("VACUUM (ANALYZE)")
        conn.execute("CHECKPOINT")


@contextmanager
def _without(conn: Conn, query: str) -> Iterator[None]:
    """What it names is gone within the block."""
    found = conn.execute(query.encode(), {"tables": TABLES}).fetchall()
    for goes, _ in found:
        conn.execute(goes)
    yield
    for _, comes_back in found:
        conn.execute(comes_back)
