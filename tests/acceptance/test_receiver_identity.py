"""Which deliveries are one event: ids, windows, settings of the source, and other content under a known identity."""

from __future__ import annotations

import hashlib
import itertools
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from intake.identity import IdentityKey, canonical
from tests.doorway import ANSWERS, Doorway, Json, accepted, as_json, event, events, message, quote, whatsapp

SECOND = {"X-Request-Id": "second"}


def test_a_new_event_is_received_and_no_duplicate(door: Doorway) -> None:
    found = event(door.form())
    assert {name: found[name] for name in ("kind", "state", "duplicate", "conflict")} == {
        "kind": "form",
        "state": "received",
        "duplicate": False,
        "conflict": False,
    }


def test_the_same_delivery_again_is_the_same_event(door: Doorway) -> None:
    first, second = (event(door.form(delivery_id="msg_a")) for _ in range(2))
    assert (second["event_id"], second["duplicate"], second["conflict"]) == (first["event_id"], True, False)
    assert (door.count("events"), door.count("deliveries"), door.count("needs")) == (1, 1, 1)


def test_the_same_answers_under_another_id_are_another_event(door: Doorway) -> None:
    first, second = event(door.form(delivery_id="msg_a")), event(door.form(delivery_id="msg_b"))
    assert (second["event_id"] != first["event_id"], second["duplicate"]) == (True, False)


def test_a_delivery_again_tells_how_far_the_first_has_come(door: Doorway) -> None:
    door.form("gated", delivery_id="msg_a")
    assert event(door.form("gated", delivery_id="msg_a"))["state"] == "awaiting_approval"


# --- other content under a known identity ----------------------------------------------------------------------------


def test_other_content_under_a_known_id_is_a_conflict(door: Doorway) -> None:
    first = event(door.form(delivery_id="msg_a"))
    document = door.form(delivery_id="msg_a", message="Otra cosa")
    assert document["conflicts"] == 1
    assert event(document) == first | {"conflict": True, "duplicate": False}


def test_a_conflict_keeps_both_and_overwrites_nothing(door: Doorway) -> None:
    door.form(delivery_id="msg_a")
    before = door.rows("SELECT * FROM events JOIN deliveries USING (event_id)")
    door.form(delivery_id="msg_a", message="Otra cosa")
    assert door.rows("SELECT * FROM events JOIN deliveries USING (event_id)") == before
    assert len(door.rows("SELECT FROM bodies WHERE what = 'raw'")) == 2
    assert len(door.rows("SELECT FROM bodies WHERE what = 'lead'")) == 1


def test_a_conflict_is_one_open_item_however_often_it_comes(door: Doorway) -> None:
    door.form(delivery_id="msg_a")
    for _ in range(3):
        door.form(delivery_id="msg_a", message="Otra cosa")
    (item,) = door.rows("SELECT kind, reason, source FROM items WHERE closed_at IS NULL")
    assert item == {"kind": "conflict", "reason": "other_content", "source": "web"}


def test_each_other_content_is_an_item_of_its_own(door: Doorway) -> None:
    for text in ("Hola", "Otra cosa", "Una tercera"):
        door.form(delivery_id="msg_a", message=text)
    assert door.count("items") == 2


def test_the_first_content_after_a_conflict_is_a_duplicate(door: Doorway) -> None:
    door.form(delivery_id="msg_a")
    door.form(delivery_id="msg_a", message="Otra cosa")
    found = event(door.form(delivery_id="msg_a"))
    assert (found["duplicate"], found["conflict"]) == (True, False)


def test_what_an_older_reader_stored_is_read_again_before_it_is_a_conflict(door: Doorway) -> None:
    door.form(delivery_id="msg_a")
    forget_fingerprints(door)
    found = event(door.form(delivery_id="msg_a"))
    assert (found["duplicate"], found["conflict"]) == (True, False)


def test_other_content_is_a_conflict_for_an_older_reader_too(door: Doorway) -> None:
    door.form(delivery_id="msg_a")
    forget_fingerprints(door)
    assert event(door.form(delivery_id="msg_a", message="Otra cosa"))["conflict"] is True


def test_an_event_that_a_header_named_is_read_again_too(door: Doorway) -> None:
    post_named(door, "by-header", "first")
    forget_fingerprints(door)
    assert event(post_named(door, "by-header", "first"))["duplicate"] is True


def forget_fingerprints(door: Doorway) -> None:
    """As if a reader of before had made them of other fields."""
    other = IdentityKey(b"x" * 32).fingerprint({"of": "an older reader"})
    with door.pool.connection() as conn:
        conn.execute("ALTER TABLE events DISABLE TRIGGER immutable")
        conn.execute("UPDATE events SET fingerprint = %s", [other])


# --- live and test ---------------------------------------------------------------------------------------------------


