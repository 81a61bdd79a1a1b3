"""Plain text in fields that hold HTML, and back."""

from __future__ import annotations

import html
import re

_BREAK = re.compile(r"<br\s*/?>\n?|</p>\s*(?=<p\b)|</div>\s*(?=<div\b)", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def written(text: str, longest: int) -> str:
    """The text as HTML, cut so that the HTML has `longest` characters: what a visitor typed as a tag stays text."""
    pieces: list[str] = []
    for letter in text:
        piece = "<br>" if letter == "\n" else html.escape(letter, quote=False)
        longest -= len(piece)
        if longest < 0:
            break
        pieces.append(piece)
    return "".join(pieces)


def read(markup: str) -> str:
    """What a person reads in the HTML; a text that was written so comes back."""
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", markup))).replace("\xa0", " ")
