"""Fluent Forms Pro: all fields with `__submission` beside them, or only those that the owner chose, without any id.

As a form the names are PHP's (`names[first_name]`, `services[0]`).  Names that begin with an underscore are the
plugin's.  `created_at` has no zone, so it says no moment.  Source: Fluent Forms Pro, NotifyTrait.php.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources import brackets
from intake.sources.base import Delivered
from intake.sources.decoding import Decoded, Json, identifier, mapping, text
from intake.sources.leaves import Leaf
from intake.sources.submission import JSON, URLENCODED, FormTool, Submission, named, read_body, under


@dataclass(frozen=True, slots=True)
class FluentForms(FormTool):
    """Form and entry are counted per site: one source per site."""

    name: str = "fluent_forms"
    content_types: frozenset[str] = frozenset({JSON, URLENCODED})

    def decoded(self, delivered: Delivered) -> Decoded:
        outer = read_body(delivered)
        return Decoded(brackets.nested(outer.value), outer.charset_guessed) if isinstance(outer.value, dict) else outer

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        entry = mapping(body.get("__submission"))
        form_id, entry_id = text(entry.get("form_id")), identifier(entry.get("id"))
        return Submission(
            answers=tuple(leaf for leaf in under(body, "/") if _is_answer(leaf)),
            request_id=named(form_id, entry_id) if form_id else None,
        )


def _is_answer(leaf: Leaf) -> bool:
    return not leaf.pointer.startswith("/_")
