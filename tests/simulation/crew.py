"""Several workers in one thread: at a boundary of one another works, and at a boundary of that one a third.

Each has a clock of its own, which stands while others work; what passes meanwhile is told, so that every order of
boundaries can be made, and made again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from crm_clients.base import Account, Request
from crm_clients.transport import Sent, Transport
from crm_clients.watchdog import boot_clock
from tests.lab import Lab
from tests.simulation.stops import Crash
from tests.simulation.world import IMPATIENCE
from workers import clock, drain
from workers.desk import Desk

NO_TIME = timedelta(0)
# How far the clocks of the three lie apart, in seconds: hosts were not started at one moment.
APART = (0.0, 7_000.0, 2_000_000.0)
# A process that stands still here for longer than the lease is an assumption of docs/guarantee.md.
BETWEEN_CHECK_AND_BYTE = "send.before_first_byte"


@dataclass(frozen=True, slots=True)
class Happens:
    """What happens at the `place`-th boundary from here on.  `span` None: the process ends.

    Else it stands still while `span` passes, and another worker does so many pieces of work.
    """

    place: int
    span: timedelta | None = None
    pieces: int = 1


@dataclass(slots=True)
class Member:
    """One worker: `late` is how long it has stood still, and `since` when it began to, by the host's clock."""

    crew: Crew
    number: int
    late: float = 0.0
    since: float | None = None

    def clock(self) -> float:
        """Seconds, as a worker's own clock tells them."""
        now = boot_clock() if self.since is None else self.since
        return now - self.late + self.crew.passed + APART[self.number]

    @contextmanager
    def still(self) -> Iterator[None]:
        """In the block others work."""
        self.since = boot_clock()
        yield
        self.late += boot_clock() - self.since
        self.since = None


class Way(Transport):
    """Gives up a call soon, by its worker's clock."""

    def __init__(self, member: Member) -> None:
        super().__init__(at=partial(member.crew.at, member), clock=member.clock)
        self.member = member

    def write(self, account: Account, request: Request, *, send_by: float, deadline: float, **rest: object) -> Sent:
        """As any transport does."""
        return super().write(account, request, send_by=send_by, deadline=self._soon(deadline), **rest)  # type: ignore[arg-type]

    def look(self, account: Account, request: Request, *, deadline: float) -> Sent:
        """As any transport does."""
        return super().look(account, request, deadline=self._soon(deadline))

    def _soon(self, deadline: float) -> float:
        return min(deadline, self.member.clock() + IMPATIENCE)


@dataclass(slots=True)
class Crew:
    """`plan`: what happens at boundaries, in this order.  `passed`: seconds that passed since the beginning.

    `edited`: by the id of an opportunity in the CRM, what advisers have changed there.
    """

    lab: Lab
    plan: list[Happens] = field(default_factory=list)
    passed: float = 0.0
    count: int = 0
    members: list[Member] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    working: list[Member] = field(default_factory=list)
    happened: Counter[str] = field(default_factory=Counter)
    edited: dict[str, dict[str, object]] = field(default_factory=dict)

    def __enter__(self) -> Crew:
        self.members = [Member(self, number) for number in range(len(APART))]
        self.ways = [Way(each) for each in self.members]
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.ways:
            each.close()

    def let_pass(self, span: timedelta) -> None:
        """Time, for all of them and for the database; what the CRM holds back it has done by then."""
        if span:
            self.lab.dials.release_late()
            self.lab.pass_time(span)
            self.passed += span.total_seconds()

    def work(self) -> bool:
        """One tick, and one piece of work by whoever is free.  False: nothing was due."""
        member = self.members[len(self.working)]
        self.working.append(member)
        try:
            clock.tick(self.lab.pool, name="crew")
            return drain.one(self._desk(member))
        except Crash:
            return True
        finally:
            self.working.remove(member)

    def _desk(self, member: Member) -> Desk:
        return self.lab.other_desk(
            transport=self.ways[member.number],
            at=partial(self.at, member),
            clock=member.clock,
            users={},
            tokens={},
        )

    def at(self, member: Member, boundary: str) -> None:
        """One of them passes a boundary."""
        self.count += 1
        if not self.plan or self.count <= self.plan[0].place:
            return
        happens, self.count = self.plan.pop(0), 0
        if happens.span is None:
            self.happened["crashes"] += 1
            raise Crash(boundary)
        if len(self.working) < len(self.members):
            self.happened[f"{len(self.working) + 1} at once"] += 1
            with member.still():
                self.let_pass(NO_TIME if boundary == BETWEEN_CHECK_AND_BYTE else happens.span)
                for _ in range(happens.pieces):
                    self.work()
