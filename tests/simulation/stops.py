"""Ending a worker at a boundary, as a crash would, and letting the others go on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from crm_clients.transport import Transport
from intake import deliveries
from workers import clock
from workers.deliver import deliver
from workers.look import look_due

if TYPE_CHECKING:
    from collections.abc import Iterator

    from intake.deliveries import Claim
    from tests.lab import Lab
    from workers.desk import Desk

# Longer than the lease of the lab's workers, and than limit and lag of its CRM.
STEP = timedelta(seconds=31)


class Crash(BaseException):
    """The process ends here: nothing of ours catches it, and no code runs afterwards."""


@dataclass(slots=True)
class Stops:
    """Is told every boundary, of the worker and of the transport, and crashes at the next one that is planned.

    A plan is a list of places; a place is a name, or the how-manieth boundary of a claim.  `passed` is the trail of
    the claim under way; each crash uses up one place.
    """

    plan: list[str | int] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)

    def begin(self, plan: list[str | int]) -> None:
        self.plan, self.passed = plan, []

    def at(self, boundary: str) -> None:
        self.passed.append(boundary)
        if self.plan and self.plan[0] in {boundary, len(self.passed) - 1}:
            self.plan.pop(0)
            raise Crash(boundary)


@dataclass(frozen=True, slots=True)
class Stopping:
    """A worker of the lab that ends where it is told to."""

    lab: Lab
    desk: Desk
    stops: Stops

    def trail(self) -> list[str]:
        """Deliver what is due next, without a crash; returns the boundaries that were passed, in order."""
        self.stops.begin([])
        held = self._claim()
        assert held is not None
        self._deliver(held, [])
        return list(self.stops.passed)

    def run(
        self, plans: Mapping[UUID, list[str | int]], *, looks: list[str | int] | None = None, rounds: int = 16
    ) -> None:
        """Work and let time pass until all is settled.

        `plans`: where each event's claims crash, one after another; a place that was a crash is taken out of it.
        `looks`: where the clock's own looks crash, likewise.
        """
        for _ in range(rounds):
            while self._step(plans, looks or []):
                pass
            self.lab.pass_time(STEP)

    def _step(self, plans: Mapping[UUID, list[str | int]], look_plan: list[str | int]) -> bool:
        clock.tick(self.lab.pool, name="stopping")
        held = self._claim()
        if held is not None:
            self._deliver(held, plans.get(held.event_id, []))
            return True
        self.stops.begin(look_plan)
        try:
            return look_due(self.desk)
        except Crash:
            return True

    def _claim(self) -> Claim | None:
        with self.lab.pool.connection() as conn:
            return deliveries.claim(conn, destinations=self.desk.destinations, lease=self.desk.patience.lease)

    def _deliver(self, held: Claim, plan: list[str | int]) -> None:
        self.stops.begin(plan)
        self.desk.users.clear()  # A process that ended remembers nothing, so that every trail has the same length.
        try:
            self.stops.at("delivery.claimed")
            deliver(self.desk, held)
        except Crash:
            return


@contextmanager
def stopping(lab: Lab) -> Iterator[Stopping]:
    """A worker whose boundaries, also those of its transport, may be its end."""
    stops = Stops()
    with Transport(at=stops.at) as transport:
        yield Stopping(lab, lab.other_desk(transport=transport, at=stops.at), stops)
