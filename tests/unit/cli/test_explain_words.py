"""Every state and every reason that the code uses has words, in both languages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

import pytest

from intake.deliveries import FINAL, OPEN
from intake.explain import explain, reason_text
from intake.explain_texts import DOES, ITEMS, REFUSALS, STATES, THEN, Action
from intake.permitted import ACTIONS, View
from intake.reason_texts import REASONS, UNKNOWN_REASON, Language, Text
from tests.unit.cli.views import event

CHECKOUT = Path(__file__).resolve().parents[3]
LANGUAGES: tuple[Language, ...] = ("es", "en")
# What carries a reason that ends up in a delivery, by the position of the reason among its arguments.
CARRIERS: Mapping[str, int] = {
    "ForPerson": 0, "Later": 0, "InDoubt": 1, "Retry": 0, "Rejected": 0, "Uncertain": 0, "Unsure": 0, "NotSent": 0,
    "Unanswered": 0, "Control": 1,
}  # fmt: skip
# Functions whose keyword `reason` ends up in a delivery, an item or an account.
ARROWS = {"postpone", "mark_uncertain", "reject", "give_up", "open_incident", "pause"}


def reasons_in_code() -> Iterator[str]:
    """Every constant reason, and the constant beginning of every composed one."""
    for folder in ("workers", "crm_clients", "intake"):
        for file in sorted((CHECKOUT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    yield from _reasons_of(node)


def _reasons_of(call: ast.Call) -> Iterator[str]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in CARRIERS and len(call.args) > CARRIERS[name]:
        yield from _constants(call.args[CARRIERS[name]])
    for keyword in call.keywords:
        if keyword.arg == "reason" and (name in ARROWS or name in CARRIERS):
            yield from _constants(keyword.value)


def _constants(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(reason)):
            yield reason
        case ast.IfExp():
            yield from _constants(node.body)
            yield from _constants(node.orelse)
        case ast.JoinedStr(values=[ast.Constant(value=str(beginning)), *_]):
            yield beginning + "…"
        case ast.JoinedStr(values=[*_, ast.Constant(value=str(end))]) if end.startswith("_"):
            yield from (kind + end for kind in ("contact", "opportunity", "task", "note"))


def reasons_of_lost_answers() -> Iterator[str]:
    """The transport's words, which stand in a table of their own."""
    for node in ast.walk(ast.parse((CHECKOUT / "crm_clients" / "transport.py").read_text("utf-8"))):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "_REASONS":
            assert isinstance(node.value, ast.Tuple)
            for row in node.value.elts:
                assert isinstance(row, ast.Tuple)
                yield from _constants(row.elts[0])


def reasons_in_sql() -> Iterator[str]:
    """The reasons that the arrows themselves write."""
    for name in ("deliveries.py", "person_arrows.py"):
        for node in ast.walk(ast.parse((CHECKOUT / "intake" / name).read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from re.findall(r"reason = [^,\n]*'([a-z_]+)'", node.value)


@pytest.mark.parametrize("reason", sorted({*reasons_in_code(), *reasons_of_lost_answers(), *reasons_in_sql()}))
def test_every_reason_has_words(reason: str) -> None:
    assert not reason_text(reason, "es").startswith(UNKNOWN_REASON.es.partition("{")[0])


@pytest.mark.parametrize("state", [*OPEN, *FINAL])
def test_every_state_has_words(state: str) -> None:
    assert state in STATES


def test_the_scan_finds_reasons() -> None:
    """Should the code's form change, the test above must not go green for having nothing to look at."""
    assert {"budget_used_up", "worker_lost", "approval_expired", "rate_limited", "timeout", "duplicate_…", "eof"} <= {
        *reasons_in_code(), *reasons_of_lost_answers(), *reasons_in_sql(),
    }  # fmt: skip


def all_texts() -> Iterator[Text]:
    yield from REASONS.values()
    yield from THEN.values()
    yield from DOES.values()
    yield from REFUSALS.values()
    yield from ITEMS.values()
    for words in STATES.values():
        yield from (words.where, words.then)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_empty(language: Language) -> None:
    assert all(text.of(language).strip() for text in all_texts())


def test_no_text_was_left_untranslated() -> None:
    assert [text.en for text in all_texts() if text.es == text.en] == []


def test_every_action_has_words() -> None:
    assert set(ACTIONS) == set(get_args(Action)) == set(DOES)


def test_specific_steps_belong_to_known_states_and_reasons() -> None:
    assert [key for key in THEN if key[0] not in STATES or key[1] not in REASONS] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_nobody_foresaw_is_told_as_it_stands(language: Language) -> None:
    told = explain(View(event(state="hibernating", reason="solar_flare"), ()), language)
    assert "solar_flare" in told.why


@pytest.mark.parametrize("state", [*OPEN, *FINAL])
def test_every_state_can_be_explained_without_a_reason(state: str) -> None:
    assert explain(View(event(state=state, reason=None), ())).where
