"""What the evidence means: accepted is confirmed or open, and the CRM holds each thing once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from intake.deliveries import FINAL
from workers.prove.chaos.evidence import Evidence, Standing
from workers.prove.chaos.senders import Accepted

CONFIRMED, SUPERSEDED = "confirmed", "superseded"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`accepted`, `confirmed` and `open` are events; the others say what, in words without anything that was sent.

    `waits`: how many of the open ones, by state and reason.
    """

    accepted: int
    confirmed: int
    open: int
    lost: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    waits: Counter[str] = field(default_factory=Counter)

    @property
    def held(self) -> bool:
        """Whether the guarantee did."""
        return not self.lost and not self.doubled


def judge(accepted: Sequence[Accepted], evidence: Evidence) -> Verdict:
    """What the senders were told, against what stands in the CRM."""
    court = _Court(evidence, accepted)
    missing = {each.event_id: court.missing(each) for each in accepted if not court.is_open(each)}
    lost = [f"event {event}: {why}" for event, why in missing.items() if why is not None]
    confirmed = sum(why is None for why in missing.values())
    shared = [each for each, count in Counter(each.event_id for each in accepted).items() if count > 1]
    lost += [f"event {each} was told to the senders of two" for each in shared]
    return Verdict(
        accepted=len(accepted),
        confirmed=confirmed,
        open=sum(court.is_open(each) for each in accepted),
        waits=Counter(court.why(each) for each in accepted if court.is_open(each)),
        lost=tuple(lost),
        doubled=tuple(court.doubled()),
    )


class _Court:
    """The evidence, in the order in which it is asked."""

    def __init__(self, evidence: Evidence, accepted: Sequence[Accepted]) -> None:
        self.evidence = evidence
        self.telling = evidence.telling()
        self.below = evidence.below()
        self.persons: Mapping[str, list[Standing]] = defaultdict(list)
        for each in evidence.alive:
            if each.kind == "contact" and each.name is not None:
                self.persons[each.name].append(each)
        self.versions: Mapping[str, list[Accepted]] = defaultdict(list)
        for version in accepted:
            self.versions[version.saying.person].append(version)

    # --- lost ---

    def is_open(self, event: Accepted) -> bool:
        """What is not final is on the operators' list of what is pending."""
        return self.evidence.states.get(event.event_id, CONFIRMED) not in FINAL

    def why(self, event: Accepted) -> str:
        """Where an open event stands, and the reason."""
        return f"{self.evidence.states[event.event_id]} {self.evidence.reasons.get(event.event_id, '')}".strip()

    def missing(self, event: Accepted) -> str | None:
        """What should stand in the CRM for this event, and does not."""
        state = self.evidence.states.get(event.event_id)
        replaced = self._is_replaced(event)
        if state not in {CONFIRMED, SUPERSEDED}:
            return f"it was accepted, and is {state or 'unknown to the database'}"
        if state == SUPERSEDED and not replaced:
            return "it is superseded by nothing"
        if not replaced and event.saying.words not in self.telling:
            return "what it says stands nowhere in the CRM"
        opportunities = list(self._opportunities(event.saying.person))
        if not opportunities:
            return "there is no opportunity of its person"
        if not any(self._under(each, "task") for each in opportunities) and not self._somebody_waits(event):
            return "its opportunity has no task"
        return self._wrong_amount(event, opportunities)

    def _is_replaced(self, event: Accepted) -> bool:
        """Whether a newer version of the same quote took its place, or may have."""
        newer = (each for each in self.versions[event.saying.person] if each.saying.version > event.saying.version)
        return any(self.is_open(each) or self.evidence.states.get(each.event_id) == CONFIRMED for each in newer)

    def _somebody_waits(self, event: Accepted) -> bool:
        """Whether another of its person is open: a task is made by the opener, which may wait after its opportunity."""
        return any(self.is_open(each) for each in self.versions[event.saying.person])

    def _wrong_amount(self, event: Accepted, opportunities: Sequence[Standing]) -> str | None:
        amount = event.saying.amount
        if amount is None or self._is_replaced(event) or any(each.amount == amount for each in opportunities):
            return None
        return "its opportunity has another amount"

    def _opportunities(self, person: str) -> Iterator[Standing]:
        for contact in self.persons.get(person, ()):
            yield from self._under(contact, "opportunity")

    def _under(self, parent: Standing, kind: str) -> list[Standing]:
        return [each for each in self.below.get(parent.crm_id, ()) if each.kind == kind]

    # --- doubled ---

    def doubled(self) -> Iterator[str]:
        """By the ledger, whatever became of the records since, and by what lives: each person has one of each kind."""
        for (kind, reference), count in self.evidence.made.items():
            if count > 1:
                yield f"{count} creates of {kind} {reference}"
        for number, (person, contacts) in enumerate(self.persons.items(), 1):
            opportunities = list(self._opportunities(person))
            tasks = [task for each in opportunities for task in self._under(each, "task")]
            for kind, found in (("contacts", contacts), ("opportunities", opportunities), ("tasks", tasks)):
                if len(found) > 1:
                    yield f"{len(found)} {kind} of person {number}: {', '.join(each.crm_id for each in found)}"
        for records in self.telling.values():
            if len(records) > 1:
                yield f"what one event says stands in {', '.join(each.crm_id for each in records)}"
