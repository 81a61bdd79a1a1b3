"""Google Forms: what a script posts, once or twice, with or without an id."""

from __future__ import annotations

from tests.contract.sources.reading import changed, event, reading

NAMED = "google_forms/named_values.json"
BARE = "google_forms/without_id.json"


def test_response_is_the_identity() -> None:
    assert event(NAMED).request_id == "1FAIpQLSfEXAMPLE:2_ABaOnudEXAMPLE"


def test_script_without_an_id_gives_none() -> None:
    assert event(BARE).request_id is None


def test_blank_second_event_is_nobodys() -> None:
    assert reading("google_forms/blank_second_event.json").ignored == 1


def test_column_of_the_time_is_no_answer() -> None:
    later = event(BARE, body=changed(BARE, "2/03/2026 10:00:00", "2/03/2026 10:00:09"))
    assert later.content == event(BARE).content


def test_questions_are_read_by_their_names() -> None:
    contact = event(NAMED).lead.contact
    assert contact.phone is not None
    assert (contact.name, contact.email, contact.phone.e164) == ("Rosa Prueba", "rosa@example.com", "+51912345678")


def test_edited_response_is_an_update() -> None:
    assert event(NAMED).on_change == "update"
