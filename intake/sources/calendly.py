"""Calendly: a booking is a lead; its cancellation and its move to another time are news about it.

The same `payload.uri` serves `invitee.created` and `invitee.canceled`, so the event's name is part of the key.  A move
sends a cancellation (`rescheduled`), and a creation that names the `old_invitee`, in any order: the creation tells it,
and what becomes of the new invitee is news of the first one too.
Source: developer.calendly.com, "Webhook payload" and "Webhook signatures".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from intake.sources.base import Delivered, Reading, Unreadable, Update
from intake.sources.decoding import Json, identifier, mapping, sequence, text
from intake.sources.leaves import Leaf, leaves
from intake.sources.standard_webhooks import moment
from intake.sources.submission import FormTool, Submission, pointer, titled

CREATED = "invitee.created"
CANCELED = "invitee.canceled"
MOVED, MOVED_AWAY = "rescheduled", "invitee.rescheduled"
CALL = "outbound_call"
# What an adviser reads.
STATE, WHEN = "estado de la cita", "cita"
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

    def read(self, delivered: Delivered) -> Reading:
        # By name: `super()` without arguments does not find a slotted dataclass.
        found = FormTool.read(self, delivered)
        if not any(update.kind == MOVED for update in found.updates):
            return found
        # Who subscribed after the first booking never heard of that: then the move is the booking.
        booked = FormTool.read(_Booked(), delivered).events
        return replace(
            found, updates=tuple(replace(each, otherwise=next(iter(booked), None)) for each in found.updates)
        )

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission | Update | None:  # noqa: ARG002
        event, payload = text(body.get("event")), mapping(body.get("payload"))
        if event == CANCELED:
            return _canceled(payload)
        if event != CREATED:
            return None
        if earlier := _key(payload.get("old_invitee")):
            return _moved(earlier, payload)
        return _booking(payload)


@dataclass(frozen=True, slots=True)
class _Booked(FormTool):
    """Reads a move as if it were the first booking."""

    name: str = "calendly"

    def submission(self, body: dict[str, Json], headers: Mapping[str, str]) -> Submission:  # noqa: ARG002
        return _booking(mapping(body.get("payload")))


def _booking(payload: dict[str, Json]) -> Submission:
    answers = titled(_answers(payload))
    if not answers:
        raise Unreadable("no_answers", {"payload": "must have a name, an email or answers"})
    return Submission(answers, _key(payload.get("uri")), moment(payload.get("created_at")))


def _canceled(payload: dict[str, Json]) -> Update:
    about, at = _key(payload.get("uri")), moment(payload.get("updated_at"))
    if payload.get("rescheduled") is True:
        return Update(about, MOVED_AWAY, at=at)
    told = mapping(payload.get("cancellation"))
    parts = ("cancelada", *(part for name in ("canceled_by", "reason") if (part := text(told.get(name)))))
    return Update(about, CANCELED, news=((STATE, ": ".join(parts)),), at=at)


def _moved(earlier: str, payload: dict[str, Json]) -> Update:
    when = _when(payload)
    news = ((STATE, "cambiada de hora"), *(((WHEN, when),) if when else ()))
    return Update(earlier, MOVED, news=news, at=moment(payload.get("updated_at")), also=_key(payload.get("uri")))


def _when(payload: dict[str, Json]) -> str | None:
    """The time of the meeting as its guest reads it, with the zone; None: it has none."""
    begins, named = moment(mapping(payload.get("scheduled_event")).get("start_time")), text(payload.get("timezone"))
    if begins is None:
        return None
    try:
        there = begins.astimezone(ZoneInfo(named or "UTC"))
    except (ValueError, OSError, LookupError):  # A path, or no zone of this machine's.
        there = begins
    return f"{there:%d/%m/%Y %H:%M} ({there.tzinfo})"


def _key(uri: Json) -> str | None:
    """The id of the lead of this invitee."""
    written = identifier(uri)
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
    met_at = mapping(mapping(payload.get("scheduled_event")).get("location"))
    # Where the host is to call, the number is the place of the meeting (developer.calendly.com, "Location").
    if met_at.get("type") == CALL and (number := text(met_at.get("location"))):
        yield Leaf(pointer("payload", "scheduled_event", "location", "location"), "phone", number)
    if when := _when(payload):
        yield Leaf(pointer("payload", "scheduled_event", "start_time"), WHEN, when)
    if booked := text(mapping(payload.get("scheduled_event")).get("name")):
        yield Leaf(pointer("payload", "scheduled_event", "name"), "product", booked)
