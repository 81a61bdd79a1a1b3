"""One run on a stage: workers that take one piece of work after another, and what befalls them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from crm_clients.base import Account, Request
from crm_clients.sandbox.faults import Rule
from crm_clients.transport import Sent, Transport
from crm_clients.watchdog import boot_clock
from workers import clock, drain, reconcile
from workers.desk import Desk
from workers.prove.points import Crash, Trail
from workers.prove.stage import LAG, STEP, Stage

SOON = 0.4  # seconds that a worker waits for an answer of which the run wants that it does not come in time
AN_HOUR = 3600.0
MOST_WORK = 300  # pieces of work between two moments; more would be a loop
MOST_STEPS = 16
STEPS_OF_A_DOUBT = 9  # after them, what is in doubt for good is known to be
AFTERWARDS = 2  # steps after the end, in which what was written again is looked at
LOOKED_AT = "SELECT 1 FROM records WHERE look_at IS NOT NULL LIMIT 1"


class Endless(RuntimeError):
    """The work does not end."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What happens when a point is passed the `nth` time."""

    point: str
    does: Callable[[Scene], None] = field(repr=False)
    nth: int = 1


class _Way(Transport):
    """The transport, for a worker that may be told to give up soon."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(at=scene.at, clock=scene.clock)
        self._scene = scene

    def write(
        self,
        account: Account,
        request: Request,
        *,
        send_by: float,
        deadline: float,
        on_first_byte: Callable[[], None] | None = None,
    ) -> Sent:
        until = min(deadline, self._scene.clock() + SOON) if self._scene.take_haste() else deadline
        return super().write(account, request, send_by=send_by, deadline=until, on_first_byte=on_first_byte)


@dataclass(slots=True)
class Scene:
    """`plan`: what still happens, in this order.  `other`: the desk of a worker whom nothing befalls."""

    stage: Stage
    plan: list[Planned]
    rng: random.Random
    change: Callable[[Desk], Desk] = lambda desk: desk
    trail: Trail = field(default_factory=Trail)
    fired: int = 0
    _desk: Desk | None = None
    _other: Desk | None = None
    _since: int = 0
    _crash_next: bool = False
    _hasty: bool = False
    _slept: float = 0.0

    # --- what the worker's tools ask ---

    def at(self, boundary: str) -> None:
        """A point is passed."""
        name = self.trail.add(boundary)
        if self._crash_next:
            self.crash()
        if self.plan and self.plan[0].point == name and self._times(name) == self.plan[0].nth:
            planned = self.plan.pop(0)
            self.fired += 1
            self._since = len(self.trail.passed)
            planned.does(self)

    def _times(self, name: str) -> int:
        """How often since the last fault."""
        return self.trail.passed[self._since :].count(name)

    def clock(self) -> float:
        """The worker's own."""
        return boot_clock() + self._slept

    def take_haste(self) -> bool:
        """Whether the call that begins is given up soon."""
        hasty, self._hasty = self._hasty, False
        return hasty

    # --- what a fault does ---

    def crash(self) -> None:
        self._crash_next = False
        raise Crash

    def crash_at_next(self) -> None:
        self._crash_next = True

    def meanwhile(self, *, settled: bool) -> None:
        assert self._other is not None  # noqa: S101  # a fault befalls who works
        if settled:
            self._settle(self._other)
        else:
            self.stage.pass_time(STEP)
            self._work(self._other)

    def sleep_long(self) -> None:
        self._slept += AN_HOUR

    def meet(self, *rules: Rule) -> None:
        self.stage.crm.sandbox.rules.replace(list(rules))

    def give_up_soon(self) -> None:
        self._hasty = True

    def hold_next(self) -> None:
        self.stage.hold_next()

    def search_lags(self) -> None:
        sandbox = self.stage.crm.sandbox
        sandbox.profile = replace(sandbox.profile, lag=max(LAG, sandbox.profile.lag))

    # --- working ---

    @contextmanager
    def open(self) -> Iterator[None]:
        """With workers."""
        with _Way(self) as way, Transport() as other:
            ours = self.stage.desk(way, jitter=self.rng.random, at=self.at, clock=self.clock)
            self._desk = self.change(replace(ours, pool=self.stage.watched))
            self._other = self.change(self.stage.desk(other, jitter=self.rng.random))
            with self.stage.ear.listening(self.at):
                yield

    def work(self) -> None:
        """Do all that is due now."""
        assert self._desk is not None  # noqa: S101  # `open` made it
        self._work(self._desk)

    def settle(self) -> None:
        """Work and let time pass until nothing changes by itself any more."""
        assert self._desk is not None  # noqa: S101  # `open` made it
        self._settle(self._desk)

    def _settle(self, desk: Desk) -> None:
        self._until_nothing_waits(desk, STEPS_OF_A_DOUBT)
        for _ in range(AFTERWARDS if self.stage.rows(LOOKED_AT) else 0):
            self.stage.pass_time(STEP)
            self._work(desk)
        # The last look may have ended a doubt, behind which others waited.
        self._until_nothing_waits(desk, 0)

    def _until_nothing_waits(self, desk: Desk, steps_of_a_doubt: int) -> None:
        for step in range(MOST_STEPS):
            self._work(desk)
            waiting, doubtful = self._open_states()
            if not waiting and (not doubtful or step >= steps_of_a_doubt):
                break
            self.stage.pass_time(STEP)

    def _open_states(self) -> tuple[bool, bool]:
        """Whether anything is still on its way, and whether anything is in doubt."""
        states = {str(row["state"]) for row in self.stage.rows("SELECT DISTINCT state FROM deliveries")}
        doubtful = "uncertain" in states
        # What waits behind a doubt waits as long as the doubt.
        return "delivering" in states or bool(states & {"received", "waiting"} and not doubtful), doubtful

    def _work(self, desk: Desk) -> None:
        for _ in range(MOST_WORK):
            try:
                if clock.tick(desk.pool, name="prove").due:
                    self.stage.ear.hear("clock.hint")
                if not drain.one(desk):
                    return
            except Crash:
                self.trail.broken()
        raise Endless(f"more than {MOST_WORK} pieces of work without a pause")

    def reconcile(self) -> None:
        """What the nightly reconciliation does, with each record read back."""
        assert self._other is not None  # noqa: S101  # `open` made it
        step = reconcile.begin(self._other, "prove", since=None, verified=True)
        while not step.place.over:
            step = reconcile.advance(self._other, step.place, since=None)
        reconcile.finish(self._other, step.place, since=None, verified=True)
