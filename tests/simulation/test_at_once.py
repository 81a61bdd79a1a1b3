"""Many deliveries at the door at once, and the same ones again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

from werkzeug.test import TestResponse

from tests.lab import Json, Lab
from tests.simulation.world import ledger

MANY = 50
# A sender comes again when it is told that storage is busy; on a slow host that may happen.
AGAIN = 20


def at_once(lab: Lab, send: Sequence[Callable[[Lab], TestResponse]]) -> list[TestResponse]:
    """All of these at the same time, each by a client of its own."""
    with ThreadPoolExecutor(len(send)) as pool:
        return list(pool.map(lambda one: _until_taken(lab, one), send))


def _until_taken(lab: Lab, send: Callable[[Lab], TestResponse]) -> TestResponse:
    own = replace(lab, door=lab.door.application.test_client())
    answers = (send(own) for _ in range(AGAIN))
    return next(answer for answer in answers if answer.status_code != 503)


def events_of(answer: TestResponse) -> list[Json]:
    assert answer.status_code == 200, answer.get_data(as_text=True)
    events: list[Json] = answer.get_json()["events"]
    return events


def count(lab: Lab, table: str) -> int:
    (row,) = lab.rows(f"SELECT count(*) FROM {table}")  # noqa: S608  # a name of ours
    return int(str(row["count"]))


def form(message: str, number: int = 1) -> bytes:
    person = {"name": "Ana Prueba", "email": f"ana{number}@example.com", "message": message}
    return json.dumps(person).encode()


def test_one_event_fifty_times_at_once_is_one_event_and_fifty_good_answers(stored: Lab) -> None:
    answers = at_once(stored, [lambda own: own.post("web", form("Hola"), delivery_id="msg_same")] * MANY)
    events = [event for answer in answers for event in events_of(answer)]
    assert len(events) == MANY
    assert len({event["event_id"] for event in events}) == 1
    assert [event["duplicate"] for event in events].count(False) == 1
    assert (count(stored, "events"), count(stored, "deliveries")) == (1, 1)
    stored.work()
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1}


def test_answers_without_an_id_at_once_are_one_event(stored: Lab) -> None:
    name_by_content(stored)
    answers = at_once(stored, [lambda own: own.post("web", form("Hola"))] * 20)
    assert len({str(event["event_id"]) for answer in answers for event in events_of(answer)}) == 1
    assert count(stored, "events") == 1


def test_two_bodies_with_the_same_messages_in_another_order_do_not_deadlock(stored: Lab) -> None:
    senders = [f"5198700{n:04d}" for n in range(20)]
    one, other = batch(senders), batch(senders[::-1])
    for _ in range(3):
        answers = at_once(stored, [lambda own: own.post("wa", one), lambda own: own.post("wa", other)] * 4)
        assert all(len(events_of(answer)) == 20 for answer in answers)
    assert (count(stored, "events"), count(stored, "needs"), count(stored, "conversations")) == (20, 20, 20)


def test_new_messages_of_the_same_people_in_another_order_do_not_deadlock(stored: Lab) -> None:
    senders = [f"5198700{n:04d}" for n in range(20)]
    bodies = [batch(senders[:: (-1) ** n], prefix=f"round{n}") for n in range(8)]
    answers = at_once(stored, [lambda own, body=body: own.post("wa", body) for body in bodies])  # type: ignore[misc]
    assert all(len(events_of(answer)) == 20 for answer in answers)
    assert (count(stored, "events"), count(stored, "needs"), count(stored, "conversations")) == (160, 20, 20)


def batch(senders: Sequence[str], *, prefix: str = "same") -> bytes:
    """One body with a message of each of these people."""
    messages = [
        {"from": sender, "id": f"wamid.{prefix}.{sender}", "timestamp": "1790000000", "type": "text",
         "text": {"body": "Hola"}}
        for sender in senders
    ]  # fmt: skip
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "5115550000", "phone_number_id": "100"},
        "contacts": [{"profile": {"name": "Rosa Prueba"}, "wa_id": sender} for sender in senders],
        "messages": messages,
    }
    changes = [{"field": "messages", "value": value}]
    return json.dumps({"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": changes}]}).encode()


# --- test and live ----------------------------------------------------------------------------------------------------


def test_live_after_test_is_no_duplicate_and_goes_elsewhere(stored: Lab) -> None:
    tried = stored.form(mode="test", delivery_id="msg_1")
    live = stored.form(mode="live", delivery_id="msg_1")
    assert tried != live
    assert (stored.delivery(tried)["destination"], stored.delivery(live)["destination"]) == ("playground", "crm")
    stored.work()
    assert (stored.state(tried), stored.state(live)) == ("confirmed", "confirmed")
    references = {str(each["reference"]) for each in stored.in_crm("opportunity")}
    assert [reference.startswith("t-") for reference in sorted(references)] in ([False, True], [True, False])


# --- the same identity, other content ---------------------------------------------------------------------------------


def test_other_content_under_a_known_id_is_a_conflict_and_changes_nothing(stored: Lab) -> None:
    first = stored.post("web", form("Una silla"), delivery_id="msg_1")
    again = stored.post("web", form("Cien sillas"), delivery_id="msg_1")
    (one,), (other,) = events_of(first), events_of(again)
    assert (other["event_id"], other["duplicate"], other["conflict"]) == (one["event_id"], False, True)
    assert again.get_json()["conflicts"] == 1
    (item,) = stored.rows("SELECT kind, event_id::text FROM items WHERE closed_at IS NULL")
    assert item == {"kind": "conflict", "event_id": one["event_id"]}
    assert count(stored, "bodies WHERE what = 'raw'") == 2
    stored.work()
    assert "Una silla" in str(stored.in_crm("opportunity")[0]["text"])
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1}


def test_the_same_conflict_again_is_not_a_second_item(stored: Lab) -> None:
    stored.post("web", form("Una silla"), delivery_id="msg_1")
    for _ in range(3):
        stored.post("web", form("Cien sillas"), delivery_id="msg_1")
    stored.post("web", form("Mil sillas"), delivery_id="msg_1")
    assert count(stored, "items") == 2


# --- minted identities ------------------------------------------------------------------------------------------------


def name_by_content(lab: Lab) -> None:
    """Let the source give no ids, as a plain form tool does."""
    sources = lab.settings.sources
    sources["web"] = replace(sources["web"], dedupe="body")  # type: ignore[index]  # a Mapping to others


def test_equal_answers_within_the_window_are_one_event_and_the_window_slides(stored: Lab) -> None:
    name_by_content(stored)
    first = stored.only_event(stored.post("web", form("Hola")))
    for _ in range(3):  # nine minutes each: the last one is 27 minutes after the first
        stored.pass_time(timedelta(minutes=9))
        assert stored.only_event(stored.post("web", form("Hola"))) == first
    assert count(stored, "events") == 1


def test_equal_answers_after_the_window_are_another_event(stored: Lab) -> None:
    name_by_content(stored)
    first = stored.only_event(stored.post("web", form("Hola")))
    stored.pass_time(timedelta(minutes=11))
    second = stored.only_event(stored.post("web", form("Hola")))
    assert first != second
    stored.work()
    assert ledger(stored) == {"contact": 1, "opportunity": 2, "task": 2}


def test_other_answers_within_the_window_are_another_event(stored: Lab) -> None:
    name_by_content(stored)
    assert stored.only_event(stored.post("web", form("Hola"))) != stored.only_event(stored.post("web", form("Adiós")))
