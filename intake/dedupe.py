"""What names a delivery where the source says so itself: a header, or a place in the body."""

from __future__ import annotations

from collections.abc import Mapping

from intake import idempotency
from intake.sources.base import Unreadable
from intake.sources.decoding import Json, identifier
from intake.sources.opening import opened
from intake.sources.submission import content_type_of, read_bytes

# `dedupe` settings that point at nothing: the provider's own id, or the answers themselves.
BY_CONTENT = frozenset({"id", "body"})


def value(named_by: str, *, headers: Mapping[str, str], body: bytes) -> str | None:
    """What the source points at: a header (lower case) or a JSON Pointer.  None: at nothing here, or at no text."""
    if named_by in BY_CONTENT:
        return None
    if named_by == idempotency.HEADER:
        return idempotency.key(headers)
    if not named_by.startswith("/"):
        return identifier(headers.get(named_by))
    try:
        found: Json = opened(read_bytes(body, content_type_of(body))).value
    except Unreadable:
        return None
    for token in named_by.split("/")[1:]:
        found = _below(found, token.replace("~1", "/").replace("~0", "~"))
    return identifier(found)


def _below(value: Json, token: str) -> Json:
    """One step of a JSON Pointer (RFC 6901): a member by its name, an element by its number."""
    match value:
        case dict():
            return value.get(token)
        case list() if token.isascii() and token.isdigit() and len(token) < 10 and int(token) < len(value):  # noqa: PLR2004  no list is that long
            return value[int(token)]
        case _:
            return None
