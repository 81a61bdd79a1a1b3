"""Wufoo: `Field1`, `Field2`..., whose titles are in `FieldStructure` if the hook includes the structures.

`EntryId` counts per form, so the form is part of the key.  `HandshakeKey` in the body is the source's secret.
Source: help.wufoo.com, "Webhooks".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from intake.sources.base import Delivered, Unreadable
from intake.sources.decoding import Decoded, Json, identifier, mapping, read_json, sequence, text
from intake.sources.questions import Question, answers
from intake.sources.scrubbing import without
from intake.sources.submission import URLENCODED, FormTool, Submission, named, pointer, read_body

SECRET = "HandshakeKey"  # noqa: S105  the name of the field, not its value
STRUCTURES = ("FieldStructure", "FormStructure")
# A file's name comes beside its link, `Field7` and `Field7-url`.
ANSWER = re.compile(r"Field\d+(-url)?")
NAMES = frozenset({"shortname", "name"})
HINTS: Mapping[str, str] = {"shortname": "name", "name": "name", "email": "email", "phone": "phone"}
LONG = "textarea"


@dataclass(frozen=True, slots=True)
class Wufoo(FormTool):
    """One delivery is one entry."""

    name: str = "wufoo"
    content_types: frozenset[str] = frozenset({URLENCODED})

    def decoded(self, delivered: Delivered) -> Decoded:
        outer = read_body(delivered)
        fields = mapping(outer.value)
        return Decoded(fields | {name: _structure(fields.get(name)) for name in STRUCTURES}, outer.charset_guessed)

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        entry = identifier(body.get("EntryId"))
        return Submission(
            answers=answers(_questions(body)),
            request_id=named(_form(body), entry),
        )

    def scrub(self, body: bytes) -> bytes:
        return without(body, SECRET)


def _structure(written: Json) -> Json:
    try:
        return read_json((text(written) or "").encode()).value
    except Unreadable:
        return None


def _form(body: dict[str, Json]) -> str:
    """The form's hash, else what tells two forms apart without it: the fields that they have, blank ones included."""
    named = text(mapping(body.get("FormStructure")).get("Hash"))
    fields = ",".join(sorted(name for name in body if ANSWER.fullmatch(name)))
    return named or "fields-" + hashlib.sha256(fields.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question; a name or address is asked in several fields, which are one answer."""

    title: str
    ids: tuple[str, ...]
    kind: str = ""

    def question(self, body: dict[str, Json]) -> Question | None:
        """None: nothing was written."""
        written = [answer for name in self.ids if (answer := text(body.get(name)))]
        if not written:
            return None
        by = " " if self.kind in NAMES else ", "
        hints = (HINTS[self.kind],) if self.kind in HINTS else ()
        return Question(pointer(self.ids[0]), self.title, by.join(written), hints, long=self.kind == LONG)


def _questions(body: dict[str, Json]) -> Iterator[Question]:
    asked = tuple(_asked(body))
    titled = {name for each in asked for name in each.ids}
    untitled = (_Asked(name, (name,)) for name in body if ANSWER.fullmatch(name) and name not in titled)
    for each in (*asked, *untitled):
        if question := each.question(body):
            yield question


def _asked(body: dict[str, Json]) -> Iterator[_Asked]:
    for each in sequence(mapping(body.get("FieldStructure")).get("Fields")):
        field = mapping(each)
        parts = [mapping(part) for part in sequence(field.get("SubFields"))] or [field]
        ids = tuple(name for part in parts if (name := text(part.get("ID"))) and ANSWER.fullmatch(name))
        if ids:
            yield _Asked(text(field.get("Title")) or ids[0], ids, text(field.get("Type")) or "")
