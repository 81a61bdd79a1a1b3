"""What may leave: the whole of a message, before it has words.  Anything else has no field to stand in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

What = Literal["began", "grew", "ended"]

# Names of sources, accounts and conditions, and references: as the configuration and we ourselves form them.
PLAIN = re.compile(r"[a-z0-9_-]{0,64}", re.ASCII)


def plain(word: str) -> str:
    """A word of this form, "?" for any other."""
    return word if PLAIN.fullmatch(word) else "?"


@dataclass(frozen=True, slots=True)
class Change:
    """One condition that began, grew or ended."""

    what: What
    name: str
    subject: str
    count: int
    since: str  # ISO 8601
    references: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError for what is no word of ours."""
        datetime.fromisoformat(self.since)
        for word in (self.what, self.name, self.subject, *self.references):
            if not PLAIN.fullmatch(word):
                raise ValueError("a word that may not leave")


@dataclass(frozen=True, slots=True)
class Channel:
    """How long it took from the door into the CRM, in seconds, on one channel."""

    kind: str
    count: int
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Digest:
    """A day in numbers.  `waiting`: condition -> how many wait for a person.

    `human_seconds`: what people spent, measured for `measured` of `single` decisions that were made one by one;
    `waited`: how long what they ended had been open, the median in seconds, None: nothing was (intake.alerts.effort).
    """

    received: int
    in_crm: int
    on_their_way: int
    waiting: Mapping[str, int]
    channels: tuple[Channel, ...]
    attempts_per_lead: float
    decisions: int
    human_seconds: float = 0.0
    measured: int = 0
    single: int = 0
    waited: float | None = None

    @property
    def human_minutes_per_lead(self) -> float:
        """By the leads that came that day; all of it where none came."""
        return self.human_seconds / 60 / max(self.received, 1)


@dataclass(frozen=True, slots=True)
class Content:
    """A message: changes, a digest, or (with neither) a test.  `link`: where people open the console."""

    link: str
    changes: tuple[Change, ...] = ()
    digest: Digest | None = None

    def document(self) -> dict[str, object]:
        """As it is stored and sent."""
        return asdict(self)


def read(document: Mapping[str, object]) -> Content:
    """A stored message.  Raises ValueError where something stands in it that may not leave."""
    digest = document.get("digest")
    return Content(
        link=str(document["link"]),
        changes=tuple(_change(row) for row in _rows(document["changes"])),
        digest=_digest(digest) if isinstance(digest, dict) else None,
    )


def _change(row: Mapping[str, object]) -> Change:
    references = row["references"]
    return Change(
        what=_what(row["what"]),
        name=str(row["name"]),
        subject=str(row["subject"]),
        count=int(str(row["count"])),
        since=str(row["since"]),
        references=tuple(str(each) for each in references) if isinstance(references, list) else (),
    )


def _what(word: object) -> What:
    return "began" if word == "began" else "grew" if word == "grew" else "ended"


def _digest(row: Mapping[str, object]) -> Digest:
    waiting = row["waiting"]
    channels = tuple(
        Channel(str(each["kind"]), int(str(each["count"])), float(str(each["p50"])), float(str(each["p95"])))
        for each in _rows(row["channels"])
    )
    return Digest(
        received=int(str(row["received"])),
        in_crm=int(str(row["in_crm"])),
        on_their_way=int(str(row["on_their_way"])),
        waiting={plain(str(name)): int(count) for name, count in waiting.items()} if isinstance(waiting, dict) else {},
        channels=channels,
        attempts_per_lead=float(str(row["attempts_per_lead"])),
        decisions=int(str(row["decisions"])),
        human_seconds=float(str(row.get("human_seconds", 0))),
        measured=int(str(row.get("measured", 0))),
        single=int(str(row.get("single", 0))),
        waited=None if row.get("waited") is None else float(str(row["waited"])),
    )


def _rows(value: object) -> Sequence[Mapping[str, object]]:
    return value if isinstance(value, list) else ()
