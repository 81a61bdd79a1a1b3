"""Spam is cancelled, and what its sender sends later is held for a person; nothing is dropped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

import pytest

from tests.commands import DECIDED, beside, intake
from tests.lab import Lab
from tests.ruled import rule
from tests.simulation.world import ledger


@pytest.fixture
def environ(stored: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(stored, tmp_path)


def stands(stored: Lab, event: UUID) -> tuple[object, object]:
    row = stored.delivery(event)
    return row["state"], row["reason"]


def test_spam_is_cancelled(stored: Lab, environ: Mapping[str, str]) -> None:
    event = stored.form()
    assert intake(environ, "spam", event, *DECIDED).status == 0
    stored.work()
    assert (stored.state(event), ledger(stored)) == ("cancelled", {})


@pytest.mark.parametrize("again", [{"email": "other@example.com"}, {"phone": "912345678"}], ids=["phone", "e-mail"])
def test_what_its_sender_sends_later_is_held(stored: Lab, environ: Mapping[str, str], again: dict[str, str]) -> None:
    intake(environ, "spam", stored.form(), *DECIDED)
    later = stored.form(message="Otra", **again)
    stored.work()
    assert (stands(stored, later), ledger(stored)) == (("awaiting_approval", "held_as_spam"), {})


def test_the_same_number_on_whatsapp_is_held(stored: Lab, environ: Mapping[str, str]) -> None:
    intake(environ, "spam", stored.form(phone="987650001"), *DECIDED)
    (later,) = stored.whatsapp("Hola", sender="51987650001")
    assert stands(stored, later) == ("awaiting_approval", "held_as_spam")


def test_everybody_else_gets_through(stored: Lab, environ: Mapping[str, str]) -> None:
    intake(environ, "spam", stored.form(), *DECIDED)
    other = stored.form(email="otra@example.com", phone="912345678")
    stored.work()
    assert stored.state(other) == "confirmed"


def test_what_was_held_may_be_let_through(stored: Lab, environ: Mapping[str, str]) -> None:
    intake(environ, "spam", stored.form(), *DECIDED)
    later = stored.form(message="Otra")
    intake(environ, "approve", later, *DECIDED)
    stored.work()
    assert stored.state(later) == "confirmed"


def test_a_mistake_can_be_undone(stored: Lab, environ: Mapping[str, str]) -> None:
    event = stored.form()
    intake(environ, "spam", event, *DECIDED)
    assert intake(environ, "spam", event, "--undo", *DECIDED).status == 0
    later = stored.form(message="Otra")
    stored.work()
    assert stored.state(later) == "confirmed"


def test_a_test_does_not_block_a_live_lead(stored: Lab, environ: Mapping[str, str]) -> None:
    intake(environ, "spam", stored.form(mode="test"), *DECIDED)
    assert stored.state(stored.form(message="Otra")) == "received"


def test_what_is_blocked_is_a_keyed_hash(stored: Lab, environ: Mapping[str, str]) -> None:
    intake(environ, "spam", stored.form(), *DECIDED)
    rows = stored.rows("SELECT key FROM blocked_keys")
    assert rows
    assert all(isinstance(row["key"], bytes) and len(row["key"]) == 32 for row in rows)


def test_spam_that_got_through_blocks_all_the_same(stored: Lab, environ: Mapping[str, str]) -> None:
    event = stored.form()
    stored.work()
    said = intake(environ, "spam", event, *DECIDED)
    assert (said.status, "En el CRM: oportunidad" in said.out, stored.state(event)) == (0, True, "confirmed")


@pytest.mark.parametrize(
    ("message", "state"),
    [
        ("Vea https://example.com", "awaiting_approval"),
        ("Vea WWW.example.com", "awaiting_approval"),
        ("Hola", "received"),
    ],
)
def test_a_source_may_hold_what_brings_links(stored: Lab, tmp_path: Path, message: str, state: str) -> None:
    rule(stored, tmp_path, "web", 'hold = "links"')
    assert stored.state(stored.form(message=message)) == state


def test_a_source_without_the_rule_lets_links_through(stored: Lab) -> None:
    assert stored.state(stored.form(message="Vea https://example.com")) == "received"


LONG = "Ofrecemos posicionamiento en buscadores para su empresa, desde hoy mismo"


def sent(stored: Lab, *messages: str) -> list[object]:
    """The states of forms of other people each, in their order."""
    people = [{"email": f"p{n}@example.com", "phone": f"98765{n:04d}"} for n in range(len(messages))]
    return [stored.state(stored.form(message=text, **who)) for text, who in zip(messages, people, strict=True)]


def test_a_source_may_hold_what_several_people_write_word_for_word(stored: Lab, tmp_path: Path) -> None:
    rule(stored, tmp_path, "web", 'hold = "repeated"')
    assert sent(stored, LONG, LONG, f" {LONG.upper()} ") == ["received", "received", "awaiting_approval"]


def test_what_many_write_by_themselves_is_not_held(stored: Lab, tmp_path: Path) -> None:
    rule(stored, tmp_path, "web", 'hold = "repeated"')
    assert set(sent(stored, *["Hola, quiero más información"] * 4)) == {"received"}


def test_a_source_without_the_rule_lets_repeated_words_through(stored: Lab) -> None:
    assert set(sent(stored, *[LONG] * 4)) == {"received"}