def test_a_test_is_never_the_first_of_a_live_event(door: Doorway) -> None:
    test = event(door.form(delivery_id="msg_a", mode="test"))
    live = event(door.form(delivery_id="msg_a"))
    assert (live["duplicate"], live["event_id"] != test["event_id"]) == (False, True)


def test_a_test_goes_to_the_test_destination_only(door: Doorway) -> None:
    door.form(mode="test")
    door.form()
    found = door.rows(
        "SELECT d.mode, d.destination, n.destination AS pinned FROM deliveries d JOIN needs n USING (need_id)"
    )
    assert {(row["mode"], row["destination"], row["pinned"]) for row in found} == {
        ("live", "crm", "crm"),
        ("test", "playground", "playground"),
    }


def test_the_same_answers_without_an_id_are_kept_apart_by_mode(door: Doorway) -> None:
    first, second = (event(door.form("by-body", mode=mode)) for mode in ("test", "live"))
    assert second["duplicate"] is False
    assert first["event_id"] != second["event_id"]


# --- without an id of the sender -------------------------------------------------------------------------------------


def test_the_same_answers_within_the_window_are_one_event(door: Doorway) -> None:
    first, second = (event(door.form("generic")) for _ in range(2))
    assert (second["event_id"], second["duplicate"]) == (first["event_id"], True)


def test_the_window_slides_with_each_repetition(door: Doorway) -> None:
    found = []
    for _ in range(4):
        found.append(event(door.form("generic")))
        door.pass_time(timedelta(minutes=6))
    assert [each["duplicate"] for each in found] == [False, True, True, True]


def test_the_same_answers_after_the_window_are_another_event(door: Doorway) -> None:
    first = event(door.form("generic"))
    door.pass_time(timedelta(minutes=11))
    second = event(door.form("generic"))
    assert (second["duplicate"], second["event_id"] != first["event_id"]) == (False, True)


def test_those_that_come_at_once_as_the_window_ends_are_one_event(door: Doorway) -> None:
    nearly = timedelta(minutes=10) - timedelta(milliseconds=30)
    for number in range(5):
        door.form("generic", message=f"Hola {number}")
        door.pass_time(nearly)
        with ThreadPoolExecutor(12) as pool:
            found = list(
                pool.map(lambda _, number=number: event(door.form("generic", message=f"Hola {number}")), range(12))
            )
        assert len({each["event_id"] for each in found}) == 1
        assert [each["duplicate"] for each in found].count(False) <= 1


def test_other_answers_without_an_id_are_another_event(door: Doorway) -> None:
    found = [event(door.form("generic", message=text)) for text in ("Hola", "Hola!")]
    assert [each["duplicate"] for each in found] == [False, False]


def two_that_share_two_bytes() -> list[Json]:
    """Two answers whose digests begin alike, as two of some hundred in one batch do."""
    first_with: dict[str, Json] = {}
    for number in itertools.count():
        answers: Json = {"email": f"p{number}@example.com"}
        digits = hashlib.sha256(canonical({"/email": answers["email"]}).encode()).hexdigest()[:4]
        if digits in first_with:
            return [first_with[digits], answers]
        first_with[digits] = answers
    raise AssertionError


def test_two_people_of_a_batch_are_two_events_whatever_their_digests(door: Doorway) -> None:
    batch = two_that_share_two_bytes()
    first, again = (events(accepted(door.post("generic", as_json(batch)))) for _ in range(2))
    assert len({each["event_id"] for each in first}) == 2
    assert [(each["event_id"], each["duplicate"]) for each in again] == [(each["event_id"], True) for each in first]


def test_a_batch_again_in_another_order_is_the_same_events(door: Doorway) -> None:
    batch = two_that_share_two_bytes()
    first, again = (events(accepted(door.post("generic", as_json(each)))) for each in (batch, batch[::-1]))
    assert [each["event_id"] for each in again] == [each["event_id"] for each in first][::-1]


# --- what the source says of itself ----------------------------------------------------------------------------------


def post_named(door: Doorway, source: str, name: str, **answers: str) -> Json:
    return accepted(door.post(source, as_json(ANSWERS | answers), headers={"X-Request-Id": name}))


def test_a_source_by_body_takes_equal_answers_for_one_event(door: Doorway) -> None:
    found = [event(door.form("by-body", delivery_id=name)) for name in ("msg_a", "msg_b")]
    assert [each["duplicate"] for each in found] == [False, True]


def test_a_source_by_header_takes_equal_headers_for_one_event(door: Doorway) -> None:
    found = [event(post_named(door, "by-header", name)) for name in ("first", "first", "second")]
    assert [each["duplicate"] for each in found] == [False, True, False]


def test_a_source_by_header_takes_other_answers_under_one_header_for_a_conflict(door: Doorway) -> None:
    post_named(door, "by-header", "first")
    assert event(post_named(door, "by-header", "first", message="Otra cosa"))["conflict"] is True


