"""After a key was changed: what an older one sealed, or none, is sealed anew with the first, batch by batch.

    contents (AES-SIV, `at_rest`) ─> files and refused deliveries (Fernet) ─> tokens of CRM accounts ─> the older keys
                                                                                                        are used no more

It may be stopped at any time, and begins again where something is left.  Only the owner of the tables may do it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from psycopg.rows import class_row, scalar_row

from intake.at_rest import Keys, Payload
from intake.db import Conn
from intake.purge import NotOwner, is_owner
from intake.sealing import Seal, Sealed

Told = Callable[[int, int], object]
BATCH: Final = 500  # ids of a transaction

LAST: Final = "SELECT coalesce(max(body_id), 0) FROM bodies"
CONTENTS: Final = """
    SELECT body_id, content FROM bodies
     WHERE body_id > %(after)s AND body_id <= %(until)s AND length(content) > 0 AND what NOT IN ('media', 'sealed')
       AND substring(content FROM 1 FOR length(%(head)s::bytea)) <> %(head)s
       FOR NO KEY UPDATE
"""
SEALED: Final = """
    SELECT body_id, content FROM bodies
     WHERE body_id > %(after)s AND body_id <= %(until)s AND content IS NOT NULL AND what IN ('media', 'sealed')
       FOR NO KEY UPDATE
"""
KEEP: Final = "UPDATE bodies SET content = %(content)s WHERE body_id = %(body_id)s"


@dataclass(frozen=True, slots=True)
class _Body:
    body_id: int
    content: bytes = field(repr=False)


def reseal(conn: Conn, keys: Keys, seal: Seal, *, told: Told = lambda _done, _total: None) -> Counter[str]:
    """How many `contents`, `files` and `tokens` were sealed anew, and how many are `unopened`: by no key of this host.

    `told` hears how far it is.  Raises NotOwner; Unopenable for contents, which all hosts must be able to open.
    """
    if not is_owner(conn):
        raise NotOwner
    counted = Counter(contents=0, files=0, tokens=0, unopened=0)
    with conn.cursor(row_factory=scalar_row) as cursor:
        last = int(cursor.execute(LAST).fetchone() or 0)
    for after in range(0, last, BATCH):
        told(after, last)
        given = {"after": after, "until": after + BATCH, "head": keys.heads[0]}
        with conn.transaction():
            counted["contents"] += _contents(conn, given)
            _files(conn, seal, given, counted)
    _tokens(conn, seal, counted)
    if not counted["unopened"]:
        conn.execute(FORGET_KEYS, {"key_id": keys.keys[0].id})
    return counted


def _contents(conn: Conn, given: dict[str, object]) -> int:
    with conn.cursor(row_factory=class_row(_Body)) as cursor:
        found = cursor.execute(CONTENTS, given).fetchall()
        cursor.executemany(KEEP, [{"body_id": each.body_id, "content": Payload(each.content)} for each in found])
    return len(found)


def _files(conn: Conn, seal: Seal, given: dict[str, object], counted: Counter[str]) -> None:
    with conn.cursor(row_factory=class_row(_Body)) as cursor:
        for each in cursor.execute(SEALED, given).fetchall():
            renewed = _renewed(seal, each.content, counted)
            if renewed is not None:
                cursor.execute(KEEP, {"body_id": each.body_id, "content": renewed})
                counted["files"] += 1


GRANTS: Final = "SELECT destination, access_token, refresh_token FROM crm_grants FOR UPDATE"
KEEP_TOKENS: Final = """
    UPDATE crm_grants
       SET access_token = coalesce(%(access)s, access_token), refresh_token = coalesce(%(refresh)s, refresh_token)
     WHERE destination = %(destination)s
"""
# Whoever still seals with one of them says so again when it connects.
FORGET_KEYS: Final = "DELETE FROM payload_keys WHERE key_id <> %(key_id)s"


@dataclass(frozen=True, slots=True)
class _Grant:
    destination: str
    access_token: bytes = field(repr=False)
    refresh_token: bytes | None = field(repr=False)


def _tokens(conn: Conn, seal: Seal, counted: Counter[str]) -> None:
    with conn.transaction(), conn.cursor(row_factory=class_row(_Grant)) as cursor:
        for each in cursor.execute(GRANTS).fetchall():
            access = _renewed(seal, each.access_token, counted)
            refresh = None if each.refresh_token is None else _renewed(seal, each.refresh_token, counted)
            if access or refresh:
                given = {"destination": each.destination, "access": access, "refresh": refresh}
                cursor.execute(KEEP_TOKENS, given)
                counted["tokens"] += 1


def _renewed(seal: Seal, sealed: bytes, counted: Counter[str]) -> bytes | None:
    """None: it stays as it is."""
    try:
        return seal.renewed(sealed)
    except Sealed:
        counted["unopened"] += 1
        return None
