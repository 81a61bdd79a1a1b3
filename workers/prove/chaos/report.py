"""The result of a proof with real processes, for programs and people."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from intake.explain import reason_text
from workers.prove.chaos.verdict import Verdict

WIDTH = 80  # columns
MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Report:
    """`recovery`: seconds from the last fault until nothing moved any more, None: something still did in the end.

    `doubts`: writes of which nobody knew for a while whether they were executed.  `left_out`: faults that this host
    does not allow, and why.  `incidents`: what `intake reconcile --verify` found, by reason; None: it could not be run.
    `refusals`: what senders could not get rid of, and which was never accepted.
    """

    seed: int
    seconds: float
    verdict: Verdict
    faults: Counter[str]
    left_out: Mapping[str, str]
    tries: int
    doubts: int
    recovery: float | None
    incidents: Mapping[str, int] | None
    refusals: tuple[str, ...] = field(default=())

    def document(self) -> dict[str, object]:
        """For --json."""
        verdict = self.verdict
        return {
            "accepted": verdict.accepted,
            "confirmed": verdict.confirmed,
            "open": verdict.open,
            "waits": dict(sorted(verdict.waits.items())),
            "lost": len(verdict.lost),
            "doubled": len(verdict.doubled),
            "faults": dict(sorted(self.faults.items())),
            "left_out": dict(self.left_out),
            "recovery_seconds": None if self.recovery is None else round(self.recovery, 1),
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "requests": self.tries,
            "doubts": self.doubts,
            "reconcile": self.incidents,
            "refused": list(self.refusals),
            "failures": {"lost": list(verdict.lost), "doubled": list(verdict.doubled)},
        }


def text(report: Report) -> Iterator[str]:
    """Line by line."""
    yield ""
    yield f"{report.faults.total()} faults in {report.seconds:.0f} s (seed {report.seed})"
    yield from _wrapped("  ", ", ".join(f"{named(fault)} {count}" for fault, count in sorted(report.faults.items())))
    for fault, why in report.left_out.items():
        yield f"  without {named(fault)}: {why}"
    verdict = report.verdict
    yield ""
    yield from _wrapped("", (
        f"{verdict.accepted} accepted events, told in {report.tries} requests: {verdict.confirmed} confirmed,"
        f" {verdict.open} open and visible, {len(verdict.lost)} lost, {len(verdict.doubled)} doubled"
    ))  # fmt: skip
    yield from (f"  {count} {why}" for why, count in sorted(verdict.waits.items()))
    yield f"{report.doubts} writes were in doubt for a while"
    yield _recovery(report)
    yield from _reconciled(report)
    yield from (f"  not accepted: {each}" for each in report.refusals[:MOST_SHOWN])
    yield from (f"  LOST {each}" for each in verdict.lost[:MOST_SHOWN])
    yield from (f"  DOUBLED {each}" for each in verdict.doubled[:MOST_SHOWN])


def named(fault: str) -> str:
    """As people write it."""
    return fault.replace("_", " ")


def _wrapped(indent: str, words: str) -> list[str]:
    return textwrap.wrap(words, WIDTH, initial_indent=indent, subsequent_indent=indent)


def _recovery(report: Report) -> str:
    if report.recovery is None:
        return "recovery: not ended; what still moves is among the open ones"
    return f"recovery: {report.recovery:.0f} s from the last fault until nothing moved any more"


def _reconciled(report: Report) -> Iterator[str]:
    if report.incidents is None:
        yield "intake reconcile --verify: could not be run"
    elif not report.incidents:
        yield "intake reconcile --verify: clean"
    else:
        yield "intake reconcile --verify:"
        for reason, count in report.incidents.items():
            yield f"  {count} {reason}: {reason_text(reason, 'en')}"
