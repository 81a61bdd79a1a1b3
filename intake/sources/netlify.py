"""Netlify Forms: the answers by the names of their inputs in `data`, with the visitor's address and browser among them.

`ordered_human_fields` holds the same answers again, with what the page calls them.
Source: docs.netlify.com, "Form submissions".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from intake.sources.base import Unreadable
from intake.sources.decoding import Json, identifier, mapping, sequence, text
from intake.sources.questions import Question, answers
from intake.sources.standard_webhooks import moment
from intake.sources.submission import FormTool, Submission, pointer, under

# Netlify adds these to what the visitor wrote.
ADDED = frozenset({"/data/ip", "/data/user_agent", "/data/referrer"})


@dataclass(frozen=True, slots=True)
class Netlify(FormTool):
    """Signed by a JWS where a "JWS secret token" was set; else a token in the URL is the proof."""

    name: str = "netlify"

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        if not isinstance(body.get("data"), dict):
            raise Unreadable("no_answers", {"data": "must be an object"})
        return Submission(
            answers=answers(_questions(body)),
            request_id=identifier(body.get("id")),
            occurred_at=moment(body.get("created_at")),
        )


def _questions(body: dict[str, Json]) -> Iterator[Question]:
    """An input may be called `field-3` where the page says "Celular"; captured titles end in a new line."""
    named = (mapping(one) for one in sequence(body.get("ordered_human_fields")))
    titles = {pointer("data", text(one.get("name")) or ""): text(one.get("title")) for one in named}
    for leaf in under(body, "/data/"):
        if leaf.pointer not in ADDED:
            yield Question(leaf.pointer, (titles.get(leaf.pointer) or leaf.label).strip(), leaf.text, (leaf.label,))
