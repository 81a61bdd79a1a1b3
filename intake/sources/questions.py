"""Answers of form tools that tell more about a question than its title: an id, a reference, a type.

People word their questions freely ("What's your email address?"), so a field is recognised by the first of title,
title without its small words, id and type that is a well-known name.  Everything keeps its own title otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from intake.sources.known_names import FIELD_OF
from intake.sources.leaves import Leaf, folded, in_order

# What remains of a spoken question without these is often a well-known name.
_SMALL = """
    a an are can could do enter have here how i is may me my optional please required s tell the to us we what whats you
    your
    aqui cual danos dejanos dinos el en es escribe escribenos favor indica indicanos ingresa ingrese la las le los nos
    obligatoria obligatorio opcional por que requerido son su sus te tu tus un una
    digite e informe o os qual seu sua
    """
SMALL_WORDS = frozenset(_SMALL.split())
E_MAIL = re.compile(r"\be[\s-]mail", re.IGNORECASE)
JOINING_WORDS = frozenset({"and", "de", "del", "do", "nro", "number", "numero", "of", "or", "ou", "u", "y"})
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
    return next(
        (name for name in (question.title, spoken(question.title), *question.hints) if folded(name) in FIELD_OF), None
    )


def spoken(title: str) -> str:
    """What a question is about, without its small words; it may be a well-known name."""
    if phrase := PHRASES.get(folded(title)):
        return phrase
    said = in_order(E_MAIL.sub("email", title))
    whole = "".join(word for word in said if word not in SMALL_WORDS)
    # `Mensaje / Consulta` and `Número de celular o WhatsApp` ask for one thing under several names.
    named = [word for word in said if word not in SMALL_WORDS | JOINING_WORDS]
    about = {FIELD_OF.get(word) for word in named}
    return named[0] if whole not in FIELD_OF and len(about) == 1 and None not in about else whole


def _with_message(found: list[tuple[Question, Leaf]], taken: set[str]) -> Iterable[Leaf]:
    """Where nothing is called a message, the only long text is one."""
    long = [leaf for question, leaf in found if question.long and folded(leaf.label) not in FIELD_OF]
    for _, leaf in found:
        is_message = long == [leaf] and FIELD_OF[MESSAGE] not in taken
        yield replace(leaf, label=MESSAGE) if is_message else leaf
