"""Which delivery may be claimed: one that is due, and one thing about it or beside it that may stand in its way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest

from intake import deliveries
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
