"""What is kept unread, or outside the database, is encrypted: refused bodies, and the spool.

INTAKE_SEAL_KEYS names the keys: the first seals, each opens, so that a new one can be put before an old one.  Where it
names none, a key is made once in the home of this host (`seal.key`), which then opens what this host has sealed and
nothing else: several hosts with one database need the setting.  It opens still what it sealed before the setting came,
or while it was missing.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from intake.config.errors import ConfigError, Problem
from intake.config.secret import REFERENCE, read_file, resolve
from intake.surroundings import home_of

SETTING = "INTAKE_SEAL_KEYS"
KEY_FILE = "seal.key"
RULE = "must be keys as Fernet.generate_key() makes them (44 characters), or env:NAME, file:PATH of some, with commas"


class Sealed(Exception):
    """None of our keys opens it: the key has gone, or the bytes are not what was sealed."""


@dataclass(frozen=True, slots=True)
class Seal:
    """AES-128-CBC with HMAC-SHA256 (https://github.com/fernet/spec), by a well-kept library."""

    fernet: MultiFernet = field(repr=False)
    first: Fernet = field(repr=False)

    def close(self, content: bytes) -> bytes:
        """Text of [A-Za-z0-9_=-], about a third longer than `content`."""
        return self.fernet.encrypt(content)

    def open(self, sealed: bytes) -> bytes:
        """What was closed with any of the keys.  Raises Sealed."""
        try:
            return self.fernet.decrypt(sealed)
        except InvalidToken:
            raise Sealed("no key opens it") from None

    def renewed(self, sealed: bytes) -> bytes | None:
        """The same under the first key; None: it is.  Raises Sealed."""
        with suppress(InvalidToken):
            self.first.decrypt(sealed)
            return None
        return self.close(self.open(sealed))


def from_environ(environ: Mapping[str, str]) -> Seal:
    """The seal of this host.  Raises ConfigError, without repeating a value, and OSError for a home without a place."""
    file, named = home_of(environ) / KEY_FILE, named_keys(environ)
    return of_keys([*named, *_kept_key(file)] if named else [_own_key(file)])


def named_keys(environ: Mapping[str, str]) -> list[str]:
    """Those that the setting names; [] without one.  Raises ConfigError."""
    setting = environ.get(SETTING)
    keys = [key for word in _words(setting or "") for key in _keys(word, environ)]
    if setting and not keys:
        raise ConfigError("environment", [Problem(None, SETTING, RULE)])
    return keys


def of_keys(keys: list[str]) -> Seal:
    """The first key seals.  Raises ConfigError."""
    try:
        made = [Fernet(key) for key in keys]
        return Seal(MultiFernet(made), made[0])
    except ValueError:
        raise ConfigError("environment", [Problem(None, SETTING, RULE)]) from None


def new_key() -> str:
    """A key that nobody had before."""
    return Fernet.generate_key().decode()


def _keys(word: str, environ: Mapping[str, str]) -> Iterator[str]:
    """A key is itself; a reference may lead to several."""
    if not REFERENCE.fullmatch(word):
        yield word
        return
    secret = resolve(word, environ, Path(), read_file)
    if secret.value is None:
        raise ConfigError("environment", [Problem(None, SETTING, secret.problem or "is missing")])
    yield from _words(secret.value)


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text) if word]


def _kept_key(file: Path) -> list[str]:
    """The key that this host made while the setting named none, if it did."""
    try:
        key = file.read_text("ascii").strip()
        of_keys([key])
    except (OSError, UnicodeError, ConfigError):
        return []
    return [key]


def _own_key(file: Path) -> str:
    """The key of this home, made by whoever comes first; only its owner may read it."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(new_key())
            out.flush()
            os.fsync(out.fileno())
        with suppress(FileExistsError):
            os.link(unfinished, file)  # In one piece, and never over another's.
        unfinished.unlink()
    return file.read_text("ascii").strip()
