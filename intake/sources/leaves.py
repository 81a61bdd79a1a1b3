"""A decoded body as a flat list of answers: where each stands, what its question is called, and its text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from intake.sources.decoding import Json, text
from intake.sources.known_names import FIELD_OF

# The longest form that we know has about a hundred questions.
MAX_LEAVES = 1000
# Form tools write an answer as an object: its question under one of these names, the answer under one of the others.
QUESTION_KEYS = ("label", "title", "question", "name", "key")
VALUE_KEYS = ("value", "values", "answer", "response")
# Who holds one of these is a person, and no pair of question and answer.
OF_A_PERSON = frozenset({"email", "phone", "first_name", "last_name", "company", "document"})


@dataclass(frozen=True, slots=True)
class Leaf:
    """One answer.  `pointer` is its JSON Pointer (RFC 6901), `label` what stands nearest to it as a name."""

    pointer: str
    label: str = field(repr=False)
    text: str = field(repr=False)

    @property
    def key(self) -> str:
        return folded(self.label)

    @property
    def names(self) -> tuple[str, ...]:
        """What it may be known by, the most telling first: `company.name` is a company before it is a name.

        () for a member of a list of objects: the name of an item is nobody's name.
        """
        path = self.pointer.split("/")
        if path[-1] not in VALUE_KEYS and any(part.isdigit() for part in path):
            return ()
        return (folded(path[-2] + self.label), self.key) if len(path) > 2 else (self.key,)  # noqa: PLR2004  "", parent, own


def leaves(value: Json) -> tuple[Leaf, ...]:
    """The answers in their order, blanks left out; the first MAX_LEAVES of them."""
    return tuple(islice(_leaves(value, "", ""), MAX_LEAVES))


def folded(label: str) -> str:
    """A label without case, accents, blanks and punctuation: `Correo electrónico` and `correo_electronico` are one."""
    bare = unicodedata.normalize("NFKD", label).casefold()
    return bare if bare.isalnum() else "".join(filter(str.isalnum, bare))


def words(label: str) -> frozenset[str]:
    return frozenset(in_order(label))


def in_order(text: str) -> list[str]:
    """The words of a text without case and accents."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return re.findall(r"[a-z0-9]+", bare.casefold())


def _leaves(value: Json, pointer: str, label: str) -> Iterator[Leaf]:
    match value:
        case dict():
            yield from _members(value, pointer)
        case list():
            yield from _elements(value, pointer, label)
        case _:
            answer = _written(value)
            if answer is not None:
                yield Leaf(pointer, label, answer)


def _members(members: dict[str, Json], pointer: str) -> Iterator[Leaf]:
    # At the top of a body these are a visitor's own answers, unless there is nothing else.
    if (pair := _pair(members)) and (pointer or len(members) == len(pair)):
        question, name = pair
        yield from _leaves(members[name], f"{pointer}/{name}", question)
        return
    for name, value in members.items():
        yield from _leaves(value, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}", name)


def is_answer(members: dict[str, Json]) -> bool:
    """Whether this is an answer with its question, and no person or thing with members of its own."""
    return _pair(members) is not None


def _pair(members: dict[str, Json]) -> tuple[str, str] | None:
    """The question of an answer, and the name under which the answer stands; None: these are members as any."""
    question = next((asked for key in QUESTION_KEYS if (asked := text(members.get(key)))), None)
    name = next((key for key in VALUE_KEYS if key in members), None)
    if question is None or name is None or any(FIELD_OF.get(folded(key)) in OF_A_PERSON for key in members):
        return None
    # What is called an answer may be the list of all answers, under the title of their form.
    return (question, name) if name == "value" or _is_plain(members[name]) else None


def _is_plain(value: Json) -> bool:
    elements = value if isinstance(value, list) else [value]
    return not any(isinstance(element, (dict, list)) for element in elements)


def _elements(elements: list[Json], pointer: str, label: str) -> Iterator[Leaf]:
    """A list of plain answers is one answer (several boxes ticked); anything else is as many as it holds."""
    plain = [written for element in elements if (written := _written(element)) is not None]
    if plain and _is_plain(elements):
        yield Leaf(pointer, label, ", ".join(plain))
        return
    for index, element in enumerate(elements):
        yield from _leaves(element, f"{pointer}/{index}", label)


def _written(value: Json) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return text(value)
