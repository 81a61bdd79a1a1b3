"""Formspree: the answers by the names of their inputs, in `submission` or bare.

The body is documented nowhere: the shape is what public receivers read, and no id was seen in it.  Names that begin
with an underscore are settings of Formspree, except an address to reply to and a subject.
Source: help.formspree.io, "Verify webhook signatures" (28 Feb 2026) and "Webhooks" (its handshake).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources.base import Unreadable
from intake.sources.decoding import Json, mapping, read_json
from intake.sources.leaves import leaves
from intake.sources.standard_webhooks import moment
from intake.sources.submission import FormTool, Submission, under

WRITTEN = ("_replyto", "_subject")
# resthooks.org, "Security": the receiver's "yes, I want these" is the header itself, in its answer.
HOOK_SECRET = "x-hook-secret"  # noqa: S105  the name of the header, not its value
ECHOED = re.compile(r"[A-Za-z0-9._~+/=-]{1,200}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Formspree(FormTool):
    """Its "simple webhook", or its "REST hook", which asks once for a header to be sent back before it begins."""

    name: str = "formspree"

    def echoed(self, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        """Who sends answers is no set-up call, whatever headers come with them."""
        secret = headers.get(HOOK_SECRET, "")
        return {"X-Hook-Secret": secret} if ECHOED.fullmatch(secret) and not _answered(body) else {}

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        wrapped = isinstance(body.get("submission"), dict)
        place, fields = ("/submission/", mapping(body.get("submission"))) if wrapped else ("/", body)
        answers = under(body, place)
        return Submission(
            answers=tuple(leaf for leaf in answers if not leaf.label.startswith("_") or leaf.label in WRITTEN),
            occurred_at=moment(fields.get("_date")),
        )


def _answered(body: bytes) -> bool:
    try:
        return bool(body.strip()) and bool(leaves(read_json(body).value))
    except Unreadable:
        return True
