"""Passwords: hashed by Argon2id, and few rules, as NIST SP 800-63B-4 section 3.1.1.2 asks (2025-07): length, not signs.

https://pages.nist.gov/800-63-4/sp800-63b.html
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from threading import BoundedSemaphore
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

SHORTEST, LONGEST = 12, 200  # characters
LEAST_SIGNS = 4  # different ones; and a name that is shorter may stand in a password by chance

# No look-alikes: a password is read from a terminal to a colleague.
ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"

# One check takes 64 MiB and a tenth of a second; more than so many at once, in one process, would slow the door down.
AT_ONCE: Final = 2
PATIENCE: Final = 3.0  # seconds

# A hash that fits nobody, so that a name which does not exist takes as long as one that does.
NOBODY: Final = "$argon2id$v=19$m=65536,t=3,p=4$jidpnbY4r74AZPbdA9XEEQ$ANYoS6s6hnaevt9SBUAgJxp37Yi51G0U8KQZnVRux2o"


class TooBusy(Exception):
    """Many log in at once: try again in a moment."""


class WeakPassword(ValueError):
    """The rule that it breaks, as a key: too_short, too_long, like_name."""


@dataclass(frozen=True, slots=True)
class Passwords:
    """Hashes and checks, a few at a time.  `nobody` is a hash by the same parameters that fits nobody."""

    hasher: PasswordHasher = field(default_factory=lambda: PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY))
    nobody: str = NOBODY
    _places: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(AT_ONCE))

    def hash(self, password: str) -> str:
        """As it is stored.  Raises TooBusy."""
        with _Place(self._places):
            return self.hasher.hash(password)

    def fits(self, stored: str | None, password: str) -> bool:
        """Whether it is this one.  `stored` None: nobody has it, which takes as long to find out.  Raises TooBusy."""
        with _Place(self._places):
            try:
                self.hasher.verify(stored or self.nobody, password)
            except (VerificationError, InvalidHashError):
                return False
            return stored is not None


class _Place:
    def __init__(self, places: BoundedSemaphore) -> None:
        self.places = places

    def __enter__(self) -> None:
        if not self.places.acquire(timeout=PATIENCE):
            raise TooBusy

    def __exit__(self, *_: object) -> None:
        self.places.release()


def must_do(password: str, name: str) -> None:
    """Raises WeakPassword."""
    if len(password) < SHORTEST:
        raise WeakPassword("too_short")
    if len(password) > LONGEST:
        raise WeakPassword("too_long")
    if len(set(password)) < LEAST_SIGNS or (len(name) >= LEAST_SIGNS and name in password.lower()):
        raise WeakPassword("like_name")


def invent() -> str:
    """A password of 99 bits that can be read to somebody."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(5)) for _ in range(4))
