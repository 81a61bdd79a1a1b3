"""The values that a scheme works on, and what every scheme needs: bytes, a clock window, a safe comparison."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

# Standard Webhooks and Webflow both say five minutes, to either side.
WINDOW_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Presented:
    """A delivery that claims to be authentic.  Header names are lower-case; `now` is our clock, aware."""

    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    url: str = field(repr=False)
    now: datetime

    def header(self, *names: str) -> bytes:
        """The first of these headers that is there, b"" if none is."""
        return next((as_bytes(self.headers[name]) for name in names if name in self.headers), b"")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A delivery that is to be made authentic, as its provider would."""

    body: bytes = field(repr=False)
    url: str
    now: datetime
    delivery_id: str


class Scheme(Protocol):
    """One way to prove that a delivery comes from who holds the secret.  Neither method raises anything."""

    def proves(self, shown: Presented, secret: str) -> bool: ...

    def headers(self, out: Outgoing, secret: str) -> Mapping[str, str]: ...


def as_bytes(text: str) -> bytes:
    """Never raises: what is no text for UTF-8 becomes something that no signature equals."""
    return text.encode("utf-8", "backslashreplace")


def mac(secret: bytes, text: bytes, algorithm: str = "sha256") -> bytes:
    return hmac.new(secret, text, getattr(hashlib, algorithm)).digest()


def same(given: bytes, wanted: bytes) -> bool:
    """Equal and not empty, in constant time.  On bytes, because `compare_digest` raises for text that is not ASCII."""
    return bool(wanted) and hmac.compare_digest(given, wanted)


def fresh(seconds: float, now: datetime) -> bool:
    return abs(now.timestamp() - seconds) <= WINDOW_SECONDS


def unix_time(stamp: bytes) -> int | None:
    """A moment in whole seconds or milliseconds; None for anything else, however long."""
    return int(stamp) if re.fullmatch(rb"[0-9]{1,15}", stamp) else None
