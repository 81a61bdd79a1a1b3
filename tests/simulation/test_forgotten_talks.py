"""A restored database has forgotten a conversation, and its messages come again in another order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import psycopg
import pytest

from intake import installation
from tests.lab import Lab

START = 1_790_000_000
LEASE = timedelta(seconds=30)


@contextmanager
def forgotten(lab: Lab) -> Iterator[None]:
    """The database is brought back to where it had accepted nothing, and a new epoch is opened."""
    with psycopg.connect(lab.database_url, autocommit=True) as conn:
        conn.execute("TRUNCATE receipts, events, needs, conversations, records, attempts, delivery_history CASCADE")
        installation.open_epoch(conn, lease=LEASE)
    lab.pass_time(LEASE)
    yield


def test_a_talk_that_comes_again_in_another_order_is_one_opportunity(stored: Lab) -> None:
    stored.whatsapp("Hola", at=START, ids=["wamid.A"])
    stored.whatsapp("Quiero una silla", at=START + 600, ids=["wamid.B"])
    stored.settle(rounds=2)
    assert len(stored.in_crm("opportunity")) == 1
    with forgotten(stored):
        later = stored.whatsapp("Quiero una silla", at=START + 600, ids=["wamid.B"])
        stored.settle(rounds=4)
        first = stored.whatsapp("Hola", at=START, ids=["wamid.A"])
        stored.settle(rounds=4)
    assert [stored.state(each) for each in (*later, *first)] == ["confirmed", "confirmed"]
    assert [len(stored.in_crm(kind)) for kind in ("contact", "opportunity", "task")] == [1, 1, 1]


def test_a_talk_of_another_week_is_not_taken_for_the_old_one(stored: Lab) -> None:
    stored.whatsapp("Hola", at=START)
    stored.settle(rounds=2)
    with forgotten(stored):
        (event,) = stored.whatsapp("Otra consulta", at=START + 7 * 24 * 3600)
        stored.settle(rounds=4)
    assert stored.state(event) == "confirmed"
    assert len(stored.in_crm("opportunity")) == 2


@pytest.mark.parametrize("hours", [1, 23])
def test_two_needs_of_one_talk_within_the_window_are_a_persons(stored: Lab, hours: int) -> None:
    ad = {"source_id": "ad-1", "headline": "Sillas"}
    stored.whatsapp("Hola", at=START)
    stored.settle(rounds=2)
    stored.whatsapp("Vi el anuncio", at=START + hours * 3600, referral=ad)
    stored.settle(rounds=2)
    assert len(stored.in_crm("opportunity")) == 2
    with forgotten(stored):
        (event,) = stored.whatsapp("Y el precio", at=START + hours * 1800)
        stored.settle(rounds=4)
    assert (stored.state(event), stored.delivery(event)["reason"]) == ("review", "conversation_ambiguous")
    assert len(stored.in_crm("opportunity")) == 2
