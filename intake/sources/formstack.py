"""Formstack: the answers by their labels, as a form or as JSON; `UniqueID` names the submission.

Of two fields with one label only the last is sent.  A shared secret comes as `HandshakeKey` in the body, the better
"HMAC key" never does.  Source: help.formstack.com, "Webhooks"; hookdeck/webhook-skills @4cc57d7, formstack-webhooks
(deliveries as they were captured).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from intake.sources import brackets
from intake.sources.base import Delivered
from intake.sources.compound import one_text
from intake.sources.decoding import Decoded, Json, identifier, mapping, text
from intake.sources.leaves import MAX_LEAVES, Leaf, leaves
from intake.sources.scrubbing import without
from intake.sources.submission import JSON, URLENCODED, FormTool, Submission, pointer, read_body, titled

SECRET = "HandshakeKey"  # noqa: S105  the name of the field, not its value
OURS = frozenset({"FormID", "UniqueID", SECRET})


@dataclass(frozen=True, slots=True)
class Formstack(FormTool):
    """Signed where the webhook has an HMAC key; else its shared secret or a token in the URL is the proof."""

    name: str = "formstack"
    content_types: frozenset[str] = frozenset({JSON, URLENCODED})

    def decoded(self, delivered: Delivered) -> Decoded:
        outer = read_body(delivered)
        return Decoded(brackets.nested(outer.value), outer.charset_guessed) if isinstance(outer.value, dict) else outer

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        form_id, unique = text(body.get("FormID")), identifier(body.get("UniqueID"))
        return Submission(
            answers=titled(islice(_answers(body), MAX_LEAVES)),
            request_id=f"{form_id or ''}:{unique}" if unique else None,
        )

    def scrub(self, body: bytes) -> bytes:
        return without(body, SECRET)


def _answers(body: dict[str, Json]) -> Iterator[Leaf]:
    for label, given in body.items():
        if label in OURS:
            continue
        # With "field types" on, an answer is an object of its value and its type.
        typed = isinstance(given, dict) and "value" in given and "field_type" in given
        value, place = (mapping(given)["value"], pointer(label, "value")) if typed else (given, pointer(label))
        if whole := one_text(value):
            yield Leaf(place, label, whole)
        else:
            yield from (Leaf(place + leaf.pointer, leaf.label or label, leaf.text) for leaf in leaves(value))
