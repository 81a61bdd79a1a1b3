"""Tally: a list of fields, where a choice is the id of an option and must become its label.

`data.responseId` names the response; `eventId` may be another one on a retry.  Tick boxes stand twice, as a list and
then once per option.  Source: tally.so/help/webhooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from intake.sources.base import Unreadable
from intake.sources.decoding import Json, identifier, mapping, sequence, text
from intake.sources.leaves import leaves
from intake.sources.questions import Question, answers
from intake.sources.standard_webhooks import moment
from intake.sources.submission import FormTool, Submission, named, pointer

HINTS: Mapping[str, tuple[str, ...]] = {"INPUT_EMAIL": ("email",), "INPUT_PHONE_NUMBER": ("phone",)}
LONG = "TEXTAREA"


@dataclass(frozen=True, slots=True)
class Tally(FormTool):
    """`Tally-Signature` is base64 without a prefix, and only there if a secret was set."""

    name: str = "tally"

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission | None:  # noqa: ARG002
        if body.get("eventType") not in (None, "FORM_RESPONSE"):
            return None
        data = mapping(body.get("data"))
        if not isinstance(data.get("fields"), list):
            raise Unreadable("no_fields", {"data.fields": "must be a list"})
        response = identifier(data.get("responseId")) or identifier(data.get("submissionId"))
        return Submission(
            answers=answers(_questions(data)),
            request_id=named(text(data.get("formId")), response),
            occurred_at=moment(data.get("createdAt")),
        )


def _questions(data: dict[str, Json]) -> Iterator[Question]:
    asked = [mapping(field) for field in sequence(data.get("fields"))]
    doubles = frozenset(_doubles(asked))
    for index, field in enumerate(asked):
        if text(field.get("key")) not in doubles:
            resolved = {"label": text(field.get("label")) or "?", "value": _resolved(field)}
            place = pointer("data", "fields", str(index))
            kind = text(field.get("type")) or ""
            hints, long = HINTS.get(kind, ()), kind == LONG
            yield from (Question(place + leaf.pointer, leaf.label, leaf.text, hints, long) for leaf in leaves(resolved))


def _doubles(asked: Iterable[dict[str, Json]]) -> Iterator[str]:
    """The keys under which an option of another field stands once more, as true or false."""
    for field in asked:
        for option in sequence(field.get("options")):
            yield f"{text(field.get('key'))}_{text(mapping(option).get('id'))}"


def _resolved(field: dict[str, Json]) -> Json:
    """The value in words: labels instead of ids, and of a file its link."""
    value, labels = field.get("value"), _labels(field)
    match value:
        case dict():
            return {labels.get(row, row): _labelled(picked, labels) for row, picked in value.items()}
        case list():
            return [_labelled(mapping(each).get("url") or each, labels) for each in value]
        case _:
            return _labelled(value, labels)


def _labels(field: dict[str, Json]) -> dict[str, str]:
    """Option id -> its text; a matrix has rows and columns instead."""
    listed = (mapping(each) for kind in ("options", "rows", "columns") for each in sequence(field.get(kind)))
    return {key: label for each in listed if (key := text(each.get("id"))) and (label := text(each.get("text")))}


def _labelled(picked: Json, labels: Mapping[str, str]) -> Json:
    match picked:
        case list():
            return [_labelled(each, labels) for each in picked]
        case str():
            return labels.get(picked, picked)
        case _:
            return picked
