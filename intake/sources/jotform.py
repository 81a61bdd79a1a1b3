"""Jotform: a form body with the answers as a JSON text in its part `rawRequest`, under `q<number>_<name>`.

Texts in it hold HTML entities, unescaped once.  `pretty` is the same with losses.  `submissionID` has 19 digits, more
than a float keeps: text only.  Source: api-evangelist/jotform, asyncapi @a3f23e9, and public captures.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from intake.sources.base import Delivered, Unreadable
from intake.sources.compound import one_text
from intake.sources.decoding import Decoded, Json, identifier, mapping, read_json, text
from intake.sources.leaves import Leaf, leaves
from intake.sources.multipart import MEDIA_TYPE as MULTIPART
from intake.sources.submission import URLENCODED, FormTool, Submission, named, pointer, read_body

ANSWERS = "rawRequest"
# Everything else in rawRequest is about the page, the browser and the spam check.
QUESTION = re.compile(r"q\d+_(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Jotform(FormTool):
    """Nothing is signed: the token is in the URL."""

    name: str = "jotform"
    content_types: frozenset[str] = frozenset({MULTIPART, URLENCODED})

    def decoded(self, delivered: Delivered) -> Decoded:
        outer = read_body(delivered)
        fields = mapping(outer.value)
        inner = read_json((text(fields.get(ANSWERS)) or "").encode())
        return Decoded({**fields, ANSWERS: inner.value}, outer.charset_guessed)

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        if not isinstance(body[ANSWERS], dict):
            raise Unreadable("no_answers", {ANSWERS: "must be an object"})
        form_id, submission_id = text(body.get("formID")), identifier(body.get("submissionID"))
        return Submission(
            answers=tuple(_answers(mapping(body[ANSWERS]))),
            request_id=named(form_id, submission_id),
        )


def _answers(request: dict[str, Json]) -> Iterator[Leaf]:
    for key, value in request.items():
        question = QUESTION.fullmatch(key)
        if question is None:
            continue
        place, whole = pointer(ANSWERS, key), one_text(value)
        parts = (Leaf("", "", whole),) if whole else leaves(value)
        for part in parts:
            if answer := html.unescape(part.text).strip():
                yield Leaf(place + part.pointer, f"{question[1]} {part.label}".strip(), answer)
