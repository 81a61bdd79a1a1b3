"""Formbricks: one response grows over several events; the finished one is the lead."""

from __future__ import annotations

import pytest

from intake.sources.base import Unreadable, Update
from tests.contract.sources.reading import changed, event, reading, with_members

FINISHED = "formbricks/finished.json"


@pytest.mark.parametrize(("sample", "kind"), [("created", "responseCreated"), ("updated", "responseUpdated")])
def test_unfinished_response_is_news_about_its_lead(sample: str, kind: str) -> None:
    assert reading(f"formbricks/{sample}.json").updates == (Update(event(FINISHED).request_id, kind),)


def test_response_is_the_identity_whatever_the_delivery() -> None:
    assert event(FINISHED, headers={"webhook-id": "msg_9"}).request_id == "clresp00000000001"


def test_contact_info_is_read_by_its_places() -> None:
    lead = event(FINISHED).lead
    assert lead.contact.phone is not None
    assert (lead.contact.name, lead.contact.email) == ("Rosa Prueba", "rosa@example.com")
    assert (lead.contact.phone.e164, lead.answers) == ("+51912345678", (("colores", "Rojo, Azul"),))


def test_list_of_five_without_an_address_stays_a_list() -> None:
    body = changed(FINISHED, "rosa@example.com", "verde")
    assert ("datos", "Rosa, Prueba, verde, 912345678") in event(FINISHED, body=body).lead.answers


def test_finished_response_without_answers_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        reading(FINISHED, body=with_members(FINISHED, data={"id": "r1"}))
