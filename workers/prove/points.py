"""Every boundary in one place: each commit, each send, each answer.

The code names a boundary of a worker where it passes it (`desk.at`, and the transport's own).  A request has the same
three for whatever it carries; here they bear the name of the write that they belong to, or `look`.  A commit bears the
name of the function that makes it (`named_commits`).  A hint is given to nobody in a proof, so that each is lost; a
process ends where it would have given one, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from workers.prove.commits import AFTER, BEFORE
from workers.prove.named_commits import PROVED, Unnamed

Work = Literal["opener", "follow_up", "version", "moved", "look", "grant", "fetch", "any"]

TRANSPORT: Final = ("send.before_check", "send.before_first_byte", "answer.received")
LOOK: Final = "look"
UPDATES: Final = ("opportunity.update", "contact.update")


@dataclass(frozen=True, slots=True)
class Point:
    """`passed_by`: the kinds of work that pass it.  `words`: what has happened when it is reached."""

    name: str
    passed_by: tuple[Work, ...]
    words: str


LEADS: Final[tuple[Work, ...]] = ("opener", "version")
DELIVERIES: Final[tuple[Work, ...]] = ("opener", "follow_up", "version", "moved")
KINDS: Final[dict[str, tuple[Work, ...]]] = {
    "contact": LEADS,
    "opportunity": LEADS,
    "task": LEADS,
    "note": ("follow_up", "moved"),
}
WRITES: Final[dict[str, tuple[Work, ...]]] = {
    **KINDS,
    "opportunity.update": ("version", "moved"),
    "contact.update": ("moved",),
}
OF_A_WRITE: Final = {
    "before_commit": "nothing is written anywhere",
    "committed": "the attempt is committed, and nothing has left",
    "answered": "the CRM has answered, or the wait for it is over; nobody has noted it",
    "noted": "the answer is noted, and the delivery has not moved",
}
OF_A_REQUEST: Final = {
    "send.before_check": "the connection stands, and the time to send was not looked at yet",
    "send.before_first_byte": "the time to send was looked at, and the next thing is the first byte",
    "answer.received": "the whole answer was received, and nobody has read it",
}

HINTS: Final[dict[str, str]] = {
    "door.hint": "the sender has its answer, and no worker was told",
    "clock.hint": "the clock has seen that something is due, and no worker was told",
    "desk.hint": "a person has decided, and no worker was told",
}


def _listed() -> Iterator[Point]:
    yield Point("delivery.claimed", DELIVERIES, "a worker has the lease of a delivery, and has done nothing")
    yield Point("delivery.before_arrow", DELIVERIES, "all is done, and the delivery's state does not say so yet")
    for kind, work in KINDS.items():
        yield Point(f"{kind}.seen_first", work, "the look before the first create has told, and is not noted")
        yield Point(f"{kind}.looked", ("look",), "a look at a record in doubt has told, and is not noted")
    for write, work in WRITES.items():
        for name, words in OF_A_WRITE.items():
            yield Point(f"{write}.{name}", work, words)
    for stem, work in {**WRITES, LOOK: (*DELIVERIES, "look")}.items():
        for name, words in OF_A_REQUEST.items():
            yield Point(f"{stem}.{name}", work, words)
    yield Point("grant.leased", ("grant",), "one process has the lease of a token, and has not asked for another")
    yield Point("grant.answered", ("grant",), "the vendor has answered, and the new token is not kept")
    yield Point("fetch.read", ("fetch",), "answers or a file were read from their sender, and are not kept")
    for name, words in HINTS.items():
        yield Point(name, ("any",), words)
    for function, words in PROVED.items():
        yield Point(f"{function}.{BEFORE}", ("any",), f"{words}: done, and not committed")
        yield Point(f"{function}.{AFTER}", ("any",), f"{words}: committed, and nobody knows of it")


POINTS: Final[dict[str, Point]] = {each.name: each for each in _listed()}

# Those of work that speaks to others than a CRM: tests stop there, no scenario of a sandbox CRM passes them.
ELSEWHERE: Final = frozenset(name for name, each in POINTS.items() if set(each.passed_by) <= {"grant", "fetch"})


class Crash(BaseException):
    """The process ends here: nothing of ours catches it, and no code runs afterwards."""


@dataclass(slots=True)
class Trail:
    """The points that were passed, in order, under their full names."""

    passed: list[str] = field(default_factory=list)
    _stem: str = LOOK

    def add(self, boundary: str) -> str:
        """The full name of the boundary that the code has just named."""
        stem, _, last = boundary.rpartition(".")
        name = f"{self._stem}.{boundary}" if boundary in TRANSPORT else boundary
        if last == "committed":
            self._stem = stem
        elif last == "answered":
            self._stem = LOOK
        if name not in POINTS:
            raise Unnamed(name)
        self.passed.append(name)
        return name

    def broken(self) -> None:
        """The process has ended; another begins anew."""
        self._stem = LOOK
