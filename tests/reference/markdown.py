"""The little Markdown that the reference pages are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from intake.reason_texts import Text

MADE = "<!-- Made from the code by bin/reference: change the code, not this page. -->"


def page(title: str, *blocks: str) -> str:
    """A whole page, with an empty line between its blocks; an empty block is left out."""
    return "\n\n".join((f"# {title}", MADE, *(block for block in blocks if block))) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; "" where it has no rows."""
    lines = [_row(cells) for cells in rows]
    return "\n".join([_row(head), "|" + "---|" * len(head), *lines]) if lines else ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_cell(each) for each in cells)} |"


def _cell(text: str) -> str:
    """On one line, and without what would end the cell."""
    return " ".join(text.split()).replace("|", "\\|")


def texts(of: str, said: Mapping[str, Text]) -> str:
    """A table of words of ours, each told in both languages."""
    return table((of, "in English", "en español"), ((code(word), each.en, each.es) for word, each in said.items()))


def code(word: object) -> str:
    """As it is typed; "" for nothing."""
    return f"`{word}`" if str(word) else ""


def codes(words: Iterable[object]) -> str:
    """Several, with commas between them."""
    return ", ".join(code(each) for each in words)


def bullets(lines: Iterable[str]) -> str:
    """A list."""
    return "\n".join(f"- {line}" for line in lines)


def sentence(text: str) -> str:
    """Where a text has several lines: its first paragraph, on one."""
    return " ".join(text.strip().partition("\n\n")[0].split())
