"""OpnForm: the answers as `data.<field id>`, each with its question; the older `submission` holds them again.

A submission has no id unless the form lets it be edited: then `edit_link` is the same at each edit.  The link lets
anyone edit the answer, so only its digest is used.
Source: JhumanJ/OpnForm, AbstractIntegrationHandler::formatWebhookData @57dfb92.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources.base import Unreadable
from intake.sources.decoding import Json, identifier
from intake.sources.submission import FormTool, Submission, titled, under


@dataclass(frozen=True, slots=True)
class OpnForm(FormTool):
    """It waits 5 s and never tries again."""

    name: str = "opnform"

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        if not isinstance(body.get("data"), dict) and not isinstance(body.get("submission"), dict):
            raise Unreadable("no_answers", {"data": "must be an object"})
        link = identifier(body.get("edit_link"))
        return Submission(
            answers=titled(under(body, "/data/") or under(body, "/submission/")),
            request_id=hashlib.sha256(link.encode()).hexdigest()[:32] if link else None,
            on_change="update",
        )
