"""Ninja Forms: the owner's names for the answers, as a form, as JSON, or as JSON in one field of a form.

No id, no signature, no second try.  Source: Ninja Forms Webhooks add-on, SotWebhooks.php.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources.base import Delivered
from intake.sources.decoding import Decoded, Json
from intake.sources.opening import opened
from intake.sources.submission import JSON, URLENCODED, FormTool, Submission, read_body, under


@dataclass(frozen=True, slots=True)
class NinjaForms(FormTool):
    """The token is in the URL: the add-on has no headers to set."""

    name: str = "ninja_forms"
    content_types: frozenset[str] = frozenset({JSON, URLENCODED})

    def decoded(self, delivered: Delivered) -> Decoded:
        return opened(read_body(delivered))

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        return Submission(under(body, "/"))
