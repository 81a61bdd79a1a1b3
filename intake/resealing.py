"""After a key was changed: what an older one sealed, or none, is sealed anew with the first, batch by batch.

    contents (AES-SIV, `at_rest`) ─> files and refused deliveries (Fernet) ─> tokens of CRM accounts ─> the older keys
                                                                                                        are used no more

It may be stopped at any time, and begins again where something is left; nobody has to wait for it.  Only the owner of
the tables may do it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from psycopg.rows import class_row, scalar_row

from intake.at_rest import Damaged, Keys, Payload, Unopenable, as_it_lies
from intake.db import Conn
from intake.purge import NotOwner, is_owner
from intake.sealing import Seal, Sealed

Told = Callable[[int, int], object]
BATCH: Final = 500  # ids that are looked through at a time

LAST: Final = "SELECT coalesce(max(body_id), 0) FROM bodies"
# Contents that the first key did not seal; and what Fernet seals, which alone can tell.
WAITING: Final = """
    SELECT body_id, what IN ('media', 'sealed') AS is_file FROM bodies
     WHERE body_id > %(after)s AND body_id <= %(until)s AND length(content) > 0
       AND (what IN ('media', 'sealed') OR substring(content FROM 1 FOR length(%(head)s::bytea)) <> %(head)s)
     ORDER BY body_id
"""
# One at a time, since a content may have 64 MB; and nothing else is locked, so that no deadlock is made with a purge.
CONTENT: Final = "SELECT content FROM bodies WHERE body_id = %(body_id)s AND content IS NOT NULL FOR NO KEY UPDATE"
KEEP: Final = "UPDATE bodies SET content = %(content)s WHERE body_id = %(body_id)s"
# Each is a transaction; that in which the older keys are forgotten waits for the disk, and comes after all of them.
UNHURRIED: Final = "SET LOCAL synchronous_commit = off"


class StillUsed(Exception):
    """While all was sealed anew, somebody went on sealing with an older key, or with none."""


@dataclass(frozen=True, slots=True)
class _Body:
    body_id: int
    is_file: bool


def reseal(conn: Conn, keys: Keys, seal: Seal, *, told: Told = lambda _done, _total: None) -> Counter[str]:
    """How many `contents`, `files` and `tokens` were sealed anew, and how many are `unopened`: by no key of this host.

    `told` hears how far it is.  Raises NotOwner; StillUsed, where it has to be run again.
    """
    if not is_owner(conn):
        raise NotOwner
    counted = Counter(contents=0, files=0, tokens=0, unopened=0)
    last = _last(conn)
    counted.update(_bodies(conn, keys, seal, _batches(0, last, told)))
    _tokens(conn, seal, counted)
    if _bodies(conn, keys, seal, _batches(last, _last(conn), told))["contents"]:
        raise StillUsed
    if not counted["unopened"]:
        conn.execute(FORGET_KEYS, {"key_id": keys.keys[0].id})
    return counted


def _last(conn: Conn) -> int:
    with conn.cursor(row_factory=scalar_row) as cursor:
        return int(cursor.execute(LAST).fetchone() or 0)


def _batches(after: int, last: int, told: Told) -> Iterator[dict[str, object]]:
    for begin in range(after, last, BATCH):
        told(begin, last)
        yield {"after": begin, "until": min(begin + BATCH, last)}


def _bodies(conn: Conn, keys: Keys, seal: Seal, batches: Iterable[dict[str, object]]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for each in batches:
        with conn.cursor(row_factory=class_row(_Body)) as cursor:
            waiting = cursor.execute(WAITING, each | {"head": keys.heads[0]}).fetchall()
        for body in waiting:
            with conn.transaction():
                conn.execute(UNHURRIED)
                _body(conn, body, keys, seal, counted)
    return counted


def _body(conn: Conn, body: _Body, keys: Keys, seal: Seal, counted: Counter[str]) -> None:
    with conn.cursor(row_factory=scalar_row) as cursor:
        as_it_lies(cursor)
        stored = cursor.execute(CONTENT, {"body_id": body.body_id}).fetchone()
        if not stored or stored.startswith(keys.heads[0]):  # emptied, or written anew, since it was looked for
            return
        renewed = _renewed(seal, stored, counted) if body.is_file else _reopened(keys, stored, counted)
        if renewed is not None:
            cursor.execute(KEEP, {"body_id": body.body_id, "content": renewed})
            counted["files" if body.is_file else "contents"] += 1


def _reopened(keys: Keys, stored: bytes, counted: Counter[str]) -> Payload | None:
    """None: it cannot be opened, and stays as it is."""
    try:
        return Payload(keys.open(stored))
    except (Unopenable, Damaged):
        counted["unopened"] += 1
        return None


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
