"""What somebody edits or deletes in WhatsApp: the adviser reads what it says now, and what it said before is kept."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.lab import Json, Lab, lab
from tests.simulation.world import People, ledger

AT = 1_790_000_000


def news(stored: Lab, kind: str, about: str, at: int, words: str | None = None) -> Json:
    """An edit or a deletion of the message that has this id; what Meta was answered."""
    told: Json = {"original_message_id": about}
    if words is not None:
        told["message"] = {"type": "text", "text": {"body": words}}
    message = {"from": "51987650001", "id": f"wamid.n{at}", "timestamp": str(at), "type": kind, kind: told}
    value = {"metadata": {"phone_number_id": "100"}, "messages": [message]}
    body = {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [{"value": value}]}]}
    answer: Json = stored.post("wa", json.dumps(body).encode()).get_json()
    stored.work()
    return answer


def said(stored: Lab, *texts: str, first: int = 1) -> None:
    """Messages of one person, delivered; the first of them is `wamid.<first>`."""
    ids = [f"wamid.{first + i}" for i in range(len(texts))]
    stored.whatsapp(*texts, at=AT + first, ids=ids)
    stored.work()


def notes(stored: Lab) -> list[str]:
    return [str(each["text"]) for each in stored.in_crm("note")]


def test_an_edit_of_the_first_message_reaches_the_opportunity_and_the_adviser(stored: Lab) -> None:
    said(stored, "Quiero 10 sillas")
    answer = news(stored, "edit", "wamid.1", AT + 60, "Quiero 100 sillas")
    assert (answer["updates"], answer["events"]) == (1, [])
    assert "Quiero 100 sillas [editado]" in str(People(stored).only("opportunity")["text"])
    (note,) = notes(stored)
    assert "(antes) Quiero 10 sillas" in note


def test_an_edit_of_a_later_message_is_a_note_of_its_own(stored: Lab) -> None:
    said(stored, "Hola")
    said(stored, "10 sillas", first=2)
    news(stored, "edit", "wamid.2", AT + 60, "100 sillas")
    assert [("[editado]" in note, "100 sillas" in note) for note in notes(stored)] == [(False, False), (True, True)]


def test_an_edit_of_a_message_that_waits_is_what_is_delivered(stored: Lab) -> None:
    stored.whatsapp("10 sillas", ids=["wamid.1"], at=AT)
    news(stored, "edit", "wamid.1", AT + 60, "100 sillas")
    assert "100 sillas [editado]" in str(People(stored).only("opportunity")["text"])
    assert "note" not in ledger(stored)


def test_a_deleted_message_stays_and_is_marked(stored: Lab) -> None:
    said(stored, "Hola")
    said(stored, "10 sillas", first=2)
    news(stored, "revoke", "wamid.2", AT + 60)
    assert "10 sillas [eliminado por quien lo escribió]" in notes(stored)[1]


def test_news_that_is_told_again_or_late_changes_nothing(stored: Lab) -> None:
    said(stored, "10 sillas")
    for at, words in ((60, "100 sillas"), (60, "100 sillas"), (30, "50 sillas")):
        news(stored, "edit", "wamid.1", AT + at, words)
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1, "note": 1}


def test_an_edit_leaves_what_was_joined_with_the_first_message(database_url: str, tmp_path: Path) -> None:
    with lab(database_url, tmp_path, debounce=20) as patient:
        now = int(time.time())
        patient.whatsapp("Hola", "10 sillas", at=now, ids=["wamid.1", "wamid.2"])
        patient.settle(rounds=2)
        news(patient, "edit", "wamid.1", now + 60, "Buenas")
        text = str(People(patient).only("opportunity")["text"])
        assert ("Buenas [editado]" in text, "10 sillas" in text, "Hola" in text) == (True, True, False)


def test_an_edit_of_what_another_s_text_carried_is_a_note(database_url: str, tmp_path: Path) -> None:
    with lab(database_url, tmp_path, debounce=20) as patient:
        now = int(time.time())
        patient.whatsapp("Hola", "10 sillas", at=now, ids=["wamid.1", "wamid.2"])
        patient.settle(rounds=2)
        news(patient, "edit", "wamid.2", now + 60, "100 sillas")
        assert ["100 sillas [editado]" in note for note in notes(patient)] == [True]


def test_an_edit_of_a_message_that_never_came_is_kept_alone(stored: Lab) -> None:
    assert (news(stored, "edit", "wamid.9", AT, "Hola")["updates"], stored.rows("SELECT FROM events")) == (1, [])
