"""Formspree: the answers by the names of their inputs, in `submission` or bare.

The body is documented nowhere: the shape is what public receivers read, and no id was seen in it.  Names that begin
with an underscore are settings of Formspree, except an address to reply to and a subject.
Source: help.formspree.io, "Verify webhook signatures" (28 Feb 2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources.decoding import Json, mapping
from intake.sources.standard_webhooks import moment
from intake.sources.submission import FormTool, Submission, under

WRITTEN = ("_replyto", "_subject")


@dataclass(frozen=True, slots=True)
class Formspree(FormTool):
    """Its "simple webhook".  The other type, "REST hook", asks for a handshake first and is not spoken here."""

    name: str = "formspree"

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        wrapped = isinstance(body.get("submission"), dict)
        place, fields = ("/submission/", mapping(body.get("submission"))) if wrapped else ("/", body)
        answers = under(body, place)
        return Submission(
            answers=tuple(leaf for leaf in answers if not leaf.label.startswith("_") or leaf.label in WRITTEN),
            occurred_at=moment(fields.get("_date")),
        )
