"""One person under several ids, at several providers, and before and after a change of the configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from intake import moved_people, person_arrows
from tests.lab import SOURCES, Lab, lab
from tests.ruled import rule
from tests.simulation.world import People, ledger, purged
from workers import news

BSUID, NUMBER = "PE.100000001", "51987650001"
SUNDAY, DAY = 1_790_000_000, 24 * 3600
TWILIO = (Path(__file__).parent.parent / "contract" / "sources" / "samples" / "twilio" / "whatsapp.txt").read_text()
GROUPED = """
[intake]
public_base_url = "https://intake.example"
"""
BY_TWILIO = """
[[sources]]
name = "sms"
kind = "whatsapp"
provider = "twilio"
secrets = ["env:META_SECRET"]
debounce_seconds = 0
"""


def said(made: Lab, text: str, *, at: int = SUNDAY, number: str = "", bsuid: str = "") -> UUID:
    """A WhatsApp message of the person, by the ids that the provider gives for them this time."""
    more = {"from_user_id": bsuid} if bsuid else {}
    (event,) = made.whatsapp(text, sender=number, at=at, **more)
    made.work()
    return event


def needs(made: Lab) -> int:
    return len(made.rows("SELECT FROM needs"))


# --- a user id, and a number ------------------------------------------------------------------------------------------


def test_a_number_that_comes_later_is_of_the_same_talk_and_the_same_contact(stored: Lab) -> None:
    said(stored, "Hola", bsuid=BSUID)
    said(stored, "Mi número", at=SUNDAY + 10, bsuid=BSUID, number=NUMBER)
    said(stored, "¿Siguen ahí?", at=SUNDAY + 20, number=NUMBER)
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1, "note": 2}
    assert "+51987650001" in str(stored.in_crm("note"))


def test_a_form_with_the_number_that_came_later_is_the_same_contact(stored: Lab) -> None:
    said(stored, "Hola", bsuid=BSUID)
    said(stored, "Mi número", at=SUNDAY + 10, bsuid=BSUID, number=NUMBER)
    stored.form(email="", phone="987650001")
    stored.work()
    assert (ledger(stored)["contact"], ledger(stored)["opportunity"]) == (1, 2)


def test_a_user_id_that_comes_later_is_the_same_contact_when_it_comes_alone(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    said(stored, "Ya tengo usuario", at=SUNDAY + 10, bsuid=BSUID, number=NUMBER)
    said(stored, "Otra consulta", at=SUNDAY + 9 * DAY, bsuid=BSUID)
    assert (ledger(stored)["contact"], ledger(stored)["opportunity"]) == (1, 2)


@pytest.mark.parametrize("debounce", [0, 20])
def test_ids_of_messages_that_another_carries_are_known_too(database_url: str, tmp_path: Path, debounce: int) -> None:
    with lab(database_url, tmp_path, debounce=debounce) as made:
        now = int(datetime.now(UTC).timestamp())
        made.whatsapp("Hola", sender="", at=now, from_user_id=BSUID)
        made.whatsapp("Busco", sender="", at=now, from_user_id=BSUID)
        made.whatsapp("una silla", sender=NUMBER, at=now, from_user_id=BSUID)
        made.settle(rounds=2)
        made.form(email="", phone="987650001")
        made.work()
        assert (ledger(made)["contact"], ledger(made)["opportunity"]) == (1, 2)


def test_two_contacts_that_turn_out_to_be_one_person_are_a_person_s_choice(stored: Lab) -> None:
    said(stored, "Hola", bsuid=BSUID)
    said(stored, "Hola", number=NUMBER)
    both = said(stored, "Soy yo", at=SUNDAY + 10, bsuid=BSUID, number=NUMBER)
    assert stored.state(both) == "confirmed"  # It belongs to a talk, whoever its contact is.
    later = said(stored, "Otra consulta", at=SUNDAY + 9 * DAY, bsuid=BSUID, number=NUMBER)
    assert (stored.state(later), stored.delivery(later)["reason"]) == ("review", "contact_ambiguous")
    assert (ledger(stored)["contact"], ledger(stored)["opportunity"]) == (2, 2)


# --- a number that becomes another ------------------------------------------------------------------------------------

NEW_NUMBER, NEW_BSUID = "51912340002", "PE.100000002"


def moves(made: Lab, system: dict[str, str], sender: str = "") -> None:
    """WhatsApp's own message that a person has another number, or another user id."""
    told = {"from": sender, "id": "wamid.moved", "timestamp": str(SUNDAY + 5), "type": "system", "system": system}
    value = {"metadata": {"display_phone_number": "5115550000", "phone_number_id": "100"}, "messages": [told]}
    body = {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [{"value": value}]}]}
    answer = made.post("wa", json.dumps(body).encode())
    assert (answer.status_code, answer.get_json()["updates"]) == (200, 1)


