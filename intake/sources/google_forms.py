"""Google Forms: no webhook of its own; a script of the form's owner posts what `onFormSubmit` gave it.

    {"formId": "...", "responseId": "...", "namedValues": {"Nombre": ["Ana"], ...}}

The trigger can fire a second time with every answer empty (google-forms-to-slack, issue 6): that is nobody's lead.
Source: developers.google.com/apps-script/reference/forms/form-response; `e.response.getId()` is the stable id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intake.sources.decoding import Json, identifier, text
from intake.sources.leaves import Leaf, folded
from intake.sources.standard_webhooks import moment
from intake.sources.submission import JSON, URLENCODED, FormTool, Submission, named, titled, under

# The sheet's own column, in the languages of its owner: a time is no answer, and the empty second event has one too.
STAMPS = frozenset({"timestamp", "marcatemporal", "marcadetempo", "carimbodedatahora", "horodateur", "zeitstempel"})
IDS = frozenset({"responseid", "formid", "formtitle", "formname", "formurl", "editurl", "triggeruid", "authmode"})


@dataclass(frozen=True, slots=True)
class GoogleForms(FormTool):
    """The script carries the token.  An answer that was edited comes under its old id."""

    name: str = "google_forms"
    # Apps Script calls a body a form unless the script says otherwise, and makes a form of an object.
    content_types: frozenset[str] = frozenset({JSON, URLENCODED, "text/plain"})

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        place = "/namedValues/" if isinstance(body.get("namedValues"), dict) else "/"
        response = identifier(body.get("responseId"))
        return Submission(
            answers=titled(leaf for leaf in under(body, place) if _is_answer(leaf)),
            request_id=named(text(body.get("formId")), response),
            occurred_at=moment(body.get("timestamp")),
            on_change="update",
        )


def _is_answer(leaf: Leaf) -> bool:
    """A blank of the script's making (`[""]`, ` , `) is none."""
    return folded(leaf.label) not in STAMPS | IDS and leaf.text.strip(" ,\t\r\n") != ""
