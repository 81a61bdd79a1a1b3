"""WPForms' add-on "Webhooks": JSON or urlencoded, under the names that the site's owner mapped.

In FORM format it signs PHP's JSON of the fields and sends something else; both are checked.  It is sent by a background
task, once.  Several choices of one question come joined by `||`.
Source: WPForms webhooks add-on, src/Process.php.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from intake.sources.decoding import Json, identifier, text
from intake.sources.leaves import Leaf, folded, leaves
from intake.sources.submission import JSON, URLENCODED, FormTool, Submission, named

ENTRY, FORM = "entryid", "formid"


@dataclass(frozen=True, slots=True)
class WPForms(FormTool):
    """One delivery is one submission.  It has an id only where the owner mapped `entry_id`."""

    name: str = "wpforms"
    content_types: frozenset[str] = frozenset({JSON, URLENCODED})

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        return Submission(tuple(_choices(leaf) for leaf in leaves(body)), _entry(body))


def _choices(leaf: Leaf) -> Leaf:
    return replace(leaf, text=", ".join(choice.strip() for choice in leaf.text.split("||")))


def _entry(body: dict[str, Json]) -> str | None:
    """None: not mapped, or the 0 that the tag gives where a site stores no entries."""
    mapped = {folded(name): value for name, value in body.items()}
    entry, form = identifier(mapped.get(ENTRY)), text(mapped.get(FORM))
    return named(form, entry) if form else entry
