"""Why an event is where it is, what happens next, what is safe to do and what is not: one engine for all who ask."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo

from intake import incident_steps
from intake.explain_texts import DOES, HELD, ITEM_ACTIONS, ITEMS, REFUSALS, STATES, UNKNOWN_STATE, Action
from intake.incident_texts import INCIDENTS
from intake.next_steps import DEBOUNCE, DUE, LOOK, next_step
from intake.permitted import ACTIONS, View, refusal
from intake.reading_texts import READING
from intake.reason_texts import REASONS, UNKNOWN_REASON, Language, Text
from intake.shown_names import STATES as STATE_NAMES
from intake.shown_names import name


@dataclass(frozen=True, slots=True)
class SafeAction:
    """`why`: what it does, or why it is refused."""

    action: Action
    allowed: bool
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """In one language.  `why` is empty where there is no reason to tell; `fields`: those that were refused, and why."""

    where: str
    why: str
    then: str
    safe_actions: tuple[SafeAction, ...]
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Clock:
    """What time it is, and in which zone people read it; None: in this host's own."""

    now: datetime
    zone: tzinfo | None = None

    def told(self, moment: datetime) -> str:
        """With its day where that is another one."""
        there = moment.astimezone(self.zone)
        same_day = there.date() == self.now.astimezone(self.zone).date()
        return there.strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M")


def explain(
    view: View,
    language: Language = "es",
    *,
    open_destinations: Collection[str] | None = None,
    clock: Clock | None = None,
) -> Explanation:
    """Never fails: what this version has no words for is told as it stands.

    `open_destinations`: those that are configured and can be delivered to, None: not known here.  `clock` None: no
    time is told.
    """
    state, reason = view.event.state, view.event.reason
    words = STATES.get(state, UNKNOWN_STATE)
    then = next_step(state, reason or "") or words.then
    return Explanation(
        where=words.where.of(language),
        why=reason_text(reason, language) if reason else "",
        then=_held(view, language, open_destinations) or _timed(view, then.of(language), language, clock),
        safe_actions=safe_actions(view, language),
        fields=view.fields,
    )


def _timed(view: View, then: str, language: Language, clock: Clock | None) -> str:
    """What happens next, and when, if its time is still to come."""
    text, due = _next(view)
    if clock is None or due is None or due <= clock.now:
        return then
    return text.of(language).replace("{then}", then).replace("{time}", clock.told(due))


def _next(view: View) -> tuple[Text, datetime | None]:
    """What is in doubt is looked for, whatever its delivery is due for."""
    if view.event.state == "uncertain":
        return LOOK, min((each.look_at for each in view.in_doubt if each.look_at), default=None)
    is_debounced = view.event.state == "received" and view.event.kind == "whatsapp"
    return DEBOUNCE if is_debounced else DUE, view.event.due_at


# The states that a worker should end; what waits for a person tells of that person first.
ON_ITS_WAY = frozenset({"received", "waiting"})


def _held(view: View, language: Language, open_destinations: Collection[str] | None) -> str:
    """What holds it from outside, "": nothing does, or it is a person's anyway."""
    if view.event.state not in ON_ITS_WAY:
        return ""
    missing = open_destinations is not None and view.destination and view.destination not in open_destinations
    holds = (("destination_missing", missing), ("source_paused", view.source_paused),
             ("account_paused", view.account_paused))  # fmt: skip
    why = next((name for name, is_so in holds if is_so), None)
    if why is None:
        return ""
    return HELD[why].of(language).replace("{source}", view.event.source).replace("{destination}", view.destination)


def reason_text(reason: str, language: Language) -> str:
    """One reason in words, of deliveries, items, attempts and accounts."""
    text = REASONS.get(reason) or INCIDENTS.get(reason) or READING.get(reason) or _by_beginning(reason)
    return (text or UNKNOWN_REASON).of(language).replace("{reason}", reason)


def item_text(kind: str, reason: str, language: Language) -> str:
    """What an open item is about, in words."""
    text = ITEMS.get(kind)
    why = reason_text(reason, language)
    return text.of(language).replace("{why}", why) if text else why


def item_step(kind: str, reason: str, language: Language) -> str:
    """What ends an incident; "": it is none, or this version knows of nothing."""
    text = incident_steps.step(reason) if kind == "incident" else None
    return text.of(language) if text else ""


def item_actions(kind: str, language: Language) -> Mapping[str, str]:
    """What may be done with an item, and what that does; {} for one of a delivery, whose actions are the event's."""
    return {action: text.of(language) for action, text in ITEM_ACTIONS.get(kind, {}).items()}


def _by_beginning(reason: str) -> Text | None:
    for word, text in REASONS.items():
        if word.endswith("*") and reason.startswith(word[:-1]):
            return text
    return None


def safe_actions(view: View, language: Language = "es") -> tuple[SafeAction, ...]:
    """Every action, allowed or not, and why."""
    return tuple(_judged(action, view, language) for action in ACTIONS)


def _judged(action: Action, view: View, language: Language) -> SafeAction:
    refused = refusal(action, view)
    if refused is None:
        return SafeAction(action, True, DOES[action].of(language))
    return SafeAction(action, False, refusal_text(refused, view.event.state, language))


def refusal_text(refused: str, state: str, language: Language) -> str:
    """Why something is refused, in words."""
    return REFUSALS[refused].of(language).replace("{state}", name(STATE_NAMES, state, language))
