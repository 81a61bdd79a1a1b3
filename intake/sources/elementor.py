"""Elementor Pro's form action "Webhook": urlencoded, in two shapes, by its setting "Advanced Data".

On: `fields[x][title|value|type]` beside `form[...]` and `meta[...]`; the form's name is nobody's name.  Off: labels in
any language, with the metadata behind them.  There is no id and no signature: identity is made of the answers, without
the metadata, whose time differs between two tries of one visitor.
Source: elementor/elementor issues #27399 (labels), #35572 (two tries).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from intake.sources.base import Delivered
from intake.sources.brackets import nested
from intake.sources.decoding import Decoded, Json, mapping, text
from intake.sources.leaves import MAX_LEAVES, Leaf, folded, leaves
from intake.sources.questions import Question, answers
from intake.sources.submission import URLENCODED, FormTool, Submission, pointer

# Types of field that no visitor writes into.
NOT_WRITTEN = frozenset({"recaptcha", "recaptcha_v3", "honeypot", "html", "step", "password"})
# Labels that Elementor gives to its metadata, in the languages of its Spanish, Portuguese and English sites.
TIMES = frozenset({"date", "fecha", "data", "time", "hora"})
TECHNICAL = frozenset({
    "pageurl", "urldelapagina", "urldapagina", "useragent", "agentedeusuario", "agentedousuario", "remoteip",
    "ipremota", "ipremoto", "poweredby", "desarrolladopor", "funcionagraciasa", "desenvolvidopor",
})  # fmt: skip
NO_LABEL = "No Label "


@dataclass(frozen=True, slots=True)
class Elementor(FormTool):
    """One delivery is one submission.  Only 200 pleases the sender; on anything else the visitor sees an error."""

    name: str = "elementor"
    content_types: frozenset[str] = frozenset({URLENCODED})

    def decoded(self, delivered: Delivered) -> Decoded:
        # By name: `super()` without arguments does not find a slotted dataclass.
        flat = FormTool.decoded(self, delivered)
        fields = mapping(flat.value)
        advanced = any(name.startswith("fields[") for name in fields)
        return Decoded(nested(fields), flat.charset_guessed) if advanced else flat

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        advanced = isinstance(body.get("fields"), (dict, list))
        written = answers(islice(_advanced(body) if advanced else _simple(body), MAX_LEAVES))
        name = text(mapping(body.get("form")).get("name")) or text(body.get("form_name"))
        # The form's name tells two forms apart; it is the site's word and makes no lead by itself.
        form = (Leaf("/form/name", "formulario", name),) if name and written else ()
        return Submission((*written, *form))


def _advanced(body: dict[str, Json]) -> Iterator[Question]:
    for name, field in _members(body.get("fields")):
        kind = text(field.get("type")) or ""
        answer = _joined(field.get("value")) or _joined(field.get("raw_value"))
        if answer and kind not in NOT_WRITTEN:
            hints = (text(field.get("id")) or name, kind)
            yield Question(
                pointer("fields", name, "value"), text(field.get("title")) or "", answer, hints, kind == "textarea"
            )


def _members(fields: Json) -> list[tuple[str, dict[str, Json]]]:
    """Fields by their ids; ids that count from 0 make a list of them."""
    named = fields.items() if isinstance(fields, dict) else enumerate(fields if isinstance(fields, list) else [])
    return [(str(name), mapping(field)) for name, field in named]


def _joined(value: Json) -> str | None:
    return ", ".join(leaf.text for leaf in leaves(value)) or None


def _simple(body: dict[str, Json]) -> Iterator[Question]:
    labels = [label for label in body if label not in ("form_id", "form_name")]
    for label in labels[: len(labels) - _metadata(labels)]:
        if answer := _joined(body[label]):
            # An empty label comes as "No Label field_ab12" (elementor #27399).
            yield Question(pointer(label), label, answer, (label.removeprefix(NO_LABEL),))


def _metadata(labels: list[str]) -> int:
    """How many labels at the end are Elementor's own.  A date and a time alone may be what the visitor asked for."""
    keys = [folded(label) for label in labels]
    count = next((n for n, key in enumerate(reversed(keys)) if key not in TIMES | TECHNICAL), len(keys))
    return count if TECHNICAL & set(keys[len(keys) - count :]) else 0
