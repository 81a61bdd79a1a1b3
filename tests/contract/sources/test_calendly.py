"""Calendly: a booking is a lead; what becomes of it is news about that lead."""

from __future__ import annotations

import pytest

from intake.lead import Attribution
from intake.sources.base import Unreadable, Update
from tests.contract.sources.reading import event, reading, with_members

CREATED = "calendly/created.json"
KEY = "invitee.created:https://api.calendly.com/scheduled_events/EV1/invitees/IN1"


def test_name_of_the_event_is_part_of_the_identity() -> None:
    assert event(CREATED).request_id == KEY


def test_cancellation_is_about_the_booking_and_not_a_second_one() -> None:
    assert reading("calendly/canceled.json").updates == (Update(KEY, "invitee.canceled"),)


def test_move_is_about_the_earlier_booking() -> None:
    assert reading("calendly/moved.json").updates == (Update(KEY, "rescheduled"),)


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
