"""Every action in every state: allowed, or refused with this reason; and a way out of everything that waits."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

import pytest

from intake.deliveries import FINAL, OPEN
from intake.explain import explain
from intake.explain_texts import ITEM_ACTIONS, REFUSALS, Action
from intake.next_steps import THEN, next_step
from intake.permitted import View, refusal
from intake.worklist import KINDS
from tests.unit.cli.test_explain_words import reasons_in_code
from tests.unit.cli.views import RECORD, event, in_doubt

STATES = (*OPEN, *FINAL)
KNOWN = replace(RECORD, record_id=2, kind="opportunity", state="known", crm_id="opp-1")
CONTACT = replace(RECORD, record_id=3, state="known", crm_id="con-1")
GONE = replace(KNOWN, state="gone")

# awaiting, received, delivering, waiting, uncertain, review, confirmed, cancelled, superseded; "": allowed.
# Its contact and its opportunity are known, and nothing is in doubt.
TABLE: dict[Action, tuple[str, ...]] = {
    "look": ("nothing_in_doubt",) * 9,
    "settle applied": (
        "only_for_a_person", "only_for_a_person", "in_hand", "only_for_a_person", "everything_known",
        "everything_known", "only_for_a_person", "only_for_a_person", "only_for_a_person",
    ),
    "settle not-applied": (
        "only_for_a_person", "only_for_a_person", "in_hand", "only_for_a_person", "nothing_in_doubt",
        "nothing_in_doubt", "only_for_a_person", "only_for_a_person", "only_for_a_person",
    ),
    "settle contact": (*("only_in_review",) * 5, "contact_known", *("only_in_review",) * 3),
    "settle note": (*("only_in_review",) * 5, "not_closed", *("only_in_review",) * 3),
    "settle new": (*("only_in_review",) * 5, "not_without_opportunity", *("only_in_review",) * 3),
    "correct": ("", *("only_open_to_correction",) * 4, "", *("only_open_to_correction",) * 3),
    "revive": (*("only_in_review",) * 5, "", *("only_in_review",) * 3),
    "approve": ("", *("only_awaiting",) * 8),
    "decline": ("", *("only_awaiting",) * 8),
    "cancel": ("", "", "in_hand", "", "", "", *("not_open",) * 3),
    "redeliver": (*("only_confirmed_or_review",) * 5, "", "", *("only_confirmed_or_review",) * 2),
    "reissue": (*("still_open",) * 6, "", "", ""),
    "spam": ("", "", "in_hand", *("",) * 6),
}  # fmt: skip


@pytest.mark.parametrize("action", get_args(Action))
def test_every_action_is_allowed_or_refused_with_its_reason(action: Action) -> None:
    said = tuple(refusal(action, View(event(state=state), (CONTACT, KNOWN))) or "" for state in STATES)
    assert said == TABLE[action]


def test_every_refusal_in_the_table_has_words() -> None:
    assert {key for row in TABLE.values() for key in row if key} <= set(REFUSALS)


def test_a_contact_in_doubt_is_settled_before_another_is_chosen() -> None:
    assert refusal("settle contact", View(event(state="review"), (in_doubt(),))) == "contact_in_doubt"


def test_nothing_is_made_anew_while_something_is_in_doubt() -> None:
    view = View(event(state="review"), (KNOWN, in_doubt()))
    assert refusal("redeliver", view) == "in_doubt_first"


def test_a_note_without_its_opportunity_comes_back_with_the_opener_alone() -> None:
    view = View(event(state="review", reason="opportunity_gone"), (GONE,), part="follow_up")
    assert refusal("redeliver", view) == "opener_comes_first"


# --- ways out -------------------------------------------------------------------------------------------------------

FOLLOW_UPS = {"opener_refused", "opportunity_closed", "opener_in_doubt"}
# Which records stand where an event waits for this reason.
RECORDS = {
    "several": (in_doubt(),),
    "looks_used_up": (in_doubt(),),
    "contact_gone": (replace(CONTACT, state="gone"),),
    "opportunity_gone": (CONTACT, GONE),
    "task_gone": (CONTACT, KNOWN, replace(KNOWN, record_id=4, kind="task", state="gone")),
    "note_gone": (KNOWN, replace(KNOWN, record_id=5, kind="note", state="gone")),
    "gone": (CONTACT, KNOWN),
}  # fmt: skip
HANDED_OVER = ("looks_used_up", "budget_used_up", "bad_credential", "forbidden", "gone", "token_scope", "validation",
               "internal_error", "duplicate_name")  # fmt: skip


def view_of(state: str, reason: str) -> View:
    """An event as it typically stands with this reason."""
    records = (in_doubt(),) if state == "uncertain" else RECORDS.get(reason, (RECORD,))
    return View(event(state=state, reason=reason), records, part="follow_up" if reason in FOLLOW_UPS else "opener")


def named_in(text: str) -> set[str]:
    """The actions that a text tells to take."""
    settles = re.findall(r"`intake settle … ([a-z-]+)", text) + re.findall(r"o(?:r)? `([a-z]+-[a-z]+)`", text)
    plain = re.findall(r"`intake (correct|revive|approve|decline|redeliver|spam|look)`", text)
    return {*plain, *("cancel" if each == "cancel" else f"settle {each}" for each in settles)}


def for_people() -> set[str]:
    """The reasons of a review, as the code has them."""
    kinds = ("contact", "opportunity", "task", "note")
    named = {reason for state, reason in THEN if state == "review" and not reason.endswith("*")}
    return named | set(HANDED_OVER) | {f"{kind}_gone" for kind in kinds}


@pytest.mark.parametrize("reason", sorted(for_people()))
def test_whoever_reads_why_it_is_in_review_is_told_a_way_that_is_open(reason: str) -> None:
    step = next_step("review", reason)
    assert step is not None
    actions = {action for action in get_args(Action) if refusal(action, view_of("review", reason)) is None}
    assert named_in(step.en) & actions
    assert named_in(step.es) == named_in(step.en)


@pytest.mark.parametrize("state", ["awaiting_approval", "uncertain", "review"])
@pytest.mark.parametrize("reason", sorted({*reasons_in_code(), *for_people()}))
def test_everything_that_waits_for_a_person_has_a_way_on(state: str, reason: str) -> None:
    view = view_of(state, reason)
    onwards = {
        "approve",
        "revive",
        "look",
        "settle applied",
        "settle not-applied",
        "settle new",
        "settle note",
        "redeliver",
    }
    assert {action for action in onwards if refusal(action, view) is None}  # type: ignore[arg-type]  # all are actions


@pytest.mark.parametrize("kind", [each for each in KINDS if each != "delivery"])
def test_every_other_item_has_a_way_out(kind: str) -> None:
    assert ITEM_ACTIONS[kind]


@pytest.mark.parametrize("held", ["source_paused", "account_paused"])
def test_what_is_paused_says_so_instead_of_promising(held: str) -> None:
    paused = View(event(state="received"), (), "opener", "crm", held == "source_paused", held == "account_paused")
    assert "intake resume" in explain(paused, "en").then


def test_a_destination_that_is_configured_no_more_is_told() -> None:
    view = View(event(state="waiting", reason="timeout"), (), destination="old")
    assert "“old”" in explain(view, "en", open_destinations={"crm"}).then
