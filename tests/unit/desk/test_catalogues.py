"""Nothing that a page says is left in Spanish for those who read English."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from intake.console.i18n import CATALOGUES

CONSOLE: Final = CATALOGUES.parent
METHODS: Final = [("**.py", "python"), ("**/templates/**.html", "jinja2.ext.babel_extract")]
OPTIONS: Final = {"**/templates/**.html": {"trimmed": "false", "silent": "false"}}
PLACEHOLDER: Final = re.compile(r"%\(\w+\)s")


def in_source() -> set[str]:
    found = extract_from_dir(str(CONSOLE), METHODS, OPTIONS)
    return {message for _, _, message, _, _ in found if isinstance(message, str)}


def in_english() -> dict[str, str]:
    with (CATALOGUES / "en.po").open("rb") as text:
        catalogue = read_po(text, locale="en")
    return {str(each.id): str(each.string) for each in catalogue if each.id and not each.fuzzy}


def test_every_text_of_the_console_has_its_english() -> None:
    said = in_english()
    assert sorted(text for text in in_source() if not said.get(text)) == []


def test_the_catalogue_holds_nothing_that_no_page_says() -> None:
    assert sorted(in_english().keys() - in_source()) == []


def test_a_translation_puts_in_the_same_values() -> None:
    different = [
        text for text, said in in_english().items() if set(PLACEHOLDER.findall(text)) != set(PLACEHOLDER.findall(said))
    ]
    assert different == []


def test_no_template_holds_a_text_outside_of_a_catalogue() -> None:
    # Between two tags stand blanks, Jinja's expressions, signs and the product's name.
    bare = re.compile(r">\s*([^<>{}]*[A-Za-zÁÉÍÓÚáéíóúñ]{3,}[^<>{}]*)\s*<")
    allowed = {"Intake", "Español", "English", "intake recheck", "WhatsApp", "Workers"}
    found = {
        (file.name, text.strip())
        for file in (CONSOLE / "templates").glob("*.html")
        for text in bare.findall(_without_jinja(file))
        if text.strip() not in allowed
    }
    assert found == set()


def _without_jinja(file: Path) -> str:
    text = re.sub(r"\{%.*?%\}|\{#.*?#\}|\{\{.*?\}\}", "", file.read_text("utf-8"), flags=re.DOTALL)
    return re.sub(r"<title>.*?</title>", "", text, flags=re.DOTALL)
