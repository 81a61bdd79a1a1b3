"""What could not be read is told in words: every reason, and every rule that a field may have broken."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intake.explain import item_text, reason_text
from intake.reading_texts import READING, RULES, rule
from intake.reason_texts import UNKNOWN_REASON
from intake.sources.base import Unreadable
from intake.sources.quote_schema import KNOWN, checked

CHECKOUT = Path(__file__).resolve().parents[3]
CARRIERS = {"Unreadable", "Quarantined"}


def calls() -> Iterator[ast.Call]:
    """Where the code says that something cannot be read."""
    for file in sorted((CHECKOUT / "intake").rglob("*.py")):
        if file.parent.name == "forgetting":
            continue  # Its own exception of this name: a list that is broken.
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CARRIERS:
                yield node


def constants(node: ast.AST) -> Iterator[str]:
    """Texts as they are said; a number stands in the place of what is filled in."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else "7" for each in parts)


REASONS = sorted({text for call in calls() for text in constants(call.args[0])})
SAID = sorted({
    text
    for call in calls()
    for given in call.args[1:]
    if isinstance(given, ast.Dict)
    for value in given.values
    for text in constants(value)
})  # fmt: skip


def test_the_scan_finds_what_there_is() -> None:
    assert {"not_json", "replay", "unreadable_time"} <= set(REASONS)
    assert {"must be JSON", "must be a list of at most 7", "is older than identities are kept"} <= set(SAID)


@pytest.mark.parametrize("reason", REASONS)
def test_why_something_was_not_read_is_told_in_words(reason: str) -> None:
    assert reason in READING
    assert not reason_text(reason, "es").startswith(UNKNOWN_REASON.es.partition("{")[0])


@pytest.mark.parametrize("reason", READING)
@pytest.mark.parametrize("language", ["es", "en"])
def test_a_quarantine_shows_no_code(reason: str, language: str) -> None:
    told = item_text("quarantine", reason, "en" if language == "en" else "es")
    assert "_" not in told
    assert "{" not in told
    assert READING[reason].es != READING[reason].en


@pytest.mark.parametrize("said", SAID)
def test_a_rule_is_told_in_spanish(said: str) -> None:
    assert rule(said, "es") != said


@pytest.mark.parametrize("form", RULES)
def test_both_languages_tell_the_same_values(form: str) -> None:
    assert ("{0}" in RULES[form].es) == ("{0}" in RULES[form].en) == ("(\\d+)" in form)


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("x" * 30_000)
PERSONS = VALUES | st.dictionaries(st.sampled_from(["name", "phone", "email", "ruc"]), VALUES)
LINES = VALUES | st.lists(VALUES | st.dictionaries(st.sampled_from(["sku", "name", "quantity", "unit_price"]), VALUES))
QUOTES = st.fixed_dictionaries({}, optional=dict.fromkeys(sorted(KNOWN), VALUES | PERSONS | LINES))


@given(QUOTES)
def test_every_rule_of_a_quote_is_told_in_spanish(body: dict[str, object]) -> None:
    assert [said for said in broken(body) if rule(said, "es") == said] == []


def broken(body: dict[str, object]) -> list[str]:
    """The rules that it breaks."""
    try:
        checked(body)  # type: ignore[arg-type]  # whatever JSON holds
    except Unreadable as unreadable:
        return list(unreadable.fields.values())
    return []


def test_a_rule_without_words_is_told_as_it_stands() -> None:
    assert rule("must be {blue}", "es") == "must be {blue}"
