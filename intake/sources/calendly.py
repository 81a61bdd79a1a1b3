"""Calendly: a booking is a lead; its cancellation and its move to another time are news about it.

The same `payload.uri` serves `invitee.created` and `invitee.canceled`, so the event's name is part of the key.  A move
sends a cancellation, and a creation that names the `old_invitee`.
Source: developer.calendly.com, "Webhook payload" and "Webhook signatures".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from intake.sources.base import Unreadable, Update
from intake.sources.decoding import Json, mapping, sequence, text
from intake.sources.leaves import Leaf, leaves
from intake.sources.standard_webhooks import moment
from intake.sources.submission import FormTool, Submission, pointer, titled

CREATED = "invitee.created"
CANCELED = "invitee.canceled"
# What the visitor wrote, by the field of a lead that it is; the rest of a payload is links, ids and times.
WRITTEN = {
    "name": "name",
    "first_name": "first_name",
    "last_name": "last_name",
    "email": "email",
    "text_reminder_number": "phone",
    "timezone": "timezone",
}


@dataclass(frozen=True, slots=True)
class Calendly(FormTool):
    """After a day of failures it disables the hook; a 410 deletes it."""

    name: str = "calendly"

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission | Update | None:  # noqa: ARG002
        event, payload = text(body.get("event")), mapping(body.get("payload"))
        if event == CANCELED:
            return Update(_key(payload.get("uri")), CANCELED)
        if event != CREATED:
            return None
        if earlier := _key(payload.get("old_invitee")):
            return Update(earlier, "rescheduled")
        answers = titled(_answers(payload))
        if not answers:
            raise Unreadable("no_answers", {"payload": "must have a name, an email or answers"})
        return Submission(answers, _key(payload.get("uri")), moment(payload.get("created_at")))


def _key(uri: Json) -> str | None:
    """The id of the lead of this invitee."""
    written = text(uri)
    return f"{CREATED}:{written}" if written else None


def _answers(payload: dict[str, Json]) -> Iterator[Leaf]:
    yield from (
        Leaf(pointer("payload", name), label, answer)
        for name, label in WRITTEN.items()
        if (answer := text(payload.get(name)))
    )
    for index, each in enumerate(sequence(payload.get("questions_and_answers"))):
        asked = {"question": mapping(each).get("question"), "value": mapping(each).get("answer")}
        place = pointer("payload", "questions_and_answers", str(index))
        yield from (Leaf(place + leaf.pointer, leaf.label, leaf.text) for leaf in leaves(asked))
    for name, value in mapping(payload.get("tracking")).items():
        if name.startswith("utm_") and (answer := text(value)):
            yield Leaf(pointer("payload", "tracking", name), name, answer)
    if booked := text(mapping(payload.get("scheduled_event")).get("name")):
        yield Leaf(pointer("payload", "scheduled_event", "name"), "product", booked)
