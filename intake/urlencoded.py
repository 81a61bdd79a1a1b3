"""Form bodies as bytes: what `urllib.parse` would guess about charsets is left to the caller.

A signature covers the sender's bytes and a visitor's browser may have used latin-1, so names and values stay bytes.
"""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

# The longest form of a tool that we read has some hundred fields; more is an attack on memory.
MAX_FIELDS = 1000


class TooManyFields(ValueError):
    """More than MAX_FIELDS pairs."""


def pairs(body: bytes) -> tuple[tuple[bytes, bytes], ...]:
    """The decoded (name, value) pairs in their order, empty values kept.  Raises TooManyFields."""
    parts = [part for part in body.split(b"&", MAX_FIELDS) if part]
    if len(parts) > MAX_FIELDS:
        raise TooManyFields
    return tuple(_pair(part) for part in parts)


def _pair(part: bytes) -> tuple[bytes, bytes]:
    name, _, value = part.replace(b"+", b" ").partition(b"=")
    return unquote_to_bytes(name), unquote_to_bytes(value)
