"""What the door hands over, and what it gets back: the values of one acceptance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from intake.config import Source
from intake.identity import Mode
from intake.needs import Place
from intake.sources.base import Reading


@dataclass(frozen=True, slots=True)
class Received:
    """One authentic delivery and what was read in it.

    `dedupe_value` is what the source's `dedupe` setting points at, None: it points at nothing here.
    `read_again` reads the raw body of an earlier receipt with today's reader.  `received_at` None: now, by the
    database's clock; else when it came, if it was kept elsewhere since.  `released`: a person says that it counts.
    `gated`: the names of all sources whose content must be approved, since news may be of another source's event.
    """

    receipt_id: UUID
    mode: Mode
    source: Source
    destination: str
    content_type: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    reading: Reading
    dedupe_value: str | None
    read_again: Callable[[bytes, str, dict[str, str]], Reading]
    received_at: datetime | None = None
    released: bool = False
    gated: frozenset[str] = frozenset()

    @property
    def place(self) -> Place:
        return Place(self.mode, scope_of(self.source), self.destination)


def scope_of(source: Source) -> str:
    """The name under which a source's identities are kept."""
    return source.identity_group or source.renamed_from or source.name


@dataclass(frozen=True, slots=True)
class Accepted:
    """One entry of the answer's `events`."""

    event_id: UUID
    kind: str
    state: str
    duplicate: bool = False
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What became of one delivery.  `replays`: how many of the quarantined are older than identities are kept."""

    events: tuple[Accepted, ...]
    updates: int
    conflicts: int
    quarantined: int
    ignored: int
    replays: int = 0
