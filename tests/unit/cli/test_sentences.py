"""What the deciding commands say: in both languages, with the same values, and every sentence is used."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from intake.cli.sentences import SENTENCES

CHECKOUT = Path(__file__).resolve().parents[3]
FOLDERS = ("intake/cli", "workers/commands")
# Composed, or looked up by a word of another module.
COMPOSED = {
    "item_kept", "item_accepted", "left", "done", "moved_meanwhile", "missing", "gone", "closed", "no_quarantine",
    "no_source", "purged",
}  # fmt: skip


@pytest.mark.parametrize("key", SENTENCES)
def test_both_languages_name_the_same_values(key: str) -> None:
    text = SENTENCES[key]
    values = [set(re.findall(r"\{(\w+)\}", each)) for each in (text.es, text.en)]
    assert values[0] == values[1]
    assert text.es != text.en


def words_in_code() -> set[str]:
    """Every constant text of the commands."""
    return {
        node.value
        for folder in FOLDERS
        for file in (CHECKOUT / folder).glob("*.py")
        if file.name != "sentences.py"
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_sentence_is_said_somewhere() -> None:
    assert SENTENCES.keys() - words_in_code() - COMPOSED == set()
