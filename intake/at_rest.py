"""Payloads as they lie in PostgreSQL: as they came, or with INTAKE_SEAL_CONTENTS sealed by INTAKE_SEAL_KEYS.

    Payload(bytes) ─> connection of ours ─> sealed with the first key ─> bodies.content
    bodies.content ─> connection of ours ─> opened with any of them   ─> bytes

AES-SIV (RFC 5297) gives the same bytes for the same content and key, so that SQL still finds equal bodies equal; it
tells no more than that they are.  A connection that lacks a key reads nothing and writes nothing (`agree`).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from psycopg import abc
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.postgres import types
from psycopg.pq import Format
from psycopg.rows import scalar_row
from psycopg.types.string import ByteaBinaryLoader, ByteaLoader

from intake import sealing
from intake.config.errors import ConfigError, Problem

# What is sealed begins so, and then says with which key.  Digests, which no connection can tell from contents, do not.
MARK: Final = b"\x00intake\x01"
ID_BYTES: Final = 8
# In place of a key's id: it is not sealed, but came with our mark.
AS_IT_CAME: Final = bytes(ID_BYTES)
SETTING: Final = "INTAKE_SEAL_CONTENTS"
PURPOSE: Final = b"lead-intake payloads at rest"
LACKS_KEY: Final = f"contents of this database are sealed with a key that is not in {sealing.SETTING}"


class Unopenable(psycopg.OperationalError):
    """Sealed with a key that this process lacks: as good as a database that is away, until it has the key.

    `key_id`: as it stands before the content; None: said of no single one.
    """

    def __init__(self, told: str, key_id: bytes | None = None) -> None:
        super().__init__(told)
        self.key_id = key_id


class Damaged(psycopg.DataError):
    """Not what was sealed: no key will ever open it."""


class Lost(bytes):
    """In place of a content that cannot be opened, and empty; see `sparing`."""

    __slots__ = ()


class Payload(bytes):
    """A content on its way into `bodies`; the connection seals it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Key:
    """`id` tells which key it is, and nothing of it."""

    id: bytes
    siv: AESSIV = field(repr=False)


@dataclass(frozen=True, slots=True)
class Keys:
    """Each opens; the first one seals, where `seals` says so, and else contents stay as they came."""

    keys: tuple[Key, ...] = ()
    seals: bool = False

    @property
    def heads(self) -> tuple[bytes, ...]:
        """How a content begins that one of them has sealed; the one that seals now comes first."""
        return tuple(MARK + key.id for key in self.keys)

    def close(self, content: bytes) -> bytes:
        """As it is stored."""
        if self.seals and content:
            return self.heads[0] + self.keys[0].siv.encrypt(content, [self.heads[0]])
        return MARK + AS_IT_CAME + content if content.startswith(MARK) else content

    def open(self, stored: bytes) -> bytes:
        """What `close` was given.  Raises Unopenable, Damaged."""
        if not stored.startswith(MARK):
            return stored
        head, sealed = stored[: len(MARK) + ID_BYTES], stored[len(MARK) + ID_BYTES :]
        if head == MARK + AS_IT_CAME:
            return sealed
        for key in self.keys:
            if head == MARK + key.id:
                return _opened(key, sealed, head)
        raise Unopenable(LACKS_KEY, head[len(MARK) :])


def _opened(key: Key, sealed: bytes, head: bytes) -> bytes:
    try:
        return key.siv.decrypt(sealed, [head])
    except InvalidTag:
        raise Damaged("not what was sealed") from None


NONE: Final = Keys()


def from_environ(environ: Mapping[str, str]) -> Keys:
    """The keys that the settings name.  Raises ConfigError, without repeating a value."""
    keys, wanted = sealing.named_keys(environ), environ.get(SETTING, "no").strip().lower() or "no"
    if wanted not in {"yes", "no"}:
        raise ConfigError("environment", [Problem(None, SETTING, "must be yes or no")])
    if wanted == "yes" and not keys:
        raise ConfigError("environment", [Problem(None, SETTING, f"needs keys in {sealing.SETTING}")])
    return of_keys(keys, seals=wanted == "yes")


def of_keys(keys: Sequence[str], *, seals: bool = True) -> Keys:
    """Made of the keys that seal what lies elsewhere; neither opens by the other.  Raises ConfigError."""
    if keys:
        sealing.of_keys(list(keys))
    return Keys(tuple(_derived(base64.urlsafe_b64decode(key)) for key in keys), seals)


