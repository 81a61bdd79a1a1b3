"""`Idempotency-Key`, for sources whose programs send one: the same key and content is answered as the first time.

Source: draft-ietf-httpapi-idempotency-key-header-07 (15 Oct 2025), sections 2.1, 2.6 and 2.7.  A second request while
the first is under way waits for it, as any repeated delivery does, and is then a repetition like the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from intake.received import Acceptance, Accepted

HEADER = "idempotency-key"
REPLAYED = {"Idempotent-Replayed": "true"}

Use = Literal["first", "replayed", "reused"]


def key(headers: Mapping[str, str]) -> str | None:
    """The key, a quoted string by the draft and a bare one from most programs; None: missing or empty."""
    return headers.get(HEADER, "").strip().strip('"') or None


def use_of(acceptance: Acceptance) -> Use:
    """Whether this key came for the first time, again with the same content, or again with other content."""
    if any(each.conflict for each in acceptance.events):
        return "reused"
    repeated = acceptance.events and all(each.duplicate for each in acceptance.events)
    return "replayed" if repeated else "first"


def as_at_first(acceptance: Acceptance, state: str) -> Acceptance:
    """What the first request was answered with; `state` is the one that its events began in."""
    first = tuple(Accepted(each.event_id, each.kind, state) for each in acceptance.events)
    return replace(acceptance, events=first)
