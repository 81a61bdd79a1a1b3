"""Why an event is where it is, what happens next, what is safe to do and what is not: one engine for all who ask."""

from __future__ import annotations

from dataclasses import dataclass

from intake.explain_texts import DOES, ITEMS, REFUSALS, STATES, THEN, UNKNOWN_STATE, Action
from intake.incident_texts import INCIDENTS
from intake.permitted import ACTIONS, View, refusal
from intake.reason_texts import REASONS, UNKNOWN_REASON, Language, Text


@dataclass(frozen=True, slots=True)
class SafeAction:
    """`why`: what it does, or why it is refused."""

    action: Action
    allowed: bool
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """In one language.  `why` is empty where there is no reason to tell."""

    where: str
    why: str
    then: str
    safe_actions: tuple[SafeAction, ...]


def explain(view: View, language: Language = "es") -> Explanation:
    """Never fails: what this version has no words for is told as it stands."""
    state, reason = view.event.state, view.event.reason
    words = STATES.get(state, UNKNOWN_STATE)
    then = THEN.get((state, reason or ""), words.then)
    return Explanation(
        where=words.where.of(language),
        why=reason_text(reason, language) if reason else "",
        then=then.of(language),
        safe_actions=safe_actions(view, language),
    )


def reason_text(reason: str, language: Language) -> str:
    """One reason in words, of deliveries, items, attempts and accounts."""
    text = REASONS.get(reason) or INCIDENTS.get(reason) or _by_beginning(reason) or UNKNOWN_REASON
    return text.of(language).replace("{reason}", reason)


def item_text(kind: str, reason: str, language: Language) -> str:
    """What an open item is about, in words."""
    text = ITEMS.get(kind)
    return text.of(language).replace("{reason}", reason) if text else reason_text(reason, language)


def _by_beginning(reason: str) -> Text | None:
    for name, text in REASONS.items():
        if name.endswith("*") and reason.startswith(name[:-1]):
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
    return REFUSALS[refused].of(language).replace("{state}", state)
