"""What could not be read is read again: by a person's word, corrected, or in bulk; once, and never all or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from intake import quarantine
from intake.config import Settings
from intake.quarantine import Again, Corrected, NotReleased, Releaser, Reread, release, reread
from tests.commands import intake
from tests.doorway import ENVIRON, Doorway, accepted, as_json, event, events, message, whatsapp

BROKEN = b'{"name": "Ana", "email": "ana@example.com"'
MENDED = BROKEN + b"}"
# A shape that the mapping of `generic` below reads, and that no well-known name finds.
ODD = as_json([["Ana", "ana@example.com"]])


def item_of(door: Doorway) -> int:
    (row,) = door.rows("SELECT item_id FROM items WHERE kind = 'quarantine' AND closed_at IS NULL")
    return int(str(row["item_id"]))


def released(door: Doorway, item_id: int, corrected: Corrected | None = None) -> Again:
    with psycopg.connect(door.database_url, autocommit=True) as conn:
        return release(conn, door.settings, item_id, Releaser("rosa", "mended"), corrected=corrected)


def read_again(door: Doorway, settings: Settings | None = None, source: str | None = None) -> Reread:
    with psycopg.connect(door.database_url, autocommit=True) as conn:
        return reread(conn, settings or door.settings, source=source)


def mend_parser(door: Doorway) -> None:
    """As if today's reader could read what it could not yesterday: the stored bytes become what it can read."""
    with psycopg.connect(door.database_url) as conn:
        conn.execute("UPDATE bodies SET content = content || '}' WHERE what = 'raw'")


def quarantined(door: Doorway, source: str = "web", body: bytes = BROKEN, *, delivery_id: str = "msg") -> None:
    assert accepted(door.post(source, body, delivery_id=delivery_id))["quarantined"] == 1


def test_what_reads_today_is_accepted_and_its_item_closed(door: Doorway) -> None:
    quarantined(door)
    mend_parser(door)
    done = released(door, item_of(door))
    assert (done.events, done.duplicates, done.left) == (1, 0, None)
    (item,) = door.rows("SELECT resolution, closed_at IS NOT NULL AS closed FROM items WHERE kind = 'quarantine'")
    assert item == {"resolution": "release", "closed": True}
    (receipt,) = door.rows("SELECT verdict, counts FROM receipts")
    assert receipt["verdict"] == "accepted"
    assert door.count("deliveries") == 1


def test_it_has_the_identity_and_the_time_of_its_delivery(door: Doorway) -> None:
    quarantined(door, delivery_id="msg_first")
    mend_parser(door)
    (event_id,) = released(door, item_of(door)).event_ids
    again = event(accepted(door.post("web", MENDED, delivery_id="msg_first")))
    assert (again["event_id"], again["duplicate"]) == (str(event_id), True)
    (times,) = door.rows(
        "SELECT e.received_at = r.received_at AS same FROM events e JOIN receipts r USING (receipt_id)"
    )
    assert times == {"same": True}


def test_what_still_does_not_read_stays_open_and_says_why(door: Doorway) -> None:
    quarantined(door)
    item = item_of(door)
    assert released(door, item).left is not None
    assert item_of(door) == item


def test_who_released_it_and_why_is_kept(door: Doorway) -> None:
    quarantined(door)
    mend_parser(door)
    released(door, item_of(door))
    (decision,) = door.rows("SELECT author, reason, action FROM decisions")
    assert decision == {"author": "rosa", "reason": "mended", "action": "resolve release"}


def test_a_corrected_body_is_accepted_and_the_original_is_kept(door: Doorway) -> None:
    quarantined(door)
    done = released(door, item_of(door), Corrected(MENDED))
    assert done.events == 1
    bodies = {row["content"] for row in door.rows("SELECT content FROM bodies WHERE what = 'raw'")}
    assert bodies == {BROKEN, MENDED}


def test_a_correction_that_does_not_read_changes_nothing(door: Doorway) -> None:
    quarantined(door)
    item = item_of(door)
    with pytest.raises(NotReleased):
        released(door, item, Corrected(b"{still broken"))
    assert item_of(door) == item
    assert (door.count("receipts"), door.count("decisions")) == (1, 0)


def test_an_item_is_released_once(door: Doorway) -> None:
    quarantined(door)
    mend_parser(door)
    item = item_of(door)

    def one(_: int) -> Again | str:
        try:
            return released(door, item)
        except NotReleased as why:
            return why.why

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(one, range(4)))
    assert found.count("closed") == 3
    assert door.count("events") == 1


def test_the_same_bytes_of_two_deliveries_are_two_events(door: Doorway) -> None:
    quarantined(door, delivery_id="msg_1")
    quarantined(door, delivery_id="msg_2")
    mend_parser(door)
    assert released(door, item_of(door)).events == 2


