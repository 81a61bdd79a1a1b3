"""Tokens of programs: shown once, kept as a hash, with scopes and an end; each acts for an operator."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.desk.roles import Permission, Role, Scope, granted

# So that scanners of repositories know one that somebody committed.
PREFIX: Final = "intake_"
LONGEST: Final = timedelta(days=366)
NOTE_EVERY: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Token:
    """A program's right to act for an operator.  `used_at` None: never.  `revoked_at` None: it counts."""

    token_id: int
    operator: str
    role: Role
    label: str
    scopes: list[Scope]
    made_at: datetime
    expires_at: datetime
    used_at: datetime | None
    revoked_at: datetime | None

    @property
    def permissions(self) -> frozenset[Permission]:
        """What it may do today."""
        return granted(self.role, frozenset(self.scopes))


ADD = """
    INSERT INTO api_tokens (operator_id, label, secret_hash, scopes, expires_at)
    SELECT operator_id, %(label)s, %(hash)s, %(scopes)s, clock_timestamp() + %(lasts)s
      FROM operators WHERE name = %(operator)s AND disabled_at IS NULL
    RETURNING token_id
"""


def add(conn: Conn, operator: str, label: str, scopes: list[Scope], lasts: timedelta) -> str | None:
    """The secret, which nobody can read again; None: there is no such operator."""
    secret = PREFIX + secrets.token_urlsafe(32)
    given = {"operator": operator, "label": label, "hash": _hash(secret), "scopes": scopes, "lasts": lasts}
    with conn.cursor(row_factory=scalar_row) as cursor:
        made = cursor.execute(ADD, given).fetchone()
    return secret if made else None


COLUMNS: Final = """
    SELECT t.token_id, o.name AS operator, o.role, t.label, t.scopes, t.made_at, t.expires_at, t.used_at, t.revoked_at
      FROM api_tokens t JOIN operators o USING (operator_id)
"""
FIND = f"""{COLUMNS}
     WHERE t.secret_hash = %(hash)s AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp()
       AND o.disabled_at IS NULL
"""
USED = """
    UPDATE api_tokens SET used_at = clock_timestamp()
     WHERE token_id = %(token_id)s AND (used_at IS NULL OR used_at < clock_timestamp() - %(every)s)
"""


def find(conn: Conn, secret: str) -> Token | None:
    """None: nobody's, expired, revoked, or its operator is disabled."""
    with conn.cursor(row_factory=class_row(Token)) as cursor:
        found = cursor.execute(FIND, {"hash": _hash(secret)}).fetchone()
    if found is not None:
        conn.execute(USED, {"token_id": found.token_id, "every": NOTE_EVERY})
    return found


ALL = f"{COLUMNS} WHERE %(operator)s::text IS NULL OR o.name = %(operator)s ORDER BY t.token_id"


def listed(conn: Conn, operator: str | None = None) -> list[Token]:
    """Of one operator, or all; those that are over too."""
    with conn.cursor(row_factory=class_row(Token)) as cursor:
        return cursor.execute(ALL, {"operator": operator}).fetchall()


REVOKE = "UPDATE api_tokens SET revoked_at = clock_timestamp() WHERE token_id = %(token_id)s AND revoked_at IS NULL"


def revoke(conn: Conn, token_id: int) -> bool:
    """False: there is no such token that counts."""
    return conn.execute(REVOKE, {"token_id": token_id}).rowcount == 1


def _hash(secret: str) -> bytes:
    """A plain hash will do: 256 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
