"""Which delivery may be claimed: one that is due, and one thing about it or beside it that may stand in its way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest

from intake import deliveries
from intake.deliveries import Had
from tests.conftest import fresh_database

DUE = """
    SET session_replication_role = replica;
    INSERT INTO records (destination, mode, kind, reference, state, crm_id, how)
    VALUES ('crm', 'live', 'task', 'n1-t', 'known', '7', 'answer'), ('crm', 'live', 'task', 'n2-t', 'none', NULL, NULL);
    INSERT INTO deliveries (event_id, need_id, part, position, mode, source, destination, state, reason, due_at)
    VALUES (md5('due')::uuid, 1, 'version', 2, 'live', 'web', 'crm', 'waiting', 'x', '-infinity');
"""
OVER = "approved_until = clock_timestamp() - interval '1 s'"
MADE, NOT_MADE = (f"(SELECT record_id FROM records WHERE reference = '{each}')" for each in ("n1-t", "n2-t"))  # noqa: S608


def changed(what: str) -> str:
    return f"UPDATE deliveries SET {what}"  # noqa: S608  # words of this file


def beside(state: str, *, position: int = 1) -> str:
    """Another delivery of the same need, which is not due."""
    return f"""
        INSERT INTO deliveries (event_id, need_id, part, position, mode, source, destination, state, reason, due_at,
                                claim_token, claimed_until, blocked_on)
        SELECT md5('other')::uuid, 1, 'version', {position}, 'live', 'web', 'crm', state, 'x',
               CASE WHEN state IN ('received', 'waiting') THEN 'infinity'::timestamptz END,
               CASE WHEN state = 'delivering' THEN gen_random_uuid() END,
               CASE WHEN state = 'delivering' THEN clock_timestamp() END, CASE WHEN state = 'uncertain' THEN 1 END
          FROM (SELECT '{state}' AS state) AS of
    """  # noqa: S608  # words of this file


MAY = {
    "due": "",
    "received": changed("state = 'received'"),
    "an account that works": "INSERT INTO accounts (destination) VALUES ('crm')",
    "another account paused": "INSERT INTO accounts VALUES ('other', clock_timestamp(), 'x', clock_timestamp())",
    "another source paused": "INSERT INTO paused_sources (source) VALUES ('wa')",
    "approved for a while yet": changed("approved_until = clock_timestamp() + interval '1 hour'"),
    "approval over, its task stands": changed(f"{OVER}, task_record = {MADE}"),
    "approval over, its note stands": changed(f"{OVER}, part = 'follow_up', note_record = {MADE}"),
    **{f"an earlier one {state}": beside(state) for state in ("uncertain", "review", "confirmed", "awaiting_approval")},
    **{f"a later one {state}": beside(state, position=3) for state in ("received", "waiting")},
}
MAY_NOT = {
    "due later": changed("due_at = clock_timestamp() + interval '1 hour'"),
    "not ours": changed("destination = 'other'"),
    "its account paused": "INSERT INTO accounts VALUES ('crm', clock_timestamp(), 'x', clock_timestamp())",
    "its source paused": "INSERT INTO paused_sources (source) VALUES ('web')",
    "approval over, nothing begun": changed(OVER),
    "approval over, its task is not made": changed(f"{OVER}, task_record = {NOT_MADE}"),
    "approval over, only a task stands": changed(f"{OVER}, part = 'follow_up', task_record = {MADE}"),
    "approval over, only a note stands": changed(f"{OVER}, note_record = {MADE}"),
    **{f"an earlier one {state}": beside(state) for state in ("received", "waiting", "delivering")},
    "a later one delivering": beside("delivering", position=3),
}


@pytest.fixture(scope="module")
def quiet_url(postgres_server: str, migrated_template: str) -> Iterator[str]:
    """A database in which nothing stays."""
    with fresh_database(postgres_server, template=migrated_template) as (_, url):
        yield url


def is_claimed(url: str, change: str) -> bool:
    with psycopg.connect(url) as conn:
        conn.execute(f"{DUE}; {change}".encode())
        claimed = deliveries.claim(conn, destinations=["crm"], lease=timedelta(minutes=1))
        conn.rollback()
    return claimed is not None


@pytest.mark.parametrize("change", MAY.values(), ids=MAY.keys())
def test_what_is_due_may_be_claimed(quiet_url: str, change: str) -> None:
    assert is_claimed(quiet_url, change)


@pytest.mark.parametrize("change", MAY_NOT.values(), ids=MAY_NOT.keys())
def test_what_something_stands_in_the_way_of_may_not_be_claimed(quiet_url: str, change: str) -> None:
    assert not is_claimed(quiet_url, change)


# --- lanes ----------------------------------------------------------------------------------------------------------

FLOOD = """
    SET session_replication_role = replica;
    INSERT INTO deliveries (event_id, need_id, part, position, mode, source, destination, state, due_at)
    SELECT md5(source || n)::uuid, hashtext(source || n), 'opener', 0, 'live', source, destination, 'received',
           clock_timestamp() - age + n * interval '1 s'
      FROM (VALUES ('flood', 'crm', interval '3 days'), ('today', 'crm', interval '2 days'),
                   ('other', 'slow', interval '1 day')) AS lane (source, destination, age),
           generate_series(1, 3) AS n;
