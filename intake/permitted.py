"""What a person may do with an event as it stands: the rules that the commands, the console and the API ask alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from intake.deliveries import FINAL
from intake.explain_texts import Action
from intake.ops import EventRow, RecordRow

ACTIONS: tuple[Action, ...] = (
    "look",
    "settle applied",
    "settle not-applied",
    "correct",
    "revive",
    "approve",
    "decline",
    "cancel",
)


@dataclass(frozen=True, slots=True)
class View:
    """An event with the records of its newest delivery."""

    event: EventRow
    records: Sequence[RecordRow]

    @property
    def in_doubt(self) -> list[RecordRow]:
        """Those of which nobody knows whether their last write was executed."""
        return [each for each in self.records if each.in_doubt]


def refusal(action: Action, view: View) -> str | None:
    """Why this action is refused now, as a key of REFUSALS; None: it is allowed."""
    state = view.event.state
    match action:
        case "look":
            refused = None if view.in_doubt else "nothing_in_doubt"
        case "settle applied":
            refused = _for_person(state) or (None if _unknown(view) else "everything_known")
        case "settle not-applied":
            refused = _for_person(state) or (None if view.in_doubt else "nothing_in_doubt")
        case "correct":
            refused = None if state in {"review", "awaiting_approval"} else "only_in_review"
        case "revive":
            refused = None if state == "review" else "only_in_review"
        case "approve" | "decline":
            refused = None if state == "awaiting_approval" else "only_awaiting"
        case "cancel":
            refused = "in_hand" if state == "delivering" else "not_open" if state in FINAL else None
        case _:
            assert_never(action)
    return refused


def _for_person(state: str) -> str | None:
    if state == "delivering":
        return "in_hand"
    return None if state in {"uncertain", "review"} else "only_for_a_person"


def _unknown(view: View) -> bool:
    return any(each.state in {"none", "asked", "in_doubt"} for each in view.records)
