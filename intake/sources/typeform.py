"""Typeform: an answer names its question only by id, so both lists are joined.

The token of the response is signed and the same on every try; a partial response has the token of the whole one that
follows, so it is an update.  The sender must never see a 404 or 410: it would switch the webhook off.
Source: Typeform, "Webhooks" and "Secure your webhooks" (developers site).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from intake.sources.base import Unreadable, Update
from intake.sources.decoding import Json, identifier, mapping, sequence, text
from intake.sources.leaves import Leaf, leaves
from intake.sources.questions import Question, answers
from intake.sources.standard_webhooks import moment
from intake.sources.submission import FormTool, Submission, named, pointer, under

HIDDEN = "/form_response/hidden/"
# A title may quote an earlier answer: `{{field:ref}}`, in older forms `{{answer_123}}`.
PIPED = re.compile(r"\{\{(?:field:)?([^{}]*)\}\}")


@dataclass(frozen=True, slots=True)
class Typeform(FormTool):
    """One delivery is one response.  An answer's pointer is `/answers/<reference, else id>/value`."""

    name: str = "typeform"

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission | Update:  # noqa: ARG002
        response, kind = mapping(body.get("form_response")), text(body.get("event_type"))
        if not response:
            raise Unreadable("not_a_response", {"form_response": "is required"})
        form, token = text(response.get("form_id")), identifier(response.get("token"))
        request_id = named(form, token) if form else None
        if kind == "form_response_partial":
            return Update(request_id, "partial")
        if kind != "form_response":
            raise Unreadable("unknown_event", {"event_type": "must be form_response"})
        written = (*answers(_questions(response)), *under(body, HIDDEN))
        return Submission(written, request_id, moment(response.get("submitted_at")))


@dataclass(frozen=True, slots=True)
class _Given:
    """An answer before it is joined with its question."""

    field_id: str
    reference: str
    kind: str
    answer: str = field(repr=False)


def _questions(response: dict[str, Json]) -> Iterator[Question]:
    asked = dict(_asked(mapping(response.get("definition")).get("fields")))
    given = [one for answer in sequence(response.get("answers")) if (one := _given(mapping(answer)))]
    quoted = {name: one.answer for one in given for name in (one.reference, one.field_id) if name}
    for one in given:
        question = asked.get(one.field_id) or asked.get(one.reference) or {}
        reference = one.reference or text(question.get("ref")) or ""
        title = PIPED.sub(lambda match: quoted.get(match[1], "…"), text(question.get("title")) or "")
        where = pointer("answers", reference or one.field_id, "value")
        yield Question(where, title or reference, one.answer, (reference, one.kind), one.kind == "long_text")


def _asked(fields: Json) -> Iterator[tuple[str, dict[str, Json]]]:
    """The questions by id and by reference, those of groups too."""
    for question in (mapping(one) for one in sequence(fields)):
        yield from ((name, question) for key in ("ref", "id") if (name := text(question.get(key))))
        yield from _asked(mapping(question.get("properties")).get("fields"))


def _given(answer: dict[str, Json]) -> _Given | None:
    """The value stands under the name of its type; of a choice its label counts, and what was typed as "other"."""
    about, value = mapping(answer.get("field")), answer.get(text(answer.get("type")) or "")
    written = ", ".join(leaf.text for leaf in _labels(value))
    if not written:
        return None
    kind = text(about.get("type")) or ""
    return _Given(text(about.get("id")) or "", text(about.get("ref")) or "", kind, written)


def _labels(value: Json) -> tuple[Leaf, ...]:
    chosen = mapping(value)
    shown: list[Json] = [chosen[key] for key in ("label", "labels", "other") if key in chosen]
    return leaves(shown) if shown else leaves(value)
