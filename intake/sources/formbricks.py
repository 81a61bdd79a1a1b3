"""Formbricks: one response in several events with growing content; only `responseFinished` is a lead.

All of them share `data.id`.  Answers stand under the ids of their questions; a "contact info" question is a list of
five.  Source: formbricks/formbricks, docs/platform/features/integrations/webhooks.mdx @b66c1dd.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from intake import emails
from intake.sources.base import Unreadable, Update
from intake.sources.decoding import Json, identifier, mapping, text
from intake.sources.leaves import Leaf, leaves
from intake.sources.standard_webhooks import moment
from intake.sources.submission import FormTool, Submission, pointer

UNFINISHED = frozenset({"responseCreated", "responseUpdated"})
# The order in which the answers of a "contact info" question come (formbricks, types/surveys: contactInfo).
CONTACT_INFO = ("first_name", "last_name", "email", "phone", "company")


@dataclass(frozen=True, slots=True)
class Formbricks(FormTool):
    """Signed by Standard Webhooks."""

    name: str = "formbricks"

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission | Update | None:  # noqa: ARG002
        event, response = text(body.get("event")), mapping(body.get("data"))
        if event in UNFINISHED:
            return Update(identifier(response.get("id")), event)
        if event != "responseFinished":
            return None
        if not isinstance(response.get("data"), dict):
            raise Unreadable("no_answers", {"data.data": "must be an object"})
        return Submission(
            answers=tuple(_answers(response)),
            request_id=identifier(response.get("id")),
            occurred_at=moment(response.get("updatedAt")),
            on_change="update",
        )


def _answers(response: dict[str, Json]) -> Iterator[Leaf]:
    """The answers, and what the survey's owner knows of a person who is signed in."""
    for part in ("data", "contactAttributes"):
        told = {question: _named(answer) for question, answer in mapping(response.get(part)).items()}
        place = pointer("data", part)
        yield from (Leaf(place + leaf.pointer, leaf.label, leaf.text) for leaf in leaves(told))


def _named(answer: Json) -> Json:
    """A "contact info" answer by its parts; it is told from other lists by the address in its place."""
    if not isinstance(answer, list) or len(answer) != len(CONTACT_INFO):
        return answer
    told = dict(zip(CONTACT_INFO, answer, strict=True))
    return told if emails.is_address(text(told["email"]) or "") else answer
