"""Batches: several messages, statuses and broken things in one body, in any order and at once."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.doorway import Doorway, Json, Message, accepted, as_json, event, events, message, quote, whatsapp

HANDSHAKE = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token="


def batch(*names: str) -> list[Message]:
    """A message of each name, a second apart, all of one person."""
    return [message(f"wamid.{name}", f"texto {name}", at=1_790_000_000 + i) for i, name in enumerate(names)]


def post(door: Doorway, *messages: object, source: str = "wa", **more: object) -> Json:
    return accepted(door.post(source, whatsapp(*messages, **more)))


def test_a_body_with_everything_gives_each_its_due(door: Doorway) -> None:
    broken = {"type": "text"}
    document = post(door, *batch("a", "b"), "broken", broken, statuses=[{"id": "wamid.s", "status": "read"}])
    assert len(events(document)) == 2
    assert {name: document[name] for name in ("quarantined", "ignored", "updates", "conflicts")} == {
        "quarantined": 2,
        "ignored": 1,
        "updates": 0,
        "conflicts": 0,
    }


def test_a_broken_message_is_an_item_with_the_raw_body(door: Doorway) -> None:
    body = whatsapp(*batch("a"), "broken")
    accepted(door.post("wa", body))
    (item,) = door.rows("SELECT kind, reason, content FROM items JOIN bodies USING (receipt_id)")
    assert item == {"kind": "quarantine", "reason": "unreadable_message", "content": body}


def test_messages_of_one_person_are_one_need(door: Doorway) -> None:
    post(door, *batch("a", "b", "c"))
    parts = door.rows("SELECT part FROM deliveries JOIN events USING (event_id) ORDER BY request_id")
    assert [row["part"] for row in parts] == ["opener", "follow_up", "follow_up"]
    assert door.count("needs") == 1


def test_the_first_message_opens_wherever_it_stands(door: Doorway) -> None:
    post(door, *reversed(batch("a", "b", "c")))
    (opener,) = door.rows("SELECT request_id FROM deliveries JOIN events USING (event_id) WHERE part = 'opener'")
    assert opener["request_id"] == "100:wamid.a"


def test_a_source_may_make_each_message_a_need(door: Doorway) -> None:
    post(door, *batch("a", "b"), source="wa-per-message")
    assert door.count("needs") == 2


def test_the_same_message_twice_in_a_body_is_one_event(door: Doorway) -> None:
    (first,) = batch("a")
    assert len({each["event_id"] for each in events(post(door, first, first))}) == 1
    assert door.count("events") == 1


def test_other_content_under_one_id_in_one_body_is_a_conflict(door: Doorway) -> None:
    document = post(door, message("wamid.a", "uno"), message("wamid.a", "dos"))
    assert [(each["duplicate"], each["conflict"]) for each in events(document)] == [(False, False), (False, True)]
    assert len({each["event_id"] for each in events(document)}) == 1
    (item,) = door.rows("SELECT kind FROM items")
    assert (document["conflicts"], item["kind"]) == (1, "conflict")


def test_a_conflict_in_a_batch_does_not_hold_the_others(door: Doorway) -> None:
    post(door, message("wamid.a", "uno"))
    document = post(door, message("wamid.a", "otro"), message("wamid.b", "dos"))
    assert [each["conflict"] for each in events(document)] == [True, False]
    assert door.count("deliveries") == 2


def test_a_batch_again_with_a_new_message_takes_the_new_one(door: Doorway) -> None:
    post(door, *batch("a", "b"))
    assert [each["duplicate"] for each in events(post(door, *batch("a", "b", "c")))] == [True, True, False]


def test_equal_messages_without_ids_in_one_body_are_one_event(door: Doorway) -> None:
    document = post(door, message("wamid.a"), message("wamid.b"), source="wa-by-body")
    assert [each["duplicate"] for each in events(document)] == [False, True]


# --- what is no event ------------------------------------------------------------------------------------------------


def test_statuses_alone_are_ignored(door: Doorway) -> None:
    document = post(door, statuses=[{"id": "wamid.s", "status": status} for status in ("sent", "read")])
    assert (document["events"], document["ignored"]) == ([], 2)
    (receipt,) = door.rows("SELECT verdict FROM receipts")
    assert (receipt["verdict"], door.count("bodies"), door.hints) == ("ignored", 0, [])


@pytest.mark.parametrize("kind", ["edit", "revoke"])
def test_news_about_a_message_is_an_update_and_kept(door: Doorway, kind: str) -> None:
    news = {"from": "51987650001", "id": "wamid.n", "timestamp": "1790000001", "type": kind}
    document = post(door, news | {kind: {"original_message_id": "wamid.a"}})
    assert (document["events"], document["updates"]) == ([], 1)
    (receipt,) = door.rows("SELECT verdict, content IS NOT NULL AS kept FROM receipts JOIN bodies USING (receipt_id)")
    assert receipt == {"verdict": "accepted", "kept": True}


# --- at once ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["wa", "wa-by-body", "wa-per-message"])
def test_one_batch_in_twenty_orders_at_once_is_stored_once(door: Doorway, source: str) -> None:
    people = [f"5198765000{i}" for i in range(5)]
    messages = [message(f"wamid.{i}", f"texto {i}", sender=people[i % 5], at=1_790_000_000 + i) for i in range(10)]
    shuffled = [random.Random(seed).sample(messages, len(messages)) for seed in range(20)]
    with ThreadPoolExecutor(20) as pool:
        documents = list(pool.map(lambda each: post(door, *each, source=source), shuffled))
    fresh = [each["event_id"] for document in documents for each in events(document) if not each["duplicate"]]
    assert len(fresh) == len(set(fresh)) == 10
    assert (door.count("events"), door.count("deliveries")) == (10, 10)
    assert door.count("needs") == (10 if source == "wa-per-message" else 5)


def test_two_first_messages_of_one_person_at_once_are_one_need(door: Doorway) -> None:
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda name: post(door, message(f"wamid.{name}")), range(10)))
    openers = door.rows("SELECT FROM deliveries WHERE part = 'opener'")
    assert (door.count("needs"), len(openers), door.count("events")) == (1, 1, 10)


def test_fifty_deliveries_of_one_form_at_once_are_one_event(door: Doorway) -> None:
    with ThreadPoolExecutor(50) as pool:
        found = [event(each) for each in pool.map(lambda _: door.form(delivery_id="msg_a"), range(50))]
    assert len({each["event_id"] for each in found}) == 1
    assert [each["duplicate"] for each in found].count(False) == 1


def test_fifty_equal_forms_without_an_id_at_once_are_one_event(door: Doorway) -> None:
    with ThreadPoolExecutor(50) as pool:
        found = [event(each) for each in pool.map(lambda _: door.form("generic"), range(50))]
    assert len({each["event_id"] for each in found}) == 1
    assert [each["duplicate"] for each in found].count(False) == 1


def test_versions_of_one_quote_at_once_are_one_need(door: Doorway) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = pool.map(lambda n: door.post("quotes", as_json(quote(version=n % 10 + 1))), range(40))
        found = [event(accepted(each)) for each in answers]
    assert [each["duplicate"] for each in found].count(False) == 10
    assert (door.count("events"), door.count("needs")) == (10, 1)


# --- the handshake ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/hooks/wa", "/test/hooks/wa"])
def test_a_handshake_gives_the_challenge_back_as_plain_text(any_door: Doorway, path: str) -> None:
    answer = any_door.client.get(f"{path}?{HANDSHAKE}verify-me")
    assert (answer.status_code, answer.data, answer.mimetype) == (200, b"1158201444", "text/plain")


@pytest.mark.parametrize("token", ["", "wrong", "verify-m%FF", "%00"])
def test_a_handshake_with_another_token_is_not_authentic(any_door: Doorway, token: str) -> None:
    answer = any_door.client.get(f"/hooks/wa?{HANDSHAKE}{token}")
    assert (answer.status_code, answer.get_json()["error"]) == (401, "not_authentic")


def test_a_handshake_without_any_query_is_not_authentic(any_door: Doorway) -> None:
    assert any_door.client.get("/hooks/wa").status_code == 401
