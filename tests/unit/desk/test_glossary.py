"""The words that are fixed in both languages are the same in the glossary, the console and the commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, get_args

import pytest
from flask import Flask, g

from intake.console import i18n, wording
from intake.deliveries import FINAL, OPEN
from intake.desk.inbox import Mark
from intake.desk.roles import ROLES
from intake.reason_texts import Language, Text
from intake.records import RecordKind
from intake.shown_names import ITEMS, RECORDS, STAGES, STATES
from intake.trail import Stage
from intake.worklist import KINDS

GLOSSARY: Final = Path(__file__).parents[3] / "docs" / "es" / "glosario.md"
ROW: Final = re.compile(r"\| `(\w+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|")

Words = dict[str, tuple[str, str]]


def parts() -> dict[str, Words]:
    """By heading: word of ours -> Spanish, English."""
    sections = GLOSSARY.read_text("utf-8").split("\n## ")[1:]
    return {
        each.partition("\n")[0]: {word: (es.strip(), en.strip()) for word, es, en in ROW.findall(each)}
        for each in sections
    }


WHERE, MARKS, STEPS, WAITS, WRITTEN, WHO = list(parts())[:6]

KNOWN: Final[Mapping[str, set[str]]] = {
    WHERE: {*OPEN, *FINAL},
    MARKS: set(get_args(Mark)),
    STEPS: set(get_args(Stage)),
    WAITS: set(KINDS),
    WRITTEN: set(get_args(RecordKind)),
    WHO: set(ROLES),
}


@pytest.mark.parametrize("part", KNOWN)
def test_the_glossary_has_every_word_and_no_other(part: str) -> None:
    assert parts()[part].keys() == KNOWN[part]


@pytest.mark.parametrize(("part", "said"), [(WHERE, STATES), (STEPS, STAGES), (WAITS, ITEMS), (WRITTEN, RECORDS)])
def test_commands_say_what_the_glossary_says(part: str, said: Mapping[str, Text]) -> None:
    assert {word: (said[word].es, said[word].en) for word in KNOWN[part]} == parts()[part]


SPOKEN: Final[Mapping[str, Callable[[str], str]]] = {
    WHERE: wording.state,
    MARKS: wording.mark,  # type: ignore[dict-item]  # a word of each
    WAITS: wording.item_kind,
    WRITTEN: wording.record,
    WHO: wording.role,  # type: ignore[dict-item]
}


@pytest.fixture(scope="module")
def console() -> Flask:
    """An application that speaks, and nothing else."""
    app = Flask("glossary")
    i18n.Speaking(app, default_locale="es_PE", locale_selector=lambda: i18n.LOCALES[i18n.language()])
    return app


@pytest.mark.parametrize("part", SPOKEN)
@pytest.mark.parametrize("language", ["es", "en"])
def test_the_console_says_what_the_glossary_says(console: Flask, part: str, language: Language) -> None:
    with console.test_request_context():
        g.language = language
        said = {word: SPOKEN[part](word).casefold() for word in KNOWN[part]}
    assert said == {word: both[language == "en"].casefold() for word, both in parts()[part].items()}
