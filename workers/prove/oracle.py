"""What the CRM's own ledger says of a run, against what the door accepted.

Of the pipeline nothing is believed but that it shows what is open; what was made, and how often, the CRM tells.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from workers.prove.scenarios import Accepted, Sender
from workers.prove.stage import Json, Stage

OPEN_ITEMS = "SELECT kind, event_id, record_id FROM items WHERE closed_at IS NULL"
STATES = """
    SELECT DISTINCT ON (d.event_id) d.event_id, d.state,
           ARRAY[d.contact_record, d.opportunity_record, d.task_record, d.note_record] AS records
      FROM deliveries d ORDER BY d.event_id, d.generation DESC
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one run.  `uncertain`: how many events wait for a person, or for a look, where everybody sees them.

    `lost` and `doubled` say what, in words without a person's data.
    """

    confirmed: int
    uncertain: int
    lost: tuple[str, ...]
    doubled: tuple[str, ...]

    @property
    def held(self) -> bool:
        """Whether the guarantee did."""
        return not self.lost and not self.doubled


@dataclass(frozen=True, slots=True)
class Seen:
    """`made`: the ledger's entries of what was created.  `alive`: the records that live now."""

    made: Sequence[Json]
    alive: Sequence[Json]
    states: Mapping[UUID, str]
    visible: frozenset[UUID]
    conflicts: int

    def carrying(self, token: str) -> list[Json]:
        """The opportunities and notes in which a word stands."""
        return [each for each in self.alive if each["kind"] in {"opportunity", "note"} and token in str(each["data"])]

    def below(self, opportunity: Json, kind: str) -> list[Json]:
        """The tasks or notes of an opportunity."""
        return [each for each in self.alive if each["kind"] == kind and each["parent_id"] == opportunity["id"]]


def judge(stage: Stage, sender: Sender, opportunities: int) -> Verdict:
    """`opportunities`: how many must come of the scenario."""
    seen = _see(stage)
    lost = [*_lost(seen, sender.accepted), *_lost_conflicts(seen, sender)]
    doubled = [*_doubled(seen, opportunities), *_told_twice(seen, sender.accepted)]
    uncertain = [each for each in sender.accepted if _is_open(seen, each)]
    confirmed = sum(not _is_open(seen, each) and not _missing(seen, each) for each in sender.accepted)
    return Verdict(confirmed, len(uncertain), tuple(lost), tuple(doubled))


def _see(stage: Stage) -> Seen:
    rows = stage.rows(STATES)
    items = stage.rows(OPEN_ITEMS)
    # A conflict is about what came later under the same id: it says nothing of the event itself.
    shown = {each["event_id"] for each in items if each["kind"] != "conflict"} - {None}
    accused = {each["record_id"] for each in items} - {None}
    visible = {each["event_id"] for each in rows if each["event_id"] in shown or accused & set(_ids(each["records"]))}
    return Seen(
        made=stage.made(),
        alive=stage.records(),
        states={UUID(str(each["event_id"])): str(each["state"]) for each in rows},
        visible=frozenset(UUID(str(each)) for each in visible),
        conflicts=sum(each["kind"] == "conflict" for each in items),
    )


def _ids(value: object) -> list[object]:
    return [each for each in value if each is not None] if isinstance(value, list) else []


# --- lost -------------------------------------------------------------------------------------------------------------


def _lost(seen: Seen, accepted: Sequence[Accepted]) -> Iterator[str]:
    for number, each in enumerate(accepted, 1):
        missing = _missing(seen, each)
        # What is not done must say so where somebody looks.
        if missing and not _is_open(seen, each):
            yield f"{each.role} {number} is {seen.states.get(each.event_id, 'unknown')}: {missing}"


def _missing(seen: Seen, event: Accepted) -> str | None:
    """What should stand in the CRM for this event, and does not."""
    carrying = seen.carrying(event.token)
    if not carrying and not event.replaced:
        return "what it says stands nowhere in the CRM"
    if event.role == "follow_up" or event.replaced:
        return None
    opportunities = [each for each in carrying if each["kind"] == "opportunity"]
    if not opportunities:
        return "it has no opportunity"
    # Where there are two of them, that is another finding than a loss.
    opportunity = max(opportunities, key=lambda each: len(seen.below(each, "task")))
    if not seen.below(opportunity, "task"):
        return "its opportunity has no task"
    if not any(each["kind"] == "contact" and each["id"] == opportunity["parent_id"] for each in seen.alive):
        return "its opportunity has no contact"
    amount = json.loads(str(opportunity["data"])).get("amount")
    return None if event.amount in {None, amount} else "its opportunity has another amount"


def _is_open(seen: Seen, event: Accepted) -> bool:
    """What waits its turn behind a doubt is seen by that doubt."""
    if event.event_id in seen.visible:
        return True
    return seen.states.get(event.event_id) in {"received", "waiting"} and bool(seen.visible)


def _lost_conflicts(seen: Seen, sender: Sender) -> Iterator[str]:
    if seen.conflicts < sender.conflicts:
        yield "a conflict is no open item"


# --- doubled ----------------------------------------------------------------------------------------------------------


def _doubled(seen: Seen, opportunities: int) -> Iterator[str]:
    """By the ledger, whatever became of the records since: two creates under one reference, or too many of a kind."""
    times = Counter((each["kind"], each["reference"]) for each in seen.made)
    for (kind, _), count in times.items():
        if count > 1:
            yield f"{count} of one {kind}"
    kinds = Counter(str(kind) for kind, _ in times)
    for kind, most in (("contact", 1), ("opportunity", opportunities), ("task", opportunities)):
        if kinds[kind] > most:
            yield f"{kinds[kind]} of {most} {kind}"


def _told_twice(seen: Seen, accepted: Sequence[Accepted]) -> Iterator[str]:
    for number, each in enumerate(accepted, 1):
        count = len(seen.carrying(each.token))
        if count > 1:
            yield f"what {each.role} {number} says stands in {count} records"
