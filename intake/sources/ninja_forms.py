"""Ninja Forms: the owner's names for the answers, as a form, as JSON, or as JSON in one field of a form.

No id, no signature, no second try.  Source: Ninja Forms Webhooks add-on, SotWebhooks.php.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources import brackets
from intake.sources.base import Delivered, Unreadable
from intake.sources.decoding import Decoded, Json, mapping, read_json
from intake.sources.submission import JSON, URLENCODED, FormTool, Submission, read_body, under


@dataclass(frozen=True, slots=True)
class NinjaForms(FormTool):
    """The token is in the URL: the add-on has no headers to set."""

    name: str = "ninja_forms"
    content_types: frozenset[str] = frozenset({JSON, URLENCODED})

    def decoded(self, delivered: Delivered) -> Decoded:
        outer = read_body(delivered)
        fields = mapping(outer.value)
        if len(fields) != 1:
            return Decoded(brackets.nested(fields), outer.charset_guessed)
        return _in_one_field(fields) or outer

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        return Submission(under(body, "/"))


def _in_one_field(fields: dict[str, Json]) -> Decoded | None:
    """The JSON object that the only field holds; None: it holds an answer."""
    (only,) = fields.values()
    if not isinstance(only, str) or not only.lstrip().startswith("{"):
        return None
    try:
        return read_json(only.encode())
    except Unreadable:
        return None
