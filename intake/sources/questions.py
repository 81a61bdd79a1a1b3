"""Answers of form tools that tell more about a question than its title: an id, a reference, a type.

People word their questions freely ("What's your email address?"), so a field is recognised by the first of title,
title without its small words, id and type that is a well-known name.  Everything keeps its own title otherwise.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from intake.sources.known_names import FIELD_OF
from intake.sources.leaves import Leaf, folded

# What remains of a spoken question without these is often a well-known name.
_SMALL = """
    a an are can could do enter have how i is may me my please s tell the to us we what whats you your
    cual danos dejanos dinos el en es escribe escribenos favor indica indicanos ingresa ingrese la las le los nos por
    que son su sus te tu tus un una
    """
SMALL_WORDS = frozenset(_SMALL.split())
PHRASES: Mapping[str, str] = {
    "comotellamas": "nombre",
    "comosellama": "nombre",
    "howcanwehelp": "message",
    "howcanwehelpyou": "message",
    "enquepodemosayudarte": "mensaje",
    "enquetepodemosayudar": "mensaje",
    "comopodemosayudarte": "mensaje",
}
MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Question:
    """One answered question.  `hints` tell what it is about, the surest first; `long`: there was room for a text."""

    pointer: str
    title: str = field(repr=False)
    answer: str = field(repr=False)
    hints: tuple[str, ...] = ()
    long: bool = False


def answers(questions: Iterable[Question]) -> tuple[Leaf, ...]:
    """The answers under the names by which they are known; the first of each kind, the rest under their titles."""
    taken: set[str] = set()
    found: list[tuple[Question, Leaf]] = []
    for question in questions:
        known = _known_name(question)
        if known is None or FIELD_OF[folded(known)] in taken:
            known = question.title or next(iter(question.hints), "")
        else:
            taken.add(FIELD_OF[folded(known)])
        found.append((question, Leaf(question.pointer, known, question.answer)))
    return tuple(_with_message(found, taken))


def _known_name(question: Question) -> str | None:
    spoken = PHRASES.get(folded(question.title)) or _without_small_words(question.title)
    return next((name for name in (question.title, spoken, *question.hints) if folded(name) in FIELD_OF), None)


def _without_small_words(title: str) -> str:
    bare = "".join(char for char in unicodedata.normalize("NFKD", title) if not unicodedata.combining(char))
    return "".join(word for word in re.findall(r"[a-z0-9]+", bare.casefold()) if word not in SMALL_WORDS)


def _with_message(found: list[tuple[Question, Leaf]], taken: set[str]) -> Iterable[Leaf]:
    """Where nothing is called a message, the only long text is one."""
    long = [leaf for question, leaf in found if question.long and folded(leaf.label) not in FIELD_OF]
    for _, leaf in found:
        is_message = long == [leaf] and FIELD_OF[MESSAGE] not in taken
        yield replace(leaf, label=MESSAGE) if is_message else leaf
