"""Other content under a known identity, accepted by a person: it goes on as a correction, or as a guarded update."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

import pytest

from tests.commands import DECIDED, beside, intake
from tests.lab import Lab
from tests.ruled import rule
from tests.simulation.world import People, ledger
from tests.simulation.zombies import zombie

EACH_ONCE = {"contact": 1, "opportunity": 1, "task": 1}


@pytest.fixture
def environ(stored: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(stored, tmp_path)


def conflict(stored: Lab, amount: str = "999.00") -> int:
    """The same quote and version again, with another amount; returns the open item."""
    (row,) = stored.rows("SELECT content FROM bodies WHERE what = 'raw' ORDER BY body_id LIMIT 1")
    content = row["content"]
    assert isinstance(content, bytes)
    stored.post("quotes", content.replace(b"100.00", amount.encode()))
    (item,) = stored.rows("SELECT item_id FROM items WHERE kind = 'conflict' AND closed_at IS NULL")
    return int(str(item["item_id"]))


def accept(stored: Lab, environ: Mapping[str, str], item: int) -> str:
    said = intake(environ, "resolve", item, "accept", *DECIDED)
    assert said.status == 0, said.err
    stored.work()
    return said.out


def first(stored: Lab) -> UUID:
    event = stored.quote(amount="100.00")
    stored.work()
    return event


def test_what_is_accepted_brings_the_opportunity_up_to_date(stored: Lab, environ: Mapping[str, str]) -> None:
    event = first(stored)
    accept(stored, environ, conflict(stored))
    assert (stored.state(event), People(stored).only("opportunity")["amount"]) == ("confirmed", "999.00")
    assert ledger(stored) == EACH_ONCE


def test_what_an_adviser_changed_stays_and_he_is_told(stored: Lab, environ: Mapping[str, str]) -> None:
    first(stored)
    People(stored).edit("opportunity", amount="90.00")
    accept(stored, environ, conflict(stored))
    assert (People(stored).only("opportunity")["amount"], ledger(stored)["note"]) == ("90.00", 1)


def test_the_first_content_is_kept_beside_it(stored: Lab, environ: Mapping[str, str]) -> None:
    event = first(stored)
    accept(stored, environ, conflict(stored))
    rows = stored.rows("SELECT revision FROM bodies WHERE event_id = %(id)s ORDER BY 1", id=event)
    assert [row["revision"] for row in rows] == [1, 2]


def test_before_the_first_is_delivered_the_accepted_one_is(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.quote(amount="100.00")
    accept(stored, environ, conflict(stored))
    assert (People(stored).only("opportunity")["amount"], ledger(stored)) == ("999.00", EACH_ONCE)


def test_where_new_content_is_gated_the_accepted_one_awaits_approval(
    stored: Lab, environ: Mapping[str, str], tmp_path: Path
) -> None:
    event = first(stored)
    item = conflict(stored)
    rule(stored, tmp_path, "quotes", 'approval = "required"')
    accept(stored, environ, item)
    assert (stored.state(event), People(stored).only("opportunity")["amount"]) == ("awaiting_approval", "100.00")
    intake(environ, "approve", event, *DECIDED)
    stored.work()
    assert People(stored).only("opportunity")["amount"] == "999.00"


def test_a_form_that_is_accepted_changes_its_opportunity(stored: Lab, environ: Mapping[str, str]) -> None:
    event = stored.form(message="Quiero una silla", delivery_id="msg_same")
    stored.work()
    stored.form(message="Quiero dos sillas", delivery_id="msg_same")
    (item,) = stored.rows("SELECT item_id FROM items WHERE kind = 'conflict'")
    accept(stored, environ, int(str(item["item_id"])))
    assert stored.state(event) == "confirmed"
    assert "dos sillas" in str(People(stored).only("opportunity")["text"])
    assert ledger(stored) == EACH_ONCE


def test_a_message_that_is_accepted_is_a_second_note(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.whatsapp("Hola", at=1_790_000_000)
    stored.work()
    (note,) = stored.whatsapp("Una silla", at=1_790_000_100, ids=["wamid.same"])
    stored.work()
    stored.whatsapp("Dos sillas", at=1_790_000_100, ids=["wamid.same"])
    (item,) = stored.rows("SELECT item_id FROM items WHERE kind = 'conflict'")
    accept(stored, environ, int(str(item["item_id"])))
    assert (stored.state(note), ledger(stored)["note"]) == ("confirmed", 2)


def test_a_message_that_another_s_note_carried_is_a_note_of_its_own_then(
    stored: Lab, environ: Mapping[str, str]
) -> None:
    stored.whatsapp("Hola", at=1_790_000_000)
    stored.work()
    stored.whatsapp("Y además", "Una silla", at=1_790_000_100, ids=["wamid.first", "wamid.same"])
    stored.work()
    stored.whatsapp("Dos sillas", at=1_790_000_101, ids=["wamid.same"])
    (item,) = stored.rows("SELECT item_id FROM items WHERE kind = 'conflict'")
    accept(stored, environ, int(str(item["item_id"])))
    assert [("Dos sillas" in str(each["text"])) for each in stored.in_crm("note")] == [False, True]


@pytest.mark.parametrize("nth", [0, 1])
def test_a_message_whose_note_is_in_doubt_takes_no_other_content(
    stored: Lab, environ: Mapping[str, str], nth: int
) -> None:
    item = _other_words(stored, nth, note_in_doubt=True)
    assert intake(environ, "resolve", item, "accept", *DECIDED).status == 1
    stored.dials.no_faults()
    stored.settle(rounds=3)
    accept(stored, environ, item)
    assert "Dos sillas" in str(stored.in_crm("note")[-1]["text"])


def test_a_message_that_is_being_written_into_a_note_takes_no_other_content(
    stored: Lab, environ: Mapping[str, str]
) -> None:
    item = _other_words(stored, 1, note_in_doubt=False)
    with zombie(stored, "note.before_commit"):
        assert intake(environ, "resolve", item, "accept", *DECIDED).status == 1
    stored.work()
    accept(stored, environ, item)
    assert "Dos sillas" in str(stored.in_crm("note")[-1]["text"])


def _other_words(stored: Lab, nth: int, *, note_in_doubt: bool) -> int:
    """Two messages of one note, not delivered or in doubt, of which the nth comes again with other words."""
    stored.whatsapp("Hola", at=1_790_000_000)
    stored.work()
    stored.whatsapp("Y además", "Una silla", at=1_790_000_100, ids=["wamid.first", "wamid.second"])
    if note_in_doubt:
        stored.lose("note")
        stored.work()
    stored.whatsapp("Dos sillas", at=1_790_000_100 + nth, ids=[("wamid.first", "wamid.second")[nth]])
    (item,) = stored.rows("SELECT item_id FROM items WHERE kind = 'conflict'")
    return int(str(item["item_id"]))


def test_a_conflict_of_what_was_cancelled_can_only_be_kept(stored: Lab, environ: Mapping[str, str]) -> None:
    event = stored.quote(amount="100.00")
    item = conflict(stored)
    intake(environ, "settle", event, "cancel", *DECIDED)
    assert [intake(environ, "resolve", item, word, *DECIDED).status for word in ("accept", "keep")] == [1, 0]


def test_a_purged_content_can_only_be_kept(stored: Lab, environ: Mapping[str, str]) -> None:
    first(stored)
    item = conflict(stored)
    with stored.pool.connection() as conn:
        conn.execute("UPDATE bodies SET content = NULL, purged_at = now() WHERE what = 'raw'")
    assert intake(environ, "resolve", item, "accept", *DECIDED).status == 1
    assert intake(environ, "item", item, "--json").document["closed_at"] is None
