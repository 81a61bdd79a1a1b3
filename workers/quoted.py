"""What a CRM says of a field that it refuses, without what it quotes: rules stand in tables, lists and alerts.

Payloads stand in `bodies` and nowhere else; what the CRM answered, word for word, is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from crm_clients.base import ContactDraft, Draft, NoteDraft, TaskDraft

GONE = "…"
LONGEST = 200  # characters of a rule; a longer one is somebody's page
SHORTEST = 3  # characters of what is taken out; shorter ones stand in any word

ADDRESS = re.compile(r"(?<![^\s<>\"'(])[^\s<>\"'(]+@[^\s<>\"',;:)]+")
# Long enough for a telephone number or a document.
NUMBER = re.compile(r"\+?\d(?:[ ().-]?\d){6,}")


def rules(fields: Iterable[tuple[str, str]], draft: Draft) -> dict[str, str]:
    """Field -> rule, no values: what the draft says is taken out, and whatever looks like an address or a number."""
    quotes = sorted(set(_said(draft)), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, quotes)), re.IGNORECASE) if quotes else None
    return {name: _without(rule, pattern) for name, rule in fields}


def _without(rule: str, pattern: re.Pattern[str] | None) -> str:
    short = pattern.sub(GONE, rule) if pattern else rule
    return NUMBER.sub(GONE, ADDRESS.sub(GONE, short))[:LONGEST]


def _said(draft: Draft) -> Iterator[str]:
    """Each line of each text, and each word of a name."""
    texts = [value for value in asdict(draft).values() if isinstance(value, str)]
    own_fields = [] if isinstance(draft, TaskDraft | NoteDraft) else [value for _, value in draft.fields]
    words = draft.name.split() if isinstance(draft, ContactDraft) else []
    lines = (line.strip() for text in (*texts, *own_fields) for line in text.splitlines())
    yield from (each for each in (*lines, *words) if len(each) >= SHORTEST)
