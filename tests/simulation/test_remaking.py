"""What the CRM lost is made anew and what stands is kept; a second opportunity is made on purpose only."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from uuid import UUID

import pytest

from intake import decided, remaking
from intake.decided import Author, Refused
from tests.commands import DECIDED, beside, intake
from tests.lab import Json, Lab
from tests.ruled import rule
from tests.simulation.watching import watching
from tests.simulation.world import People, ledger

EACH_ONCE = {"contact": 1, "opportunity": 1, "task": 1}


@pytest.fixture
def environ(stored: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(stored, tmp_path)


def confirmed(lab: Lab) -> UUID:
    event = lab.form()
    lab.work()
    assert lab.state(event) == "confirmed"
    return event


def only(lab: Lab, kind: str) -> Json:
    (record,) = lab.in_crm(kind)
    return record


# --- redeliver ------------------------------------------------------------------------------------------------------


def test_what_the_crm_lost_is_made_anew_under_a_reference_of_its_own(stored: Lab, environ: Mapping[str, str]) -> None:
    event = confirmed(stored)
    before = only(stored, "opportunity")
    People(stored).trash("opportunity")
    assert intake(environ, "redeliver", event, *DECIDED).status == 0
    stored.work()
    after = only(stored, "opportunity")
    assert (stored.state(event), after["reference"]) == ("confirmed", f"{before['reference']}-g2")


def test_what_stands_is_kept(stored: Lab, environ: Mapping[str, str]) -> None:
    event = confirmed(stored)
    People(stored).trash("task")
    said = intake(environ, "redeliver", event, *DECIDED).out
    stored.work()
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 2}
    assert f"En el CRM: oportunidad {only(stored, 'opportunity')['id']}" in said


def test_what_hung_on_a_lost_opportunity_comes_back_with_it(stored: Lab, environ: Mapping[str, str]) -> None:
    event = confirmed(stored)
    People(stored).trash("opportunity")
    intake(environ, "redeliver", event, *DECIDED)
    stored.work()
    new = only(stored, "opportunity")["id"]
    assert [each["opportunity_id"] for each in stored.in_crm("task")][-1] == new


def test_a_contact_made_anew_is_the_contact_of_the_next_lead(stored: Lab, environ: Mapping[str, str]) -> None:
    event = confirmed(stored)
    People(stored).trash("contact")
    assert intake(environ, "redeliver", event, *DECIDED).status == 0
    stored.work()
    stored.form(message="Otra consulta")
    stored.work()
    assert ledger(stored)["contact"] == 2
    assert len(stored.in_crm("contact")) == 1


def test_where_everything_stands_nothing_is_made_anew(stored: Lab, environ: Mapping[str, str]) -> None:
    event = confirmed(stored)
    assert intake(environ, "redeliver", event, *DECIDED).status == 1
    stored.work()
    assert ledger(stored) == EACH_ONCE


def test_a_crm_that_shows_not_even_the_sentinel_lost_nothing_we_could_know_of(
    stored: Lab, environ: Mapping[str, str]
) -> None:
    event = confirmed(stored)
    stored.dials.fault("false_absent", times=None)
    said = intake(environ, "redeliver", event, *DECIDED)
    assert (said.status, "sentinel" in said.err) == (1, True)
    assert len(stored.rows("SELECT * FROM deliveries")) == 1


def test_a_redelivery_keeps_the_first_delivery_as_it_was(stored: Lab, environ: Mapping[str, str]) -> None:
    event = confirmed(stored)
    People(stored).trash("opportunity")
    intake(environ, "redeliver", event, *DECIDED)
    stored.work()
    rows = stored.rows("SELECT generation, state FROM deliveries ORDER BY 1")
    assert [tuple(row.values()) for row in rows] == [(1, "confirmed"), (2, "confirmed")]


def test_what_was_deleted_between_two_steps_is_made_anew_by_a_person_s_word(
    stored: Lab, environ: Mapping[str, str]
) -> None:
    stored.whatsapp("Hola")
    event = stored.quote(version=1)
    stored.work()
    quote = next(each for each in stored.in_crm("opportunity") if each.get("amount"))
    People(stored).trash_one("opportunities", str(quote["id"]))
    later = stored.quote(version=2, amount="250.50")
    stored.work()
    assert stored.delivery(later)["reason"] == "opportunity_gone"
    assert intake(environ, "redeliver", later, *DECIDED).status == 0
    stored.work()
    assert (stored.state(event), stored.state(later)) == ("confirmed", "confirmed")
    assert [each["amount"] for each in stored.in_crm("opportunity") if each.get("amount")] == ["250.50"]


def test_a_lost_quote_is_made_anew_by_its_last_version_alone(stored: Lab, environ: Mapping[str, str]) -> None:
    first = stored.quote(version=1)
    stored.work()
    last = stored.quote(version=2, amount="250.50")
    stored.work()
    People(stored).trash("opportunity")
    assert [intake(environ, "redeliver", each, *DECIDED).status for each in (first, last)] == [1, 0]
    stored.work()
    assert only(stored, "opportunity")["amount"] == "250.50"


def test_what_was_replaced_is_no_incident(stored: Lab, environ: Mapping[str, str]) -> None:
    event = confirmed(stored)
    People(stored).trash("opportunity")
    intake(environ, "redeliver", event, *DECIDED)
    stored.work()
    assert intake(environ, "reconcile", "--verify").status == 0


def accused(lab: Lab, environ: Mapping[str, str]) -> UUID:
    """An event whose opportunity the CRM lost, which a reconciliation found, and which is delivered again."""
    event = confirmed(lab)
    People(lab).trash("opportunity")
    assert intake(environ, "reconcile", "--verify").status == 1
    assert intake(environ, "redeliver", event, *DECIDED).status == 0
    return event


def resolutions(lab: Lab) -> list[object]:
    return [row["resolution"] for row in lab.rows("SELECT resolution FROM items WHERE kind = 'incident'")]


def test_an_incident_is_over_once_what_was_made_anew_stands(stored: Lab, environ: Mapping[str, str]) -> None:
    accused(stored, environ)
    stored.work()
    assert intake(environ, "reconcile").status == 0
    assert resolutions(stored) == ["recovered"]


def test_an_incident_stays_open_while_what_is_made_anew_does_not_stand_yet(
    stored: Lab, environ: Mapping[str, str]
) -> None:
    accused(stored, environ)
    assert intake(environ, "reconcile").status == 0
    assert resolutions(stored) == [None]


def test_the_watch_closes_what_has_recovered(stored: Lab, environ: Mapping[str, str]) -> None:
    accused(stored, environ)
    stored.work()
    with watching(stored):
        assert resolutions(stored) == ["recovered"]


# --- a note whose opportunity was made anew ---------------------------------------------------------------------------


def lost_talk(lab: Lab) -> tuple[UUID, UUID]:
    """A conversation with a note, whose opportunity the CRM lost: opener and follow-up."""
    (opener,) = lab.whatsapp("Hola")
    lab.work()
    (follow_up,) = lab.whatsapp("Otra cosa", at=1_790_000_100)
    lab.work()
    People(lab).trash("opportunity")
    return opener, follow_up


def test_a_note_is_made_anew_once_its_new_opportunity_stands(stored: Lab, environ: Mapping[str, str]) -> None:
    opener, follow_up = lost_talk(stored)
    assert intake(environ, "redeliver", opener, *DECIDED).status == 0
    stored.work()
    assert intake(environ, "redeliver", follow_up, *DECIDED).status == 0
    stored.work()
    new = only(stored, "opportunity")["id"]
    assert stored.state(follow_up) == "confirmed"
    assert [each["opportunity_id"] for each in stored.in_crm("note")][-1] == new


def test_a_note_waits_for_the_opportunity_that_is_made_anew(stored: Lab, environ: Mapping[str, str]) -> None:
    opener, follow_up = lost_talk(stored)
    intake(environ, "redeliver", opener, *DECIDED)
    said = intake(environ, "redeliver", follow_up, *DECIDED)
    assert (said.status, "se está creando de nuevo" in said.err) == (1, True)


def test_a_note_comes_after_the_message_that_opens_its_opportunity(stored: Lab, environ: Mapping[str, str]) -> None:
    _, follow_up = lost_talk(stored)
    stored.rows("UPDATE records SET state = 'gone' WHERE kind = 'opportunity' RETURNING record_id")
    said = intake(environ, "redeliver", follow_up, *DECIDED)
    assert (said.status, "el mensaje que la abrió" in said.err) == (1, True)


def test_a_note_that_was_made_anew_stands(stored: Lab, environ: Mapping[str, str]) -> None:
    opener, follow_up = lost_talk(stored)
    for event in (opener, follow_up):
        intake(environ, "redeliver", event, *DECIDED)
        stored.work()
    assert intake(environ, "redeliver", follow_up, *DECIDED).status == 1


def test_each_message_of_a_lost_note_can_be_delivered_again(stored: Lab, environ: Mapping[str, str]) -> None:
    stored.whatsapp("Hola")
    stored.work()
    events = stored.whatsapp("Uno", "Dos", at=1_790_000_100)
    stored.work()
    People(stored).trash("note")
    assert [intake(environ, "redeliver", each, *DECIDED).status for each in reversed(events)] == [0, 0]
    stored.work()
    said = " ".join(str(each["text"]) for each in stored.in_crm("note"))
    assert ("Uno" in said, "Dos" in said) == (True, True)


def test_an_event_shows_the_records_that_stand_for_it_now(stored: Lab, environ: Mapping[str, str]) -> None:
    opener, follow_up = lost_talk(stored)
    intake(environ, "redeliver", opener, *DECIDED)
    stored.work()
    shown = intake(environ, "show", follow_up, "--json").document
    assert shown["opportunity_id"] == only(stored, "opportunity")["id"]


def test_two_people_at_once_make_it_anew_once(stored: Lab) -> None:
    stored.whatsapp("Hola")
    stored.work()
    (event,) = stored.whatsapp("Otra cosa", at=1_790_000_100)
    stored.work()
    People(stored).trash("note")
    with stored.pool.connection() as conn:
        gone = [each for each in decided.view(conn, event).records if each.kind == "note"]

    at_once = Barrier(2)

    def redeliver() -> bool:
        with stored.pool.connection() as conn:
            at_once.wait()
            try:
                return bool(remaking.redeliver(conn, Author("ana", "se borró"), event, gone))
            except Refused:
                return False

    with ThreadPoolExecutor(2) as people:
        answers = [people.submit(redeliver), people.submit(redeliver)]
    assert sorted(each.result() for each in answers) == [False, True]
    stored.work()
    assert len(stored.in_crm("note")) == 1


# --- reissue --------------------------------------------------------------------------------------------------------


def test_a_second_opportunity_is_made_on_purpose(stored: Lab, environ: Mapping[str, str]) -> None:
    event = confirmed(stored)
    said = intake(environ, "reissue", event, *DECIDED)
    stored.work()
    assert (said.status, f"En el CRM: oportunidad {only_first(stored)['id']}" in said.out) == (0, True)
    assert ledger(stored) == {"contact": 1, "opportunity": 2, "task": 2}


def only_first(lab: Lab) -> Json:
    return lab.in_crm("opportunity")[0]


def test_a_reissue_is_an_event_of_its_own_that_is_linked(stored: Lab, environ: Mapping[str, str]) -> None:
    event = confirmed(stored)
    intake(environ, "reissue", event, *DECIDED)
    (new,) = stored.rows("SELECT event_id FROM events WHERE reissue_of = %(id)s", id=event)
    shown = intake(environ, "show", new["event_id"], "--json").document
    assert (shown["reissue_of"], shown["event_id"] != str(event)) == (str(event), True)


def test_no_second_reissue_while_the_first_is_on_its_way(stored: Lab, environ: Mapping[str, str]) -> None:
    event = confirmed(stored)
    intake(environ, "reissue", event, *DECIDED)
    assert intake(environ, "reissue", event, *DECIDED).status == 1
    stored.work()
    assert intake(environ, "reissue", event, *DECIDED).status == 0


def test_what_is_still_on_its_way_is_not_reissued(stored: Lab, environ: Mapping[str, str]) -> None:
    assert intake(environ, "reissue", stored.form(), *DECIDED).status == 1


def test_a_reissued_quote_still_names_its_number(stored: Lab, environ: Mapping[str, str]) -> None:
    event = stored.quote("COT-7")
    stored.work()
    intake(environ, "reissue", event, *DECIDED)
    stored.work()
    assert ["COT-7" in str(each["text"]) for each in stored.in_crm("opportunity")] == [True, True]


def test_a_gated_source_has_its_reissue_approved(stored: Lab, environ: Mapping[str, str], tmp_path: Path) -> None:
    event = confirmed(stored)
    rule(stored, tmp_path, "web", 'approval = "required"')
    intake(environ, "reissue", event, *DECIDED)
    states = stored.rows("SELECT state FROM deliveries ORDER BY received_at")
    assert [each["state"] for each in states] == ["confirmed", "awaiting_approval"]
