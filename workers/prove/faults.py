"""What happens at a point: to the worker that reaches it, or to the request that follows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from crm_clients.sandbox.faults import Asked, Rule

RETRY_AFTER: Final = 5  # seconds


class Worker(Protocol):
    """What a fault can do.  `crash` does not return."""

    def crash(self) -> None: ...

    def crash_at_next(self) -> None:
        """Reach the next point, and end there."""

    def meanwhile(self, *, settled: bool) -> None:
        """Stand still until the lease is over and another worker took the work; `settled`: until all is done."""

    def sleep_long(self) -> None:
        """By its own clock an hour has passed when it goes on."""

    def meet(self, *rules: Rule) -> None:
        """The CRM's next requests meet these."""

    def give_up_soon(self) -> None:
        """The worker waits for the next answer for a moment only."""

    def hold_next(self) -> None:
        """The CRM holds the next request back until its limit."""

    def search_lags(self) -> None:
        """From now on the CRM's search shows a record as late as it may."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`code` heads a column.  `of`: it befalls the worker (at every point), or a request (where one follows).

    `lies`: the CRM says what is not so, which only a reconciliation can find.
    """

    name: str
    code: str
    words: str
    of: Literal["worker", "write", "any request"]
    does: Callable[[Worker], None] = field(repr=False)
    lies: bool = False


@dataclass(frozen=True, slots=True)
class ForLeads(Rule):
    """A rule that no sentinel meets: the positive control tells the truth."""

    def meets(self, asked: Asked) -> bool:
        """Whether the request is about a lead's record."""
        return Rule.meets(self, asked) and not (asked.reference or "").startswith("intake-sentinel")


def _lost_lease(worker: Worker) -> None:
    worker.meanwhile(settled=False)


def _paused(worker: Worker) -> None:
    worker.meanwhile(settled=True)
    worker.sleep_long()


def _met(*rules: Rule) -> Callable[[Worker], None]:
    return lambda worker: worker.meet(*rules)


def _slow(worker: Worker) -> None:
    worker.meet(Rule("drip"))
    worker.give_up_soon()


def _late(worker: Worker) -> None:
    worker.hold_next()
    worker.meet(Rule("late"))
    worker.give_up_soon()


def _lagging(worker: Worker) -> None:
    worker.search_lags()
    worker.meet(Rule("lost_answer"))


LOST: Final = Rule("lost_answer")
FALSE: Final = ForLeads("false_absent", match={"what": "find"})

FAULTS: Final[Mapping[str, Fault]] = {
    each.name: each
    for each in (
        Fault("crash_before", "CB", "the process ends there", "worker", lambda worker: worker.crash()),
        Fault("crash_after", "CA", "it ends at the next point", "worker", lambda worker: worker.crash_at_next()),
        Fault("lost_lease", "LL", "its lease ends, another takes the work, and it goes on", "worker", _lost_lease),
        Fault("paused", "PA", "it stands still until others have done all, and wakes", "worker", _paused),
        Fault("effect_without_answer", "EA", "executed, and the connection breaks", "any request", _met(LOST)),
        Fault("no_effect_no_answer", "NN", "not executed, and the connection breaks", "any request",
              _met(replace(LOST, effect=False))),
        Fault("answer_without_effect", "AE", "answered as done, and nothing was done", "write",
              _met(Rule("answer_without_effect")), lies=True),
        Fault("duplicate_answer", "DA", "the answer comes twice", "any request", _met(Rule("duplicate_answer"))),
        Fault("rate_limited", "429", "429 with Retry-After", "any request",
              _met(Rule("429", retry_after=RETRY_AFTER))),
        Fault("error_with_effect", "5+", "500, and it was executed", "write", _met(Rule("500_with_effect"))),
        Fault("error_without_effect", "5-", "500, and it was not executed", "any request",
              _met(Rule("500_without_effect"))),
        Fault("unavailable", "503", "503, and it was not executed", "any request", _met(Rule("503"))),
        Fault("slow_answer", "SL", "executed, and the answer comes too late", "write", _slow),
        Fault("late_execution", "LX", "executed after the worker gave up, within the limit", "write", _late),
        Fault("lagging_search", "LS", "executed, no answer, and the search shows it late", "write", _lagging),
        Fault("false_absent", "FA", "executed, no answer, and one look sees nothing there", "write",
              _met(LOST, FALSE)),
    )
}  # fmt: skip