def test_the_good_ones_of_a_batch_were_accepted_and_are_not_again(door: Doorway) -> None:
    body = whatsapp(message("wamid.1"), "no message", message("wamid.2"))
    document = accepted(door.post("wa", body))
    assert (len(events(document)), document["quarantined"]) == (2, 1)
    done = released(door, item_of(door))
    assert (done.events, done.duplicates, done.left is None) == (0, 2, False)
    with psycopg.connect(door.database_url) as conn:
        mended = whatsapp(message("wamid.1"), message("wamid.3"), message("wamid.2"))
        conn.execute("UPDATE bodies SET content = %s WHERE what = 'raw'", [mended])
    done = released(door, item_of(door))
    assert (done.events, done.duplicates, done.left) == (1, 2, None)


def test_reread_takes_all_and_leaves_what_does_not_read(door: Doorway) -> None:
    for i in range(3):
        quarantined(door, body=BROKEN + b', "message": "%d"' % i, delivery_id=f"msg_{i}")
    mend_parser(door)
    quarantined(door, "generic", b"[")
    assert read_again(door) == Reread(items=4, released=3, unreadable=1, events=3)
    assert read_again(door) == Reread(items=1, unreadable=1)


def test_reread_of_one_source_leaves_the_others(door: Doorway) -> None:
    quarantined(door)
    quarantined(door, "generic", b"[")
    mend_parser(door)
    assert read_again(door, source="web") == Reread(items=1, released=1, events=1)


FAULT = """
    CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'fault' USING ERRCODE = 'internal_error';
    END $$;
    CREATE TRIGGER fault BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.request_id = 'msg_1') EXECUTE FUNCTION fault();
"""


def test_one_bad_item_stops_no_other(door: Doorway) -> None:
    for i in range(4):
        quarantined(door, body=BROKEN + b', "message": "%d"' % i, delivery_id=f"msg_{i}")
    mend_parser(door)
    with psycopg.connect(door.database_url) as conn:
        # The second fails in the database, the third in our own code.
        conn.execute(FAULT)
        conn.execute("UPDATE receipts SET headers = '[]' WHERE headers ->> 'webhook-id' = 'msg_2'")
    done = read_again(door)
    assert (done.released, done.failed) == (2, 2)
    assert door.count("events") == 2


def test_a_source_that_is_gone_is_told(door: Doorway) -> None:
    quarantined(door)
    without = replace(door.settings, sources={})
    assert read_again(door, without) == Reread(items=1, failed=1)


def test_a_form_without_an_id_is_itself_however_often_it_is_read(door: Doorway) -> None:
    quarantined(door, "by-body")
    mend_parser(door)
    item = item_of(door)
    released(door, item)
    with psycopg.connect(door.database_url) as conn:  # as if it had not been closed, long after
        conn.execute("UPDATE items SET closed_at = NULL, resolution = NULL")
        conn.execute("UPDATE receipts SET counts = counts || '{\"quarantined\": 1}'")
        conn.execute("TRUNCATE identity_windows")
    assert (released(door, item).duplicates, door.count("events")) == (1, 1)


# --- as commands ----------------------------------------------------------------------------------------------------


@pytest.fixture
def environ(door: Doorway, tmp_path: Path) -> Mapping[str, str]:
    home = {"INTAKE_HOME": str(tmp_path / "home"), "INTAKE_CONFIG": str(tmp_path / "intake.toml")}
    return {**ENVIRON, **home, "DATABASE_URL": door.database_url}


def test_commands_release_with_a_body_and_read_again(door: Doorway, environ: Mapping[str, str], tmp_path: Path) -> None:
    quarantined(door)
    (tmp_path / "mended.json").write_bytes(MENDED)
    who = ("--by", "rosa", "--reason", "comma missing")
    refused = intake(environ, "resolve", item_of(door), "release", *who)
    assert (refused.status, "sigue abierto" in refused.err) == (1, True)
    said = intake(environ, "resolve", item_of(door), "release", "--body", tmp_path / "mended.json", *who)
    assert (said.status, "1 nuevos" in said.out) == (0, True)
    again = intake(environ, "reread", "--json")
    assert (again.status, json.loads(again.out)["items"]) == (0, 0)


def test_a_reason_is_a_word_and_fields_are_rules(door: Doorway) -> None:
    quarantined(door)
    with pytest.raises(NotReleased) as told:
        released(door, 4711)
    assert (told.value.why, told.value.fields) == ("gone", {})
    assert quarantine.NotReleased("x", {"a": "b"}).fields == {"a": "b"}
