"""Netlify Forms: the answers by the names of their inputs in `data`, with the visitor's address and browser among them.

`ordered_human_fields` holds the same answers again.  Source: docs.netlify.com, "Form submissions".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources.base import Unreadable
from intake.sources.decoding import Json, identifier
from intake.sources.standard_webhooks import moment
from intake.sources.submission import FormTool, Submission, under

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
            answers=tuple(leaf for leaf in under(body, "/data/") if leaf.pointer not in ADDED),
            request_id=identifier(body.get("id")),
            occurred_at=moment(body.get("created_at")),
        )
