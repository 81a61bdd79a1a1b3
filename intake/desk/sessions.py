"""Browsers that are signed in: a random token in a cookie, its hash in the database, and an end.

A session begins with a new token (what a browser brought before counts for nothing), and ends when it is left alone,
when it is old, when its operator signs in elsewhere too often, is disabled, or has a new password.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from psycopg.rows import class_row

from intake.db import Conn
from intake.desk.operators import Operator

IDLE: Final = timedelta(minutes=60)
LONGEST: Final = timedelta(hours=12)  # a working day
MOST: Final = 5  # of one operator at a time: a desk, a laptop, a phone, and two forgotten ones
# How often a session in use is written to.
NOTE_EVERY: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Session:
    """`token` is what the cookie holds."""

    operator: Operator
    token: str = field(repr=False)

    @property
    def form_token(self) -> str:
        """What every form of this session carries; it tells nothing of the cookie."""
        return form_token(self.token)


def form_token(secret: str) -> str:
    """The proof that a form was made for the holder of this cookie."""
    return hmac.digest(secret.encode("utf-8", "replace"), b"form", "sha256").hex()


def is_form_token(secret: str, given: str) -> bool:
    """In constant time."""
    return hmac.compare_digest(form_token(secret).encode(), given.encode("utf-8", "replace"))


BEGIN = "INSERT INTO operator_sessions (session_hash, operator_id) VALUES (%(hash)s, %(operator_id)s)"
SWEEP = """
    DELETE FROM operator_sessions
     WHERE seen_at < statement_timestamp() - %(idle)s OR made_at < statement_timestamp() - %(longest)s
        OR session_hash IN (SELECT session_hash FROM operator_sessions WHERE operator_id = %(operator_id)s
                             ORDER BY seen_at DESC OFFSET %(most)s)
"""
LIMITS: Final = {"idle": IDLE, "longest": LONGEST}


def begin(conn: Conn, operator: Operator) -> Session:
    """Sign in; the least used of too many ends."""
    token = secrets.token_urlsafe(32)
    with conn.transaction():
        conn.execute(BEGIN, {"hash": _hash(token), "operator_id": operator.operator_id})
        conn.execute(SWEEP, LIMITS | {"operator_id": operator.operator_id, "most": MOST})
    return Session(operator, token)


FIND = """
    SELECT o.operator_id, o.name, o.role, o.must_change, o.language, o.made_at, o.disabled_at
      FROM operator_sessions s JOIN operators o USING (operator_id)
     WHERE s.session_hash = %(hash)s AND o.disabled_at IS NULL
       AND s.seen_at >= statement_timestamp() - %(idle)s AND s.made_at >= statement_timestamp() - %(longest)s
"""
SEEN = """
    UPDATE operator_sessions SET seen_at = clock_timestamp()
     WHERE session_hash = %(hash)s AND seen_at < statement_timestamp() - %(every)s
"""


def find(conn: Conn, token: str, *, used: bool = True) -> Session | None:
    """Whose cookie this is; None: nobody's, or its time is over.  `used` False: a page asks by itself, no person."""
    key = {"hash": _hash(token)}
    with conn.cursor(row_factory=class_row(Operator)) as cursor:
        operator = cursor.execute(FIND, key | LIMITS).fetchone()
    if operator is None:
        return None
    if used:
        conn.execute(SEEN, key | {"every": NOTE_EVERY})
    return Session(operator, token)


END = "DELETE FROM operator_sessions WHERE session_hash = %(hash)s"
END_OTHERS = "DELETE FROM operator_sessions WHERE operator_id = %(operator_id)s AND session_hash <> %(hash)s"


def end(conn: Conn, session: Session) -> None:
    """Sign out here."""
    conn.execute(END, {"hash": _hash(session.token)})


def end_others(conn: Conn, session: Session) -> int:
    """Sign out everywhere else; returns how many there were."""
    given = {"hash": _hash(session.token), "operator_id": session.operator.operator_id}
    return conn.execute(END_OTHERS, given).rowcount


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