"""
BLOCKED = "UPDATE deliveries SET approved_until = '-infinity' WHERE source = 'flood'"
PAUSED = "INSERT INTO paused_sources (source) VALUES ('flood')"
PAUSED_ACCOUNT = "INSERT INTO accounts VALUES ('crm', clock_timestamp(), 'x', clock_timestamp())"
ELSEWHERE = "UPDATE deliveries SET due_at = 'infinity' WHERE source = 'flood'"


@pytest.mark.parametrize(
    ("in_hand", "last", "change", "taken"),
    [
        ("0 0 0", "0 0 0", "", "flood"),
        ("1 0 0", "1 0 0", "", "today"),
        ("1 1 0", "1 2 0", "", "other"),
        ("1 1 1", "1 2 3", "", "flood"),
        ("1 1 1", "3 1 2", "", "today"),
        ("1 2 1", "3 1 2", "", "other"),
        ("2 1 1", "1 2 3", "", "today"),
        ("0 0 0", "2 1 0", "", "other"),  # It never had a turn.
        ("0 0 0", "3 1 2", "", "today"),
        ("0 0 0", "0 0 0", BLOCKED, "today"),
        ("0 0 0", "0 0 0", PAUSED, "today"),
        ("0 0 0", "0 0 0", PAUSED_ACCOUNT, "other"),
        ("0 0 0", "0 0 0", ELSEWHERE, "today"),
        ("0 1 1", "0 1 2", BLOCKED, "today"),
    ],
)
def test_the_lane_of_which_the_least_is_in_hand_goes_first_then_whose_turn_was_longest_ago(
    quiet_url: str, in_hand: str, last: str, change: str, taken: str
) -> None:
    lanes = zip(("crm", "crm", "slow"), ("flood", "today", "other"), in_hand.split(), last.split(), strict=True)
    had = [Had(crm, source, int(count), int(turn)) for crm, source, count, turn in lanes]
    with psycopg.connect(quiet_url) as conn:
        conn.execute(f"{FLOOD}; {change}".encode())
        lease = timedelta(minutes=1)
        claimed = deliveries.claim(conn, destinations=["crm", "slow"], lease=lease, had=had)
        first = conn.execute("SELECT md5(%s || 1)::uuid", [taken]).fetchone()
        conn.rollback()
    assert claimed is not None
    assert (claimed.source, (claimed.event_id,)) == (taken, first)


def test_each_lane_tells_when_its_first_is_due(quiet_url: str) -> None:
    with psycopg.connect(quiet_url) as conn:
        conn.execute(FLOOD.encode())
        told = conn.execute("SELECT * FROM lanes").fetchall()
        asked = conn.execute("SELECT destination, source, min(due_at) FROM deliveries GROUP BY 1, 2 ORDER BY 1, 2")
        assert told == asked.fetchall()
        assert len(told) == 3
        conn.rollback()


def test_two_that_claim_at_once_take_different_ones_of_one_lane(quiet_url: str) -> None:
    with psycopg.connect(quiet_url) as setting:
        setting.execute(FLOOD.encode())
        setting.commit()
    try:
        with psycopg.connect(quiet_url) as one, psycopg.connect(quiet_url) as other:
            lease = timedelta(minutes=1)
            had = [Had("crm", "today", 1, 1), Had("slow", "flood", 9, 2)]
            taken = {deliveries.claim(each, destinations=["crm"], lease=lease, had=had) for each in (one, other)}
            assert [each.source for each in taken if each] == ["flood", "flood"]
            one.rollback()
            other.rollback()
    finally:
        with psycopg.connect(quiet_url) as setting:
            setting.execute("SET session_replication_role = replica; DELETE FROM deliveries")
            setting.commit()