def _derived(secret: bytes) -> Key:
    made = HKDF(SHA256(), length=ID_BYTES + 64, salt=None, info=PURPOSE).derive(secret)
    return Key(made[:ID_BYTES], AESSIV(made[ID_BYTES:]))


# --- connections ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Adapting:
    adapters: AdaptersMap
    connection: None = None


def adapting(keys: Keys) -> AdaptContext:
    """For `psycopg.connect(context=...)`: contents are sealed and opened on their way."""

    class Closing(Dumper):
        format = Format.BINARY
        oid = types["bytea"].oid

        def dump(self, obj: Payload) -> bytes:
            return keys.close(bytes(obj))

    class Opening(ByteaLoader):
        def load(self, data: Buffer) -> bytes:
            return keys.open(super().load(bytes(data)))

    class OpeningBinary(ByteaBinaryLoader):
        def load(self, data: Buffer) -> bytes:
            return keys.open(bytes(data))

    adapters = AdaptersMap(psycopg.adapters)
    adapters.register_dumper(Payload, Closing)
    adapters.register_loader("bytea", Opening)
    adapters.register_loader("bytea", OpeningBinary)
    return _Adapting(adapters)


def as_it_lies(cursor: psycopg.Cursor[Any]) -> None:
    """This cursor opens nothing that it reads."""
    cursor.adapters.register_loader("bytea", ByteaLoader)
    cursor.adapters.register_loader("bytea", ByteaBinaryLoader)


def sparing(cursor: psycopg.Cursor[Any]) -> None:
    """This cursor reads contents of many, to show or count them: it hands over Lost in place of each that is unopened.

    Whoever decides by what it reads lets Damaged and Unopenable be raised.
    """
    for form in (Format.TEXT, Format.BINARY):
        opening = cursor.adapters.get_loader(types["bytea"].oid, form)
        assert opening is not None  # noqa: S101  # psycopg has one for every built-in type
        cursor.adapters.register_loader("bytea", _sparing(opening, form))


def _sparing(opening: type[abc.Loader], form: Format) -> type[Loader]:
    class Sparing(Loader):
        format = form

        def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
            super().__init__(oid, context)
            self._opening = opening(oid, context)

        def load(self, data: Buffer) -> bytes:
            try:
                return bytes(self._opening.load(data))
            except (Damaged, Unopenable):
                return Lost()

    return Sparing


USED: Final = "SELECT key_id FROM payload_keys"
USE: Final = "INSERT INTO payload_keys (key_id) VALUES (%(key_id)s) ON CONFLICT DO NOTHING"


def agree(conn: psycopg.Connection[Any], keys: Keys) -> None:
    """Before a connection is used: nobody who lacks a key goes on, and that which seals is known to all from now on.

    Raises Unopenable.
    """
    try:
        used = used_by(conn)
    except psycopg.errors.UndefinedTable:  # not migrated: nothing is sealed there
        return
    if not used <= {key.id for key in keys.keys}:
        raise Unopenable(LACKS_KEY)
    if keys.seals and keys.keys[0].id not in used:
        conn.execute(USE, {"key_id": keys.keys[0].id})


def is_damage(conn: psycopg.Connection[Any], missing: Unopenable) -> bool:
    """Whether nobody ever sealed with that key: what names it was changed, and waits for no key."""
    return missing.key_id is not None and missing.key_id not in used_by(conn)


def used_by(conn: psycopg.Connection[Any]) -> frozenset[bytes]:
    """The ids of all keys with which contents may be sealed there."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return frozenset(cursor.execute(USED).fetchall())


NEWEST: Final = """
    SELECT count(*) FROM (SELECT content FROM bodies
                           WHERE length(content) > 0 AND what NOT IN ('media', 'sealed')
                           ORDER BY body_id DESC LIMIT 100) AS newest
     WHERE substring(content FROM 1 FOR length(%(head)s::bytea)) <> %(head)s
"""


def lately_otherwise(conn: psycopg.Connection[Any], keys: Keys) -> int:
    """How many of the newest hundred contents no key sealed, or not the first one."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return int(cursor.execute(NEWEST, {"head": keys.heads[0]}).fetchone() or 0)
