"""Contact Form 7 with "CF7 to Webhook" (mariovalney/cf7-to-zapier): JSON of the form's tags.

A custom body is filled by plain text replacement, so a quote mark in a message makes broken JSON, sent as text/plain:
it is the visitor's only copy, and is kept for a person.  There is no id and no signature.
Source: cf7-to-zapier, modules/zapier/class-module-zapier.php.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources.decoding import Json
from intake.sources.leaves import Leaf, leaves
from intake.sources.questions import Question, answers
from intake.sources.submission import FormTool, Submission

# `_wpcf7`, `_wpcf7_unit_tag`, `_wpnonce`...: the plugin's own fields.
OWN = "/_wp"
# Contact Form 7 names a tag after its type and a number, unless its owner says otherwise: `tel-123`, `textarea-4`.
NUMBER = re.compile(r"-[0-9]+$")


@dataclass(frozen=True, slots=True)
class ContactForm7(FormTool):
    """One delivery is one submission, under whatever content type."""

    name: str = "cf7"
    content_types: frozenset[str] = frozenset()

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        written = (leaf for leaf in leaves(body) if not leaf.pointer.startswith(OWN))
        return Submission(answers(_question(leaf) for leaf in written))


def _question(leaf: Leaf) -> Question:
    tag = NUMBER.sub("", leaf.label)
    hints = (tag, "consent") if tag == "acceptance" else (tag,)
    return Question(leaf.pointer, leaf.label, leaf.text, hints, long=tag == "textarea")
