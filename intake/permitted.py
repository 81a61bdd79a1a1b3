"""What a person may do with an event as it stands: the rules that the commands, the console and the API ask alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, assert_never

from intake.deliveries import FINAL
from intake.explain_texts import Action
from intake.ops import EventRow
from intake.trail import RecordRow

ACTIONS: tuple[Action, ...] = (
    "look",
    "settle applied",
    "settle not-applied",
    "settle contact",
    "settle note",
    "settle new",
    "correct",
    "revive",
    "approve",
    "decline",
    "cancel",
    "redeliver",
    "reissue",
    "spam",
)

# Why an opportunity that a conversation belongs to takes no note.
WITHOUT_OPPORTUNITY = frozenset({"opportunity_closed", "opportunity_gone", "opener_refused"})
# Why nobody but a person can say whether a conversation has an opportunity after a restore.
FORGOTTEN_TALK = frozenset({"conversation_ambiguous", "conversation_unlisted"})


@dataclass(frozen=True, slots=True)
class View:
    """An event with the records of its newest delivery, and what holds that from outside.

    `destination` "": not known.  `source_paused`, `account_paused`: nothing is delivered before somebody resumes.
    `fields`: those that were refused, and the rule of each.
    """

    event: EventRow
    records: Sequence[RecordRow]
    part: Literal["opener", "version", "follow_up"] = "opener"
    destination: str = ""
    source_paused: bool = False
    account_paused: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_doubt(self) -> list[RecordRow]:
        """Those of which nobody knows whether their last write was executed."""
        return [each for each in self.records if each.in_doubt]

    def record(self, kind: str) -> RecordRow | None:
        """Its record of a kind, None: it has none so far."""
        return next((each for each in self.records if each.kind == kind), None)


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
        case "settle contact" | "settle note" | "settle new" | "revive" | "redeliver":
            refused = _after_review(action, view)
        case "correct":
            refused = said_already(view) if state in {"review", "awaiting_approval"} else "only_open_to_correction"
        case "approve" | "decline":
            refused = None if state == "awaiting_approval" else "only_awaiting"
        case "cancel":
            refused = "in_hand" if state == "delivering" else "not_open" if state in FINAL else None
        case "reissue":
            refused = None if state in FINAL else "still_open"
        case "spam":
            refused = "in_hand" if state == "delivering" else None
        case _:
            assert_never(action)
    return refused


def said_already(view: View) -> str | None:
    """Why its content cannot be another now: a note is written once, with what it said then.  None: it can.

    An opportunity that stands is no hindrance: it is brought up to date.
    """
    words = next((each for each in view.records if each.says_it), None)
    if words is None or words.state == "none":
        return None
    return "in_doubt_first" if words.in_doubt else "said_already"


def _for_person(state: str) -> str | None:
    if state == "delivering":
        return "in_hand"
    return None if state in {"uncertain", "review"} else "only_for_a_person"


def _unknown(view: View) -> bool:
    return any(each.state in {"none", "asked", "in_doubt"} for each in view.records)


_Reviewed = Literal["settle contact", "settle note", "settle new", "revive", "redeliver"]


def _after_review(action: _Reviewed, view: View) -> str | None:
    """What is decided about a delivery that stands in review; a redelivery may follow a confirmation, too."""
    state, reason = view.event.state, view.event.reason or ""
    if state != "review" and not (action == "redeliver" and state == "confirmed"):
        return "only_confirmed_or_review" if action == "redeliver" else "only_in_review"
    match action:
        case "revive":
            refused = None
        case "settle contact":
            refused = _of_contact(view)
        case "settle note":
            refused = None if reason == "opportunity_closed" else "not_closed"
        case "settle new":
            without = view.part == "follow_up" and reason in WITHOUT_OPPORTUNITY
            refused = None if without or reason in FORGOTTEN_TALK else "not_without_opportunity"
        case "redeliver":
            refused = _of_gone(view)
        case _:
            assert_never(action)
    return refused


# Why a delivery waits until somebody says which contact its person is.
WHICH_CONTACT: Final = frozenset({"contact_ambiguous", "contact_other_name"})


def _of_contact(view: View) -> str | None:
    """Which contact it is may be said while that is open, and nothing is in doubt."""
    if view.part == "follow_up":
        return "of_its_opener"
    contact = view.record("contact")
    if contact is not None and contact.in_doubt:
        return "contact_in_doubt"
    known = contact is not None and contact.state == "known"
    return "contact_known" if known and view.event.reason not in WHICH_CONTACT else None


def _of_gone(view: View) -> str | None:
    """What stood in the CRM and is no more may be made anew; a note's opportunity comes back with its opener alone."""
    if not any(each.state in {"known", "gone"} or each.is_missing for each in view.records):
        return "nothing_stood"
    opportunity = view.record("opportunity")
    if view.part == "follow_up" and opportunity is not None:
        if opportunity.state == "gone":
            return "opener_comes_first"
        if opportunity.is_missing:
            return "opener_on_its_way"
    return "in_doubt_first" if view.in_doubt else None
