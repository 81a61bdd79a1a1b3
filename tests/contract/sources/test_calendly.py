"""Calendly: a booking is a lead; what becomes of it is news about that lead."""

from __future__ import annotations

import json

import pytest

from intake.lead import Attribution
from intake.sources.base import Unreadable, Update
from tests.contract.sources.reading import event, raw, reading, with_members

CREATED = "calendly/created.json"
KEY = "invitee.created:https://api.calendly.com/scheduled_events/EV1/invitees/IN1"


def test_name_of_the_event_is_part_of_the_identity() -> None:
    assert event(CREATED).request_id == KEY


def update(sample: str, body: bytes | None = None) -> Update:
    (only,) = reading(sample, body=body).updates
    return only


def canceled(**payload: object) -> bytes:
    known = json.loads(raw("calendly/canceled.json"))
    return json.dumps({**known, "payload": {**known["payload"], **payload}}).encode()


def test_cancellation_is_about_the_booking_and_not_a_second_one() -> None:
    found = update("calendly/canceled.json", canceled(rescheduled=False))
    assert (found.about, found.kind) == (KEY, "invitee.canceled")
    assert found.news == (("estado de la cita", "cancelada: Rosa Prueba: viaje"),)


def test_cancellation_that_is_half_of_a_move_tells_nothing() -> None:
    found = update("calendly/canceled.json", canceled(rescheduled=True))
    assert (found.about, found.news) == (KEY, ())


def test_move_is_about_the_earlier_booking_and_tells_its_new_time() -> None:
    found = update("calendly/moved.json")
    assert (found.about, found.kind) == (KEY, "rescheduled")
    assert found.news == (("estado de la cita", "cambiada de hora"), ("cita", "05/03/2026 10:00 (America/Lima)"))


def test_move_of_a_booking_that_never_came_is_the_booking() -> None:
    booking = update("calendly/moved.json").otherwise
    assert booking is not None
    assert (booking.request_id, booking.lead.contact.name) == (
        KEY.replace("EV1", "EV2").replace("IN1", "IN2"),
        "Rosa Prueba",
    )


def test_number_to_call_is_the_phone_where_no_other_was_given() -> None:
    known = json.loads(raw(CREATED))["payload"]
    meeting = known["scheduled_event"] | {"location": {"type": "outbound_call", "location": "+51 987 654 321"}}
    body = with_members(CREATED, payload={**known, "text_reminder_number": None, "scheduled_event": meeting})
    phone = event(CREATED, body=body).lead.contact.phone
    assert phone is not None
    assert phone.e164 == "+51987654321"


def test_what_becomes_of_the_moved_booking_is_about_the_first_one() -> None:
    assert update("calendly/moved.json").also == KEY.replace("EV1", "EV2").replace("IN1", "IN2")


@pytest.mark.parametrize("zone", ["Nowhere/At All", "../../etc/passwd", "", None])
def test_time_of_a_meeting_in_no_known_zone_is_utc(zone: str | None) -> None:
    known = json.loads(raw(CREATED))
    body = with_members(CREATED, payload={**known["payload"], "timezone": zone})
    assert ("cita", "05/03/2026 15:00 (UTC)") in event(CREATED, body=body).lead.answers


def test_answers_phone_and_campaign_are_read() -> None:
    lead = event(CREATED).lead
    assert lead.contact.phone is not None
    assert (lead.contact.name, lead.contact.company) == ("Rosa Prueba", "Muebles Ejemplo SAC")
    assert (lead.contact.phone.e164, lead.enquiry.product) == ("+51912345678", "Asesoría")
    assert lead.attribution == Attribution(utm=(("campaign", "feria"), ("source", "facebook")))
    assert ("¿Qué necesita?", "20 sillas") in lead.answers


def test_booking_of_nobody_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        reading(CREATED, body=with_members(CREATED, payload={"uri": "x"}))
