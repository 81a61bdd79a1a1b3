"""The people at the desk, and how one of them proves who it is.

A name is the author of decisions for ever, so an operator is disabled, never deleted.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from psycopg import errors
from psycopg.rows import class_row, scalar_row

from intake.db import Conn
from intake.desk.passwords import Passwords, must_do
from intake.desk.roles import Permission, Role, may
from intake.reason_texts import Language

NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


class NameTaken(Exception):
    """Somebody has, or had, this name."""


class BadName(ValueError):
    """A name has 1 to 63 of a-z, 0-9, dot, dash and underscore, and begins with a letter or digit."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A person at the desk.  `language` None: the installation's.  `disabled_at` None: may sign in."""

    operator_id: int
    name: str
    role: Role
    must_change: bool
    language: Language | None
    made_at: datetime
    disabled_at: datetime | None

    def may(self, permission: Permission) -> bool:
        """Whether the role allows it."""
        return may(self.role, permission)


ADD = """
    INSERT INTO operators (name, role, password_hash, must_change)
    VALUES (%(name)s, %(role)s, %(hash)s, %(must_change)s)
"""


@dataclass(frozen=True, slots=True)
class Secret:
    """A password, and whether somebody else knows it."""

    password: str
    must_change: bool = True

    def __repr__(self) -> str:
        return "Secret(...)"


def add(conn: Conn, passwords: Passwords, name: str, role: Role, secret: Secret) -> None:
    """Raises BadName, NameTaken, WeakPassword."""
    if not NAME.fullmatch(name):
        raise BadName(name)
    must_do(secret.password, name)
    given = {"name": name, "role": role, "hash": passwords.hash(secret.password), "must_change": secret.must_change}
    try:
        conn.execute(ADD, given)
    except errors.UniqueViolation:
        raise NameTaken(name) from None


FIND = """
    SELECT operator_id, name, role, must_change, language, made_at, disabled_at FROM operators
     WHERE %(name)s::text IS NULL OR name = %(name)s
     ORDER BY name
"""


def find(conn: Conn, name: str) -> Operator | None:
    """None: there never was one of this name."""
    with conn.cursor(row_factory=class_row(Operator)) as cursor:
        return cursor.execute(FIND, {"name": name}).fetchone()


def everybody(conn: Conn) -> list[Operator]:
    """By name, those who are disabled too."""
    with conn.cursor(row_factory=class_row(Operator)) as cursor:
        return cursor.execute(FIND, {"name": None}).fetchall()


DISABLE = "UPDATE operators SET disabled_at = clock_timestamp() WHERE name = %(name)s AND disabled_at IS NULL"
ENABLE = "UPDATE operators SET disabled_at = NULL WHERE name = %(name)s AND disabled_at IS NOT NULL"
END_SESSIONS = """
    DELETE FROM operator_sessions WHERE operator_id = (SELECT operator_id FROM operators WHERE name = %(name)s)
"""


def disable(conn: Conn, name: str) -> bool:
    """End their sessions, and let neither them nor their tokens in.  False: there is no such operator that may."""
    with conn.transaction():
        conn.execute(END_SESSIONS, {"name": name})
        return conn.execute(DISABLE, {"name": name}).rowcount == 1


def enable(conn: Conn, name: str) -> bool:
    """False: there is nobody of this name who is disabled."""
    return conn.execute(ENABLE, {"name": name}).rowcount == 1


SET_ROLE = "UPDATE operators SET role = %(role)s WHERE name = %(name)s"


def give_role(conn: Conn, name: str, role: Role) -> bool:
    """At once, also where they are signed in.  False: there is nobody of this name."""
    return conn.execute(SET_ROLE, {"name": name, "role": role}).rowcount == 1


SET_LANGUAGE = "UPDATE operators SET language = %(language)s WHERE name = %(name)s"


def speak(conn: Conn, name: str, language: Language) -> None:
    """Show them the desk in this language."""
    conn.execute(SET_LANGUAGE, {"name": name, "language": language})


CHANGE = """
    UPDATE operators SET password_hash = %(hash)s, must_change = %(must_change)s WHERE name = %(name)s
"""


def set_password(conn: Conn, passwords: Passwords, name: str, secret: Secret) -> bool:
    """End their sessions, and what locked them out.  False: there is nobody of this name.  Raises WeakPassword."""
    must_do(secret.password, name)
    given = {"name": name, "hash": passwords.hash(secret.password), "must_change": secret.must_change}
    with conn.transaction():
        conn.execute(END_SESSIONS, {"name": name})
        conn.execute(FORGIVE, {"name": _hash(name)})
        return conn.execute(CHANGE, given).rowcount == 1


# --- who it is ------------------------------------------------------------------------------------------------------

# So many wrong passwords in a row lock a name for a while.  Ten thousand common passwords would take three weeks each.
MOST_FAILURES: Final = 5
LOCKED_FOR: Final = timedelta(minutes=15)

LOCKED = "SELECT true FROM login_failures WHERE name_hash = %(name)s AND locked_until > clock_timestamp()"
FAILED = """
    INSERT INTO login_failures AS f (name_hash, failures, last_at) VALUES (%(name)s, 1, clock_timestamp())
    ON CONFLICT (name_hash) DO UPDATE
       SET failures = CASE WHEN f.last_at < statement_timestamp() - %(span)s THEN 1 ELSE f.failures + 1 END,
           last_at = clock_timestamp(),
           locked_until = CASE WHEN f.last_at >= statement_timestamp() - %(span)s AND f.failures + 1 >= %(most)s
                               THEN clock_timestamp() + %(span)s END
"""
FORGIVE = "DELETE FROM login_failures WHERE name_hash = %(name)s"
HASH_OF = "SELECT password_hash FROM operators WHERE name = %(name)s AND disabled_at IS NULL"

Refusal = Literal["wrong", "locked"]


def identify(conn: Conn, passwords: Passwords, name: str, password: str) -> Operator | Refusal:
    """Who this is, or why not; whether the name exists cannot be told from the answer.  Raises TooBusy."""
    name = name.strip().lower()[:200]
    key = {"name": _hash(name)}
    with conn.cursor(row_factory=scalar_row) as cursor:
        if cursor.execute(LOCKED, key).fetchone():
            return "locked"
        stored: str | None = cursor.execute(HASH_OF, {"name": name}).fetchone() if NAME.fullmatch(name) else None
    if passwords.fits(stored, password[:1000]):
        found = find(conn, name)
        if found is not None:
            conn.execute(FORGIVE, key)
            return found
    conn.execute(FAILED, key | {"span": LOCKED_FOR, "most": MOST_FAILURES})
    return "wrong"


def _hash(name: str) -> bytes:
    """People type passwords into the field of the name; it is not kept."""
    return hashlib.sha256(name.encode("utf-8", "replace")).digest()
