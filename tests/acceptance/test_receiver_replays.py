"""What is older than its source keeps identities might have come before: a person decides, and nothing else waits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from intake.quarantine import Releaser, release, reread
from tests.doorway import SOURCES, WHATSAPP, Doorway, accepted, doorway, event, message, whatsapp

KEPT = (
    "key_retention_days = 30\npayload_retention_days = 10\nattempt_retention_days = 10\ndecision_retention_days = 10\n"
)
DAY = int(timedelta(days=1).total_seconds())


@pytest.fixture
def door(database_url: str, tmp_path: Path) -> Iterator[Doorway]:
    with doorway(database_url, tmp_path, sources={"wa": WHATSAPP + KEPT, "wa-for-ever": SOURCES["wa"]}) as made:
        yield made


def days_ago(days: int) -> int:
    return int(time.time()) - days * DAY


OLD = 31


def replayed(door: Doorway) -> int:
    """One old message, put aside; its item."""
    assert accepted(door.post("wa", whatsapp(message("wamid.1", at=days_ago(OLD)))))["quarantined"] == 1
    (item,) = door.rows("SELECT item_id, reason FROM items WHERE kind = 'quarantine' AND closed_at IS NULL")
    assert item["reason"] == "replay"
    return int(str(item["item_id"]))


def test_a_message_older_than_identities_are_kept_is_a_persons(door: Doorway) -> None:
    replayed(door)
    assert (door.count("events"), door.count("deliveries")) == (0, 0)


def test_the_others_of_its_batch_go_on(door: Doorway) -> None:
    both = whatsapp(message("wamid.1", at=days_ago(OLD)), message("wamid.2", at=days_ago(1)))
    document = accepted(door.post("wa", both))
    assert (document["quarantined"], event(document)["duplicate"], door.count("deliveries")) == (1, False, 1)


def test_what_is_known_still_is_a_duplicate_however_old(door: Doorway) -> None:
    first = event(accepted(door.post("wa", whatsapp(message("wamid.1", at=days_ago(29))))))
    again = event(accepted(door.post("wa", whatsapp(message("wamid.1", at=days_ago(OLD))))))
    assert (again["event_id"], again["duplicate"]) == (first["event_id"], True)


def test_a_source_that_keeps_identities_for_ever_knows_no_replay(door: Doorway) -> None:
    event(accepted(door.post("wa-for-ever", whatsapp(message("wamid.1", at=days_ago(4000))))))


def test_a_person_may_say_that_it_counts(door: Doorway) -> None:
    item = replayed(door)
    with psycopg.connect(door.database_url, autocommit=True) as conn:
        done = release(conn, door.settings, item, Releaser("rosa", "never came"))
    assert (done.events, done.left, door.count("deliveries")) == (1, None, 1)


def test_reading_all_again_lets_no_replay_through(door: Doorway) -> None:
    replayed(door)
    with psycopg.connect(door.database_url, autocommit=True) as conn:
        done = reread(conn, door.settings)
    (item,) = door.rows("SELECT reason FROM items WHERE kind = 'quarantine' AND closed_at IS NULL")
    assert (done.released, item["reason"], door.count("deliveries")) == (0, "replay", 0)