def to_another_number(made: Lab) -> None:
    moves(made, {"type": "user_changed_number", "wa_id": NEW_NUMBER}, NUMBER)


def test_what_a_new_number_writes_is_of_the_same_talk(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    to_another_number(stored)
    said(stored, "¿Siguen ahí?", at=SUNDAY + 20, number=NEW_NUMBER)
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1, "note": 2}


def phones(made: Lab) -> list[object]:
    return [each["phone"] for each in made.in_crm("contact")]


def test_the_contact_in_the_crm_gets_the_new_number_and_the_adviser_is_told(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    to_another_number(stored)
    stored.work()
    (note,) = stored.in_crm("note")
    assert phones(stored) == [f"+{NEW_NUMBER}"]
    assert f"Teléfono: +{NEW_NUMBER}" in str(note["text"])
    assert f"(antes) Teléfono: +{NUMBER}" in str(note["text"])
    assert f"Teléfono: +{NEW_NUMBER}" in str(stored.in_crm("opportunity")[0]["text"])
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1, "note": 1}


def test_a_number_that_an_adviser_wrote_stays_and_is_told(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    People(stored).edit("contact", phone="+51999888777")
    to_another_number(stored)
    stored.work()
    assert phones(stored) == ["+51999888777"]
    assert news.CONTACT_LEFT in str(stored.in_crm("note")[0]["text"])


def test_a_contact_that_we_did_not_make_keeps_its_number(stored: Lab) -> None:
    People(stored).add_contact(name="Rosa", phone=f"+{NUMBER}")
    said(stored, "Hola", number=NUMBER)
    to_another_number(stored)
    stored.work()
    assert phones(stored) == [f"+{NUMBER}"]
    assert news.CONTACT_LEFT in str(stored.in_crm("note")[0]["text"])


def test_a_refused_number_is_left_and_told(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    stored.dials.fault("422", match={"what": "update", "kind": "contact"}, fields={"phone": "is not valid"})
    to_another_number(stored)
    stored.work()
    assert phones(stored) == [f"+{NUMBER}"]
    assert news.CONTACT_LEFT in str(stored.in_crm("note")[0]["text"])


def test_a_change_of_number_whose_answer_is_lost_is_looked_up(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    stored.dials.fault("lost_answer", match={"what": "update", "kind": "contact"}, effect=True)
    to_another_number(stored)
    stored.settle(3)
    updates = [each for each in stored.dials.requests() if (each["what"], each["kind"]) == ("update", "contact")]
    assert (phones(stored), len(updates)) == ([f"+{NEW_NUMBER}"], 1)


def test_a_number_that_is_told_twice_changes_nothing_again(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    for _ in range(2):
        to_another_number(stored)
        stored.work()
    assert ledger(stored)["note"] == 1
    assert len(stored.rows("SELECT FROM deliveries")) == 2


def test_one_who_moves_before_the_first_delivery_is_one_contact_with_the_new_number(stored: Lab) -> None:
    stored.whatsapp("Hola", sender=NUMBER, at=SUNDAY)
    to_another_number(stored)
    stored.work()
    later = said(stored, "Otra consulta", at=SUNDAY + 9 * DAY, number=NEW_NUMBER)
    old = said(stored, "Y otra", at=SUNDAY + 30 * DAY, number=NUMBER)
    assert (stored.state(later), stored.state(old)) == ("confirmed", "confirmed")
    assert phones(stored) == [f"+{NEW_NUMBER}"]


def test_a_form_with_that_number_gets_the_new_one_too(stored: Lab) -> None:
    stored.form(phone="987650001", email="rosa@example.com")
    stored.work()
    to_another_number(stored)
    stored.work()
    assert phones(stored) == [f"+{NEW_NUMBER}"]


def test_a_form_with_another_number_keeps_it(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    stored.form(phone="911222333", email="rosa@example.com")
    stored.work()
    to_another_number(stored)
    stored.work()
    assert sorted(map(str, phones(stored))) == ["+51911222333", f"+{NEW_NUMBER}"]


def test_the_number_of_a_form_whose_source_is_gated_waits_for_approval(stored: Lab, tmp_path: Path) -> None:
    event = stored.form(phone="987650001", email="rosa@example.com")
    stored.work()
    rule(stored, tmp_path, "web", 'approval = "required"')
    to_another_number(stored)
    stored.work()
    assert (stored.state(event), phones(stored)) == ("awaiting_approval", [f"+{NUMBER}"])


def test_an_earlier_lead_that_is_delivered_anew_brings_no_old_number_back(stored: Lab) -> None:
    first = said(stored, "Hola", number=NUMBER)
    to_another_number(stored)
    stored.work()
    said(stored, "Otra consulta", at=SUNDAY + 9 * DAY, number=NEW_NUMBER)
    moves(stored, {"type": "user_changed_number", "wa_id": "51933340003"}, NEW_NUMBER)
    stored.work()
    with stored.pool.connection() as conn:
        person_arrows.new_generation(conn, first, gated=False)
    stored.work()
    assert (stored.state(first), phones(stored)) == ("confirmed", ["+51933340003"])


def test_the_other_number_of_a_contact_that_people_merged_stays(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    said(stored, "Hola", number="51944440004")
    one, other = (
        next(str(each["id"]) for each in stored.in_crm("contact") if each["phone"] == f"+{number}")
        for number in (NUMBER, "51944440004")
    )
    People(stored).merge(one, into=other)
    to_another_number(stored)
    stored.settle(2)
    assert phones(stored) == ["+51944440004"]
    assert news.CONTACT_LEFT in str(stored.in_crm("note")[0]["text"])


def test_a_number_follows_into_the_crm_though_the_last_lead_was_purged(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    last = stored.form(phone="987650001", email="")
    stored.work()
    purged(stored, last)
    to_another_number(stored)
    stored.work()
    assert phones(stored) == [f"+{NEW_NUMBER}"]


def test_a_new_user_id_tells_the_adviser_that_the_number_is_another(stored: Lab) -> None:
    said(stored, "Hola", bsuid=BSUID, number=NUMBER)
    moves(stored, {"type": "user_changed_user_id", "previous_user_id": BSUID, "user_id": NEW_BSUID})
    stored.work()
    assert moved_people.UNKNOWN in str(stored.in_crm("note")[0]["text"])
    assert phones(stored) == [f"+{NUMBER}"]


def test_what_a_new_number_wants_later_is_of_the_same_contact(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    to_another_number(stored)
    stored.form(email="", phone="912340002")
    stored.work()
    assert (ledger(stored)["contact"], ledger(stored)["opportunity"]) == (1, 2)


def test_a_new_user_id_is_of_the_same_person(stored: Lab) -> None:
    said(stored, "Hola", bsuid=BSUID)
    moves(stored, {"type": "user_changed_user_id", "previous_user_id": BSUID, "user_id": NEW_BSUID})
    said(stored, "Otra consulta", at=SUNDAY + 9 * DAY, bsuid=NEW_BSUID)
    assert (ledger(stored)["contact"], ledger(stored)["opportunity"]) == (1, 2)


def test_a_number_that_is_another_contact_s_already_stays_so(stored: Lab) -> None:
    said(stored, "Hola", number=NEW_NUMBER)
    said(stored, "Hola", number=NUMBER)
    to_another_number(stored)
    later = said(stored, "Otra consulta", at=SUNDAY + 9 * DAY, number=NEW_NUMBER)
    assert (stored.state(later), ledger(stored)["contact"]) == ("confirmed", 2)


def test_a_new_key_of_a_person_s_phone_moves_nobody(stored: Lab) -> None:
    said(stored, "Hola", number=NUMBER)
    moves(stored, {"type": "customer_identity_changed", "wa_id": NEW_NUMBER}, NUMBER)
    said(stored, "Hola", at=SUNDAY + 20, number=NEW_NUMBER)
    assert ledger(stored)["contact"] == 2


# --- one number at two providers --------------------------------------------------------------------------------------


def by_twilio(made: Lab, sid: str, text: str) -> None:
    """A message of the same person to the same number of ours, which has moved to Twilio or from there."""
    body = TWILIO.replace("SM01", sid).replace("51912345678", NUMBER).replace("51100200300", "5115550000")
    answer = made.post("sms", body.replace("Hola%2C+%C2%BFtienen+sillas%3F", text).encode())
    assert answer.status_code == 200
    made.work()


@pytest.mark.parametrize("twilio_first", [False, True])
def test_one_number_at_two_providers_of_a_group_is_one_talk(
    database_url: str, tmp_path: Path, twilio_first: bool
) -> None:
    group = 'debounce_seconds = 0\nidentity_group = "ventas"'
    sources = GROUPED + (SOURCES + BY_TWILIO).replace("debounce_seconds = 0", group)
    with lab(database_url, tmp_path, sources=sources) as made:
        now = int(datetime.now(UTC).timestamp())
        acts: list[Callable[[], object]] = [
            lambda: said(made, "Hola", number=NUMBER, at=now),
            lambda: by_twilio(made, "SM77", "Sillas"),
        ]
        for act in reversed(acts) if twilio_first else acts:
            act()
        assert ledger(made) == {"contact": 1, "opportunity": 1, "task": 1, "note": 1}


def test_one_number_at_two_providers_without_a_group_is_one_contact_and_two_talks(
    database_url: str, tmp_path: Path
) -> None:
    with lab(database_url, tmp_path, sources=GROUPED + SOURCES + BY_TWILIO) as made:
        said(made, "Hola", number=NUMBER)
        by_twilio(made, "SM77", "Sillas")
        assert ledger(made) == {"contact": 1, "opportunity": 2, "task": 2}
