"""A company's own web form, sent by the visitor's browser: by our snippet as JSON, or by the form itself.

Nothing is signed, because whatever a page holds, everybody can read.  The snippet's `Idempotency-Key` names a
submission; the form itself sends none, and identity is made of its answers within a window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources.base import Delivered
from intake.sources.decoding import Decoded, Json, text
from intake.sources.leaves import leaves
from intake.sources.multipart import MEDIA_TYPE as MULTIPART
from intake.sources.opening import opened
from intake.sources.submission import JSON, URLENCODED, FormTool, Submission, read_body, titled

# A field that no person sees, and many robots fill in.  A browser that fills forms by itself might too: so what has it
# is held for a person, never dropped.  The snippet knows the name, and so may a page's own HTML.
HONEYPOT = "intake_homepage"


@dataclass(frozen=True, slots=True)
class WebSnippet(FormTool):
    """One delivery is one submission.  `text/plain`, which a page may send across sites unasked, is not taken."""

    name: str = "web_snippet"
    content_types: frozenset[str] = frozenset({JSON, URLENCODED, MULTIPART})

    def decoded(self, delivered: Delivered) -> Decoded:
        return opened(read_body(delivered))

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        answers = {name: value for name, value in body.items() if name != HONEYPOT}
        trapped = HONEYPOT in body and text(body[HONEYPOT]) is not None
        return Submission(titled(leaves(answers)), suspicion="honeypot" if trapped else None)
