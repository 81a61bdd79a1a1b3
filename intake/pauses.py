"""A person's pause: of a CRM account, or of a source, which then accepts and delivers nothing."""

from __future__ import annotations

from datetime import timedelta

from psycopg.rows import scalar_row

from intake import accounts, decided
from intake.db import Conn
from intake.decided import About, Author

# A person's pause has no end of its own, so its control call is due in a hundred years.
UNTIL_RESUMED = timedelta(days=36_500)


def pause_account(conn: Conn, author: Author, destination: str) -> None:
    """Deliver nothing to this account until a person resumes it."""
    with conn.transaction():
        accounts.pause(conn, destination, reason="paused_by_person", again=UNTIL_RESUMED)
        decided.note(conn, author, "pause", About(), destination=destination)


def resume_account(conn: Conn, author: Author, destination: str) -> bool:
    """Deliver again.  False: it was not paused, and nothing was changed."""
    with conn.transaction():
        if not accounts.resume(conn, destination):
            return False
        decided.note(conn, author, "resume", About(), destination=destination)
        return True


PAUSE_SOURCE = "INSERT INTO paused_sources (source) VALUES (%(source)s) ON CONFLICT DO NOTHING"
RESUME_SOURCE = "DELETE FROM paused_sources WHERE source = %(source)s"


def pause_source(conn: Conn, author: Author, source: str) -> None:
    """Accept what comes, and deliver nothing of it until a person resumes it.  What is under way ends its way."""
    with conn.transaction():
        conn.execute(PAUSE_SOURCE, {"source": source})
        decided.note(conn, author, "pause", About(), source=source)


def resume_source(conn: Conn, author: Author, source: str) -> bool:
    """Deliver again.  False: it was not paused, and nothing was changed."""
    with conn.transaction():
        if conn.execute(RESUME_SOURCE, {"source": source}).rowcount != 1:
            return False
        decided.note(conn, author, "resume", About(), source=source)
        return True


PAUSED_SOURCES = "SELECT source FROM paused_sources ORDER BY source"


def paused_sources(conn: Conn) -> list[str]:
    """Which sources a person paused."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(PAUSED_SOURCES).fetchall()


def is_paused_source(conn: Conn, source: str) -> bool:
    """Whether a person paused this source."""
    return source in paused_sources(conn)
