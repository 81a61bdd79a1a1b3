"""What `docs/reference/states.md` says of actions: what each does, to whom it is given, and from where it is possible.

The rules are asked, not told again: every action is tried on events in every state, with every kind of record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Final, Literal, get_args

from intake.deliveries import FINAL, OPEN
from intake.desk.roles import NEEDS, ROLES, ItemAction, Permission, may, resolving
from intake.explain_texts import DOES, ITEM_ACTIONS, REFUSALS
from intake.permitted import ACTIONS, FORGOTTEN_TALK, WHICH_CONTACT, WITHOUT_OPPORTUNITY, View, refusal
from intake.records import RecordKind
from tests.reference.markdown import code, codes, table, texts
from tests.unit.cli.views import RECORD, event

SAFE: Final = """`yes`: with every event in this state. `if`: with some, by records and reason; a refusal says why.
Empty: with none. Of one event, `intake show`, the console and the API tell what is possible."""
REFUSED: Final = "Why an action is refused, as programs get it, and as people read it:"
ITEMS: Final = "What may be done with an open item that is about no delivery:"

REASONS: Final = (None, *sorted(WITHOUT_OPPORTUNITY | FORGOTTEN_TALK | WHICH_CONTACT))
STANDS: Final[tuple[Literal["none", "asked", "in_doubt", "known", "gone"], ...]] = (
    "none", "asked", "in_doubt", "known", "gone",
)  # fmt: skip
PARTS: Final[tuple[Literal["opener", "version", "follow_up"], ...]] = ("opener", "version", "follow_up")


def text() -> str:
    """The section."""
    return "\n\n".join((
        "## Actions",
        table(("action", "role", "what it does", "qué hace"), _does()),
        "### Where an action is possible",
        SAFE,
        table(("action", *(code(each) for each in (*OPEN, *FINAL)), "may be refused with"), _possible()),
        REFUSED,
        texts("word", REFUSALS),
        ITEMS,
        table(("item", "action", "role", "what it does", "qué hace"), _of_items()),
    ))  # fmt: skip


def _does() -> Iterator[tuple[str, str, str, str]]:
    for action in ACTIONS:
        yield code(action), _role(NEEDS[action]), DOES[action].en, DOES[action].es


def _role(permission: Permission) -> str:
    """The least role that may."""
    return code(next(role for role in ROLES if may(role, permission)))


def _possible() -> Iterator[list[str]]:
    views = {state: list(_views(state)) for state in (*OPEN, *FINAL)}
    for action in ACTIONS:
        by_state = {state: {refusal(action, view) for view in seen} for state, seen in views.items()}
        words = {word for found in by_state.values() for word in found if word is not None}
        yield [code(action), *(_told(found) for found in by_state.values()), codes(sorted(words))]


def _told(refused: set[str | None]) -> str:
    if None not in refused:
        return ""
    return "yes" if refused == {None} else "if"


def _views(state: str) -> Iterator[View]:
    """Events in this state, with what decides about an action."""
    for reason, part, kind, stand, says_it in product(REASONS, PARTS, get_args(RecordKind), STANDS, (False, True)):
        record = replace(RECORD, kind=kind, state=stand, says_it=says_it)
        for made in (record, replace(record, remade=True), replace(record, orphaned=True)):
            yield View(event(state=state, reason=reason), [made], part=part)
    yield View(event(state=state), [])


def _of_items() -> Iterator[tuple[str, str, str, str, str]]:
    actions: tuple[ItemAction, ...] = get_args(ItemAction)
    for kind, does in ITEM_ACTIONS.items():
        for action in (each for each in actions if each in does):
            yield code(kind), code(action), _role(resolving(action, kind)), does[action].en, does[action].es
