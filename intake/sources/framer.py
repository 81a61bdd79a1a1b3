"""Framer: the answers by the names of their inputs; the submission's id is in a signed header alone.

Source: framer.com/help, "Connect Framer forms to a webhook".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources.decoding import Json, identifier
from intake.sources.submission import FormTool, Submission, titled, under

ID_HEADER = "framer-webhook-submission-id"


@dataclass(frozen=True, slots=True)
class Framer(FormTool):
    """`Framer-Signature` covers the body and the id behind it."""

    name: str = "framer"

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:
        return Submission(titled(under(body, "/")), identifier(headers.get(ID_HEADER)))
