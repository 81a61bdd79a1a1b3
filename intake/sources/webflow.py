"""Webflow: the answers by their labels in `payload.data`; `payload.id` is not in every shape.

A number field comes as a JSON number, so a phone has lost its plus and its leading zeros: what is left is read as it
stands.  Source: developers.webflow.com, "Form submission" and "Working with Webhooks".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources.base import Unreadable
from intake.sources.decoding import Json, identifier, mapping
from intake.sources.standard_webhooks import moment
from intake.sources.submission import FormTool, Submission, titled, under


@dataclass(frozen=True, slots=True)
class Webflow(FormTool):
    """Only hooks made by API are signed; those of the dashboard carry a token in their URL."""

    name: str = "webflow"

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission | None:  # noqa: ARG002
        if body.get("triggerType") not in (None, "form_submission"):
            return None
        # The older API sent the payload without an envelope, and its id as `_id`.
        enveloped = isinstance(body.get("payload"), dict)
        payload = mapping(body.get("payload")) if enveloped else body
        if not isinstance(payload.get("data"), dict):
            raise Unreadable("no_answers", {"payload.data": "must be an object"})
        return Submission(
            answers=titled(under(body, "/payload/data/" if enveloped else "/data/")),
            request_id=identifier(payload.get("id")) or identifier(payload.get("_id")),
            occurred_at=moment(payload.get("submittedAt")),
        )
