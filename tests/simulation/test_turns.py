"""More is due than there are threads: a lead of today, and a doubt, do not wait for the end of a flood."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.lab import Lab
from workers import drain
from workers.turns import OTHERS_FIRST_EVERY

FLOOD = 20
CLAIMS = """
    SELECT e.source, e.mode FROM delivery_history h JOIN events e USING (event_id)
     WHERE h.to_state = 'delivering' ORDER BY history_id
"""
BEFORE_THE_LOOK = """
    SELECT FROM delivery_history
     WHERE to_state = 'delivering' AND event_id <> %(event_id)s
       AND history_id < (SELECT history_id FROM delivery_history WHERE from_state = 'uncertain')
"""


def flood(lab: Lab) -> None:
    for number in range(FLOOD):
        lab.quote(f"COT-{number}", contact={"name": "Lucía Prueba", "phone": f"9123456{number:02}"})


@pytest.mark.parametrize("threads", [1, 3])
def test_a_lead_of_another_source_is_among_the_next(stored: Lab, threads: int) -> None:
    flood(stored)
    event = stored.form()
    drain.drain(stored.desk, threads=threads)
    claims = [each["source"] for each in stored.rows(CLAIMS)]
    assert len(claims) == FLOOD + 1
    assert claims.index("web") <= threads
    assert stored.state(event) == "confirmed"


def test_two_floods_take_turns(stored: Lab) -> None:
    flood(stored)
    for number in range(FLOOD):
        stored.form(phone=f"9876543{number:02}", email="")
    drain.drain(stored.desk, threads=1)
    claims = [each["source"] for each in stored.rows(CLAIMS)]
    assert claims == ["quotes", "web"] * FLOOD


def test_a_newer_source_has_its_turn_between_two_floods(stored: Lab) -> None:
    flood(stored)
    for number in range(FLOOD):
        stored.form(phone=f"9876543{number:02}", email="")
    stored.whatsapp("Hola")
    drain.drain(stored.desk, threads=1)
    assert [each["source"] for each in stored.rows(CLAIMS)][:5] == ["quotes", "web", "wa", "quotes", "web"]


def test_what_a_source_sends_for_tests_holds_up_no_lead_of_its_own(stored: Lab) -> None:
    for number in range(FLOOD):
        stored.form(mode="test", phone=f"9876543{number:02}", email="")
    stored.form()
    drain.drain(stored.desk, threads=1)
    assert [each["mode"] for each in stored.rows(CLAIMS)][:3] == ["test", "live", "test"]


def test_who_claims_next_knows_of_the_one_before(stored: Lab) -> None:
    stored.form()
    known: list[int] = []
    assert drain.one(stored.desk, lambda: known.extend(each.in_hand for each in stored.desk.in_hand.had))
    assert known == [1]
    assert [each.in_hand for each in stored.desk.in_hand.had] == [0]


def test_a_doubt_is_looked_up_before_a_flood_is_over(stored: Lab) -> None:
    event = stored.form()
    stored.lose("opportunity")
    drain.drain(stored.desk, threads=1)
    assert stored.state(event) == "uncertain"
    stored.pass_time(timedelta(hours=1))
    flood(stored)
    drain.drain(stored.desk, threads=1)
    assert stored.state(event) == "confirmed"
    assert len(stored.rows(BEFORE_THE_LOOK, event_id=event)) <= OTHERS_FIRST_EVERY