def test_a_delivery_without_the_named_header_is_known_by_its_answers(door: Doorway) -> None:
    found = [event(door.form("by-header", message=text)) for text in ("a", "b", "a")]
    assert [each["duplicate"] for each in found] == [False, False, True]


@pytest.mark.parametrize("name", ["0", "null", "undefined"])
def test_a_header_that_names_nothing_leaves_the_answers(door: Doorway, name: str) -> None:
    found = [event(post_named(door, "by-header", name, message=text)) for text in ("a", "b", "a")]
    assert [each["duplicate"] for each in found] == [False, False, True]


@pytest.mark.parametrize("order", ["7", 7, "x" * 5000, "\ud800", "\x00"])
def test_a_source_by_pointer_takes_equal_values_for_one_event(door: Doorway, order: object) -> None:
    body = as_json({"data": {"order/id": order, **ANSWERS}})
    found = [event(accepted(door.post("by-pointer", body))) for _ in range(2)]
    assert [(each["duplicate"], each["conflict"]) for each in found] == [(False, False), (True, False)]


def test_a_source_by_pointer_takes_other_answers_under_one_value_for_a_conflict(door: Doorway) -> None:
    bodies = [as_json({"data": {"order/id": 7, "message": text}}) for text in ("Hola", "Otra cosa")]
    found = [event(accepted(door.post("by-pointer", body))) for body in bodies]
    assert [each["conflict"] for each in found] == [False, True]


@pytest.mark.parametrize("data", [[{"order/id": 1}], {"order/id": True}, {"order/id": {}}, "text", None])
def test_a_pointer_that_points_at_nothing_leaves_the_answers(door: Doorway, data: object) -> None:
    found = [event(accepted(door.post("by-pointer", as_json({"data": data, **ANSWERS})))) for _ in range(2)]
    assert [each["duplicate"] for each in found] == [False, True]


def test_a_header_does_not_make_one_event_of_a_whole_batch(door: Doorway) -> None:
    body = whatsapp(message("wamid.1", "uno"), message("wamid.2", "dos"))
    document = accepted(door.post("wa-by-header", body, headers=SECOND))
    assert len({each["event_id"] for each in events(document)}) == 2


def test_two_sources_that_hear_one_number_share_identity(door: Doorway) -> None:
    body = whatsapp(message("wamid.1"))
    found = [event(accepted(door.post(source, body))) for source in ("group-a", "group-b")]
    assert [each["duplicate"] for each in found] == [False, True]


def test_two_sources_that_share_nothing_do_not_share_identity(door: Doorway) -> None:
    found = [event(door.form(source, delivery_id="msg_a")) for source in ("web", "gated")]
    assert [each["duplicate"] for each in found] == [False, False]


def test_a_renamed_source_knows_what_it_took_under_its_older_name(door: Doorway) -> None:
    door.form("renamed")
    (row,) = door.rows("SELECT source, scope FROM events")
    assert row == {"source": "renamed", "scope": "older"}


def test_a_source_may_answer_202(door: Doorway) -> None:
    accepted(door.post("status-202", as_json(ANSWERS)), status=202)


def test_what_needs_approval_waits_for_a_person(door: Doorway) -> None:
    assert event(door.form("gated"))["state"] == "awaiting_approval"
    (item,) = door.rows("SELECT kind, reason FROM items WHERE closed_at IS NULL")
    assert item == {"kind": "delivery", "reason": "approval_required"}


# --- quotes ----------------------------------------------------------------------------------------------------------


def test_the_versions_of_a_quote_are_events_of_one_need(door: Doorway) -> None:
    found = [event(accepted(door.post("quotes", as_json(quote(version=version))))) for version in (2, 1, 3)]
    assert [each["duplicate"] for each in found] == [False, False, False]
    assert (door.count("events"), door.count("needs")) == (3, 1)


def test_another_body_under_the_same_version_is_a_conflict(door: Doorway) -> None:
    found = [event(accepted(door.post("quotes", as_json(quote(amount=amount))))) for amount in ("100.00", "1.00")]
    assert [each["conflict"] for each in found] == [False, True]


def test_a_quote_sent_again_at_another_time_is_a_duplicate(door: Doorway) -> None:
    moments = ("2026-11-20T15:04:05-05:00", "2026-11-20T15:09:05-05:00")
    found = [event(accepted(door.post("quotes", as_json(quote(issued_at=moment))))) for moment in moments]
    assert [each["duplicate"] for each in found] == [False, True]


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1900-01-01T00:00:00Z"])
def test_a_quote_from_the_end_of_time_is_taken(door: Doorway, moment: str) -> None:
    assert event(accepted(door.post("quotes", as_json(quote(issued_at=moment)))))["state"] == "received"
