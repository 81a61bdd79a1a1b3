"""No text makes a pattern of ours try many ways, and what is measured for it is told right."""

from __future__ import annotations

import re

import pytest

from crm_clients import answers
from crm_clients.sandbox.records import REFERENCE
from intake import emails, phones
from intake.reading_texts import RULES
from tests.automata import TooHard
from tests.backtracking import Danger, danger
from tests.patterns import ANY_USE, Use, every_use
from workers import quoted

HOME_PREFIXES = "f'0{{0,2}}(?:{code}0{{0,2}})*({code}[1-9][0-9]+)'"
# Reviewed: what is put together while the program runs, by its source, with one that is.
MADE = {
    "REFERENCE.pattern + '\\\\Z'": REFERENCE.pattern + r"\Z",
    HOME_PREFIXES: r"0{0,2}(?:510{0,2})*(51[1-9][0-9]+)",
    'b\'("%b"\\\\s*:\\\\s*)"(?:[^"\\\\\\\\]|\\\\\\\\.)*"\' % re.escape(name.encode())': (
        r'("token"\s*:\s*)"(?:[^"\\]|\\.)*"'
    ),
    "'|'.join(map(re.escape, quotes))": r"Ana\ Prueba|Ana|ana@example\.com",
    "form": "|".join(RULES),
}
# Reviewed: what grows with the square of a text that is short, or the operator's own.
BOUNDED = {
    ("intake.config.positions", "TOKEN"): "the operator's configuration",
    ("intake.config.process", "POSTGRES"): "the operator's environment",
    ("intake.console.wording", "COMMANDS"): "our own texts",
    ("intake.emails", "ADDRESS"): "emails.SEARCHED characters",
    ("intake.phones", HOME_PREFIXES): "phones.MAX_LENGTH characters",
}


def the_danger(use: Use) -> Danger | None:
    return danger(MADE[use.name] if use.pattern is None else use.pattern, use.flags, use.method)


def test_no_pattern_grows_faster_than_its_text() -> None:
    uses = every_use()
    assert len({(use.module, use.name) for use in uses}) > 150, "they are not found any more"
    found = {(use.module, use.name): the_danger(use) for use in uses}
    dangers = {name: each for name, each in found.items() if each is not None}
    assert {name: each for name, each in dangers.items() if name not in BOUNDED} == {}
    assert [name for name, each in dangers.items() if each.growth == "exponential"] == []


def test_what_was_reviewed_is_still_there() -> None:
    uses = every_use()
    assert MADE.keys() == {use.name for use in uses if use.pattern is None}
    assert BOUNDED.keys() <= {(use.module, use.name) for use in uses}


MILLION = 1_000_000


@pytest.mark.parametrize("piece", ["a'", "a.", "a@", "@", "a@a.", "-", "a@a-"])
def test_a_long_text_is_no_work_for_the_reader_of_addresses(piece: str) -> None:
    assert emails.read(piece * MILLION) is None
    assert not emails.is_address(piece * MILLION)


@pytest.mark.parametrize("piece", ["51", "510", "5100", "+ ", ", ", "ext ", " x1", "0", "5151 ", "(", "5/"])
def test_a_long_text_is_no_work_for_the_reader_of_phones(piece: str) -> None:
    assert phones.read(piece * MILLION, "PE").e164 is None


@pytest.mark.parametrize("piece", [" ", "a", "@", "a@", " [ref:a", "\n"])
def test_a_long_text_from_a_crm_is_no_work(piece: str) -> None:
    assert quoted.ADDRESS.sub("", f'"{piece * MILLION}"').startswith('"')
    assert answers.unmarked(piece * MILLION)[1] is None


# --- what is measured -------------------------------------------------------------------------------------------------

EXPONENTIAL = [
    r"(a+)+b",
    r"(a*)*b",
    r"(?:a|ab|b)*c",
    r"(?:\d+,?)+x",
    r"(?:a{1,9})+b",
    r"(?:a{1,9}){1,9}b",
    r"(?:a?a?)*b",
    r"(?>a+)+b",
]
POLYNOMIAL = [r"a+a+b", r"\s*,?\s*x", r"[a-z]+[a-z0-9]*!", r".*=.*;", r"\d+\d{2,}x", r"(?=.*a.*b)c"]
SOUND = [r"a+b", r"[^,]*(?:,[^,]*)*x", r"\d+(?:\.\d+)*", r"(?:a|b)*c", r"[a-z]+@[a-z]{1,300}x", r"(?:ab?)+c", r"\bé+$"]


@pytest.mark.parametrize("pattern", EXPONENTIAL)
@pytest.mark.parametrize("method", sorted(ANY_USE))
def test_two_ways_round_are_exponential(pattern: str, method: str) -> None:
    found = danger(pattern, 0, method)
    assert found is not None
    assert found.growth == "exponential"


@pytest.mark.parametrize("pattern", POLYNOMIAL)
def test_one_loop_after_another_is_polynomial(pattern: str) -> None:
    found = danger(pattern, 0, "fullmatch")
    assert found is not None
    assert found.growth == "polynomial"


@pytest.mark.parametrize("pattern", SOUND)
def test_what_has_one_way_is_sound(pattern: str) -> None:
    assert danger(pattern, 0, "fullmatch") is None


@pytest.mark.parametrize("pattern", [r"\s+$", r"[^@ ]+@", r"\w+x", r"a*b"])
def test_a_search_begins_anywhere(pattern: str) -> None:
    assert danger(pattern, 0, "fullmatch") is None
    assert danger(pattern, 0, "search") is not None


@pytest.mark.parametrize("pattern", [r"^\s+$", r"(?<!\s)\s+$", r"(?<![^@ ])[^@ ]+@", r"https?://\S+", r"x\w+"])
def test_a_search_that_begins_at_few_places_or_never_fails_late_is_sound(pattern: str) -> None:
    assert danger(pattern, 0, "search") is None


def test_letters_of_both_cases_are_the_same_where_a_flag_says_so() -> None:
    assert danger(r"(?:ab|AB)*c", 0, "fullmatch") is None
    assert danger(r"(?:ab|AB)*c", re.IGNORECASE, "fullmatch") is not None


def test_what_is_no_regular_language_is_not_called_sound() -> None:
    with pytest.raises(TooHard):
        danger(r"(a)\1", 0, "fullmatch")
