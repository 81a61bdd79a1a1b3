"""What one person says in a row is one text, in the opportunity or in a note; nothing of it is lost or doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from intake import carried, decided, installation, ops, person_arrows, reconcile, remaking
from intake.decided import Author
from tests.lab import Lab, lab
from tests.simulation.stops import stopping
from tests.simulation.world import People, hooked, ledger

NOW = 1_795_000_000  # far from now, so that no first message waits where a test does not want it to
EACH_ONCE = {"contact": 1, "opportunity": 1, "task": 1}
DEBOUNCE = timedelta(seconds=20)


@pytest.fixture
def patient(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    """A lab whose first messages wait for others."""
    with lab(database_url, tmp_path, debounce=20) as made:
        yield made


def fresh(made: Lab) -> int:
    """The time of a message that was sent this moment, in seconds."""
    (row,) = made.rows("SELECT extract(epoch FROM clock_timestamp())::bigint AS now")
    return int(str(row["now"]))


def text(made: Lab, kind: str) -> str:
    (record,) = made.in_crm(kind)
    return str(record["text"])


def said(made: Lab, kind: str) -> list[str]:
    """The messages in the one record of a kind, in order, without their times."""
    return [line.partition(" · ")[2] for line in text(made, kind).splitlines() if line[2:3] == "/"]


def states(made: Lab, events: list[UUID]) -> set[str]:
    return {made.state(each) for each in events}


def reason(made: Lab, event: UUID) -> tuple[str, object]:
    return made.state(event), made.delivery(event)["reason"]


def opened(made: Lab) -> None:
    """A conversation whose opportunity stands."""
    made.whatsapp("Hola", at=NOW)
    made.work()


# --- a first message waits for what belongs to it ---------------------------------------------------------------------


def test_what_follows_a_first_message_within_seconds_is_in_the_opportunity(patient: Lab) -> None:
    events = patient.whatsapp("Hola", at=fresh(patient))
    patient.work()
    assert ledger(patient) == {}
    patient.pass_time(timedelta(seconds=5))
    events += patient.whatsapp("Busco una silla", at=fresh(patient))
    events += patient.whatsapp("¿Hacen envíos?", at=fresh(patient))
    patient.pass_time(timedelta(seconds=15))
    patient.work()
    assert said(patient, "opportunity") == ["Hola", "Busco una silla", "¿Hacen envíos?"]
    assert (states(patient, events), ledger(patient)) == ({"confirmed"}, EACH_ONCE)


def test_what_came_later_than_that_is_a_note(patient: Lab) -> None:
    patient.whatsapp("Hola", at=fresh(patient))
    patient.pass_time(timedelta(seconds=21))
    (later,) = patient.whatsapp("¿Siguen ahí?", at=fresh(patient))
    patient.work()
    assert "¿Siguen ahí?" not in text(patient, "opportunity")
    assert ledger(patient) == EACH_ONCE | {"note": 1}
    assert patient.state(later) == "confirmed"


def test_a_first_message_that_is_old_already_does_not_wait(patient: Lab) -> None:
    events = patient.whatsapp("Hola", "Busco una silla", at=fresh(patient) - 60)
    patient.work()
    assert (states(patient, events), said(patient, "opportunity")) == ({"confirmed"}, ["Hola", "Busco una silla"])


def test_a_form_does_not_wait(patient: Lab) -> None:
    event = patient.form()
    patient.work()
    assert patient.state(event) == "confirmed"


def test_without_a_debounce_nothing_waits_and_nothing_is_joined_to_the_opportunity(stored: Lab) -> None:
    stored.whatsapp("Hola", "Busco una silla", at=fresh(stored))
    stored.work()
    assert ledger(stored) == EACH_ONCE | {"note": 1}


def test_the_title_names_the_product_of_any_first_message_and_the_first_name(patient: Lab) -> None:
    patient.whatsapp("Hola", at=NOW, name="Rosa Prueba")
    patient.whatsapp("Sigo aquí", at=NOW + 5, name="Rosita")
    patient.pass_time(DEBOUNCE)
    patient.work()
    (opportunity,) = patient.in_crm("opportunity")
    assert opportunity["title"] == "Rosa Prueba · WhatsApp"


# --- one note for what waits ------------------------------------------------------------------------------------------


def test_what_waits_when_a_note_is_made_goes_into_it(stored: Lab) -> None:
    opened(stored)
    events = [event for n in range(3) for event in stored.whatsapp(f"Mensaje {n}", at=NOW + 60 + n)]
    stored.work()
    assert said(stored, "note") == ["Mensaje 0", "Mensaje 1", "Mensaje 2"]
    assert (states(stored, events), ledger(stored)) == ({"confirmed"}, EACH_ONCE | {"note": 1})
    # The note bears the first one's reference, and all of them show it.
    assert len({stored.delivery(each)["note_record"] for each in events}) == 1


def test_a_message_in_a_note_costs_no_call_of_its_own(stored: Lab) -> None:
    opened(stored)
    stored.whatsapp("Uno", "Dos", at=NOW + 60)
    stored.step()
    before = len(stored.dials.requests())
    stored.work()
    assert len(stored.dials.requests()) == before


def test_messages_stand_in_the_order_and_with_the_time_in_which_they_were_said(stored: Lab) -> None:
    opened(stored)
    stored.whatsapp("segundo", at=NOW + 120)
    stored.whatsapp("primero", at=NOW + 60)
    stored.work()
    # 1 795 000 060 is the 18th of November 2026, 06:07:40 in Lima.
    assert text(stored, "note").splitlines()[:3] == [
        "WhatsApp · 2 mensajes", "18/11 06:07 · primero", "18/11 06:08 · segundo",
    ]  # fmt: skip


def test_what_comes_while_a_note_is_written_goes_into_the_next(stored: Lab) -> None:
    opened(stored)
    later: list[UUID] = []
    with hooked(stored, {("note.before_commit", 1): lambda: later.extend(stored.whatsapp("Tres", at=NOW + 90))}):
        stored.whatsapp("Uno", "Dos", at=NOW + 60)
        stored.work()
    assert sorted(str(each["text"]).count("mensajes") for each in stored.in_crm("note")) == [0, 1]
    assert (states(stored, later), ledger(stored)["note"]) == ({"confirmed"}, 2)


def test_what_is_cancelled_while_a_note_is_written_is_not_in_it(stored: Lab) -> None:
    opened(stored)
    first, second, third = stored.whatsapp("Uno", "Dos", "Tres", at=NOW + 60)
    with hooked(stored, {("note.before_commit", 1): lambda: cancel(stored, second)}):
        stored.work()
    assert said(stored, "note") == ["Uno", "Tres"]
    assert [stored.state(each) for each in (first, second, third)] == ["confirmed", "cancelled", "confirmed"]
    assert ledger(stored)["note"] == 1


def cancel(made: Lab, event: UUID) -> None:
    with made.pool.connection() as conn:
        person_arrows.cancel(conn, event, 1)


def test_what_is_too_long_for_one_text_is_split_and_not_cut(stored: Lab) -> None:
    opened(stored)
    texts = [f"{letter * 4000}" for letter in "abcdefghij"]
    events = stored.whatsapp(*texts, at=NOW + 60)
    stored.work()
    notes = [str(each["text"]) for each in stored.in_crm("note")]
    assert len(notes) == 2
    assert all(any(each in note for note in notes) for each in texts)
    assert states(stored, events) == {"confirmed"}


# --- doubt ------------------------------------------------------------------------------------------------------------


def test_a_note_whose_answer_was_lost_is_found_for_all_of_them(stored: Lab) -> None:
    opened(stored)
    stored.dials.fault("lost_answer", match={"what": "create", "kind": "note"})
    events = stored.whatsapp("Uno", "Dos", at=NOW + 60)
    stored.work()
    assert (states(stored, events), ledger(stored)["note"]) == ({"confirmed"}, 1)


def test_a_note_that_is_proven_absent_is_made_again_of_the_same_messages(stored: Lab) -> None:
    opened(stored)
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "note"})
    events = stored.whatsapp("Uno", "Dos", at=NOW + 60)
    stored.work()
    assert [reason(stored, each)[0] for each in events] == ["uncertain", "waiting"]
    events += stored.whatsapp("Tres", at=NOW + 90)
    stored.settle(5)
    assert sorted(len(str(each["text"]).splitlines()) for each in stored.in_crm("note")) == [4, 5]
    assert (states(stored, events), ledger(stored)["note"]) == ({"confirmed"}, 2)


def test_messages_in_the_opportunity_wait_for_its_doubt_and_are_confirmed_with_it(patient: Lab) -> None:
    patient.dials.fault("500_without_effect", match={"what": "create", "kind": "opportunity"})
    events = patient.whatsapp("Hola", "Busco una silla", at=NOW)
    patient.work()
    assert [patient.state(each) for each in events] == ["uncertain", "waiting"]
    patient.settle(5)
    assert said(patient, "opportunity") == ["Hola", "Busco una silla"]
    assert (states(patient, events), ledger(patient)) == ({"confirmed"}, EACH_ONCE)


# --- refused, cancelled, gone -----------------------------------------------------------------------------------------


def test_a_note_that_the_crm_refuses_does_not_hold_the_other_messages(stored: Lab) -> None:
    opened(stored)
    stored.dials.fault("422", match={"what": "create", "kind": "note"})
    refused, *others = stored.whatsapp("Uno", "Dos", "Tres", at=NOW + 60)
    stored.work()
    assert (stored.state(refused), states(stored, others)) == ("review", {"confirmed"})
    assert said(stored, "note") == ["Dos", "Tres"]


def test_what_is_free_of_a_refused_note_takes_along_what_came_since(stored: Lab) -> None:
    opened(stored)
    stored.dials.fault("422", match={"what": "create", "kind": "note"})
    stored.whatsapp("Uno", "Dos", at=NOW + 60)
    stored.step()
    stored.whatsapp("Tres", at=NOW + 90)
    stored.work()
    assert said(stored, "note") == ["Dos", "Tres"]


def test_a_refused_carrier_that_is_revived_says_its_own_message_alone(stored: Lab) -> None:
    opened(stored)
    stored.dials.fault("422", match={"what": "create", "kind": "note"})
    refused, _ = stored.whatsapp("Uno", "Dos", at=NOW + 60)
    stored.work()
    with stored.pool.connection() as conn:
        person_arrows.revive(conn, refused, 1)
    stored.work()
    assert sorted("Dos" in str(each["text"]) for each in stored.in_crm("note")) == [False, True]
    assert (stored.state(refused), ledger(stored)["note"]) == ("confirmed", 2)


def test_a_cancelled_carrier_swallows_nothing(stored: Lab) -> None:
    opened(stored)
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "note"})
    carrier, other = stored.whatsapp("Uno", "Dos", at=NOW + 60)
    stored.work()
    cancel(stored, carrier)
    stored.settle(5)
    assert (stored.state(carrier), stored.state(other)) == ("cancelled", "confirmed")
    assert "Dos" in text(stored, "note")


def test_a_cancelled_carrier_whose_note_stands_confirms_the_others(stored: Lab) -> None:
    opened(stored)
    stored.lose("note")
    carrier, other = stored.whatsapp("Uno", "Dos", at=NOW + 60)
    stored.work()
    assert stored.state(carrier) == "uncertain"
    cancel(stored, carrier)
    stored.settle(5)
    assert (stored.state(other), said(stored, "note"), ledger(stored)["note"]) == ("confirmed", ["Uno", "Dos"], 1)


def test_when_the_opportunity_is_refused_what_was_to_be_in_it_is_a_persons_and_none_is_lost(patient: Lab) -> None:
    patient.dials.fault("422", match={"what": "create", "kind": "opportunity"})
    opener, other = patient.whatsapp("Hola", "Busco una silla", at=NOW)
    patient.settle(2)
    assert (patient.state(opener), reason(patient, other)) == ("review", ("review", "opener_refused"))
    with patient.pool.connection() as conn:
        for each in (opener, other):
            person_arrows.revive(conn, each, 1)
    patient.settle(2)
    assert "Busco una silla" in text(patient, "note")
    assert (states(patient, [opener, other]), ledger(patient)) == ({"confirmed"}, EACH_ONCE | {"note": 1})


def test_a_rate_limit_changes_nothing_of_what_a_note_holds(stored: Lab) -> None:
    opened(stored)
    stored.dials.fault("429", match={"what": "create", "kind": "note"}, retry_after=1)
    events = stored.whatsapp("Uno", "Dos", at=NOW + 60)
    stored.work()
    stored.settle(2)
    assert (said(stored, "note"), states(stored, events)) == (["Uno", "Dos"], {"confirmed"})


def test_a_note_that_people_deleted_meanwhile_is_a_persons_for_each_message(stored: Lab) -> None:
    opened(stored)
    events = stored.whatsapp("Uno", "Dos", at=NOW + 60)
    with hooked(stored, {("delivery.before_arrow", 1): lambda: People(stored).trash("note")}):
        stored.step()
    with stored.pool.connection() as conn:
        conn.execute("UPDATE records SET state = 'gone' WHERE kind = 'note'")
    stored.work()
    assert [reason(stored, each) for each in events] == [("confirmed", None), ("review", "note_gone")]


# --- crashes and restores ---------------------------------------------------------------------------------------------

Build = Callable[[Lab, int], list[UUID]]


def in_a_note(made: Lab, number: int) -> list[UUID]:
    return made.whatsapp("Uno", "Dos", sender=f"5197{number:07d}", at=NOW + 60)


def in_an_opportunity(made: Lab, number: int) -> list[UUID]:
    return made.whatsapp("Uno", "Dos", sender=f"5198{number:07d}", at=NOW)


@pytest.mark.parametrize("again", [1, 2])
def test_a_crash_at_any_boundary_of_a_carrier_loses_and_doubles_nothing(patient: Lab, again: int) -> None:
    most = 30
    for number in range(most):
        patient.whatsapp("Hola", sender=f"5197{number:07d}", at=NOW)
    patient.pass_time(DEBOUNCE)
    patient.work(most * 10)
    crash_everywhere(patient, in_a_note, most, again)
    assert ledger(patient)["note"] == len(patient.in_crm("note"))
    assert {str(each["text"]).count(" mensajes") for each in patient.in_crm("note")} == {1}


def test_a_crash_at_any_boundary_of_an_opener_loses_and_doubles_nothing(patient: Lab) -> None:
    crash_everywhere(patient, in_an_opportunity, 60, 1)
    assert {len(str(each["text"]).splitlines()[:2]) for each in patient.in_crm("opportunity")} == {2}
    assert ledger(patient)["note"] == 0


def crash_everywhere(made: Lab, build: Build, most: int, again: int) -> None:
    """Crash the carrier's claim at each of its boundaries, the next claim at the same one, and let all settle."""
    with stopping(made) as worker:
        build(made, 0)
        boundaries = len(worker.trail())
        assert boundaries < most
        sent = [build(made, 1 + place) for place in range(boundaries)]
        plans: dict[UUID, list[str | int]] = {events[0]: [place] * again for place, events in enumerate(sent)}
        worker.run(plans)
    assert {made.state(each) for events in sent for each in events} == {"confirmed"}
    assert made.dials.doubles() == []
    assert {ledger(made)[kind] for kind in EACH_ONCE} == {most if build is in_a_note else boundaries + 1}


@contextmanager
def restored(made: Lab) -> Iterator[None]:
    """The database has forgotten everything, and a person says so."""
    with made.pool.connection() as conn:
        conn.execute("TRUNCATE receipts, events, needs, conversations, records, attempts, delivery_history CASCADE")
        installation.open_epoch(conn, lease=timedelta(seconds=30))
    made.pass_time(timedelta(seconds=30))
    yield


def test_after_a_restore_a_joined_conversation_is_the_same_opportunity(patient: Lab) -> None:
    ids = ["wamid.A", "wamid.B"]
    patient.whatsapp("Hola", "Busco una silla", at=NOW, ids=ids)
    patient.settle(2)
    with restored(patient):
        events = patient.whatsapp("Hola", "Busco una silla", at=NOW, ids=ids)
        patient.settle(6)
    assert states(patient, events) == {"confirmed"}
    assert {kind: len(patient.in_crm(kind)) for kind in EACH_ONCE} == EACH_ONCE
    assert patient.dials.doubles() == []


# --- made anew, and shown ---------------------------------------------------------------------------------------------


def test_a_note_that_is_made_anew_holds_all_its_messages_again(stored: Lab) -> None:
    opened(stored)
    events = stored.whatsapp("Uno", "Dos", at=NOW + 60)
    stored.work()
    People(stored).trash("note")
    redeliver(stored, events[0])
    stored.work()
    assert (said(stored, "note"), states(stored, events)) == (["Uno", "Dos"], {"confirmed"})
    assert len({stored.delivery(each)["note_record"] for each in events}) == 1


def test_one_message_of_a_note_that_is_gone_can_be_delivered_again_by_itself(stored: Lab) -> None:
    opened(stored)
    _, other = stored.whatsapp("Uno", "Dos", at=NOW + 60)
    stored.work()
    People(stored).trash("note")
    redeliver(stored, other)
    stored.work()
    assert ("Dos" in text(stored, "note"), stored.state(other)) == (True, "confirmed")


def test_an_opportunity_that_is_made_anew_holds_what_was_joined_to_it(patient: Lab) -> None:
    opener, other = patient.whatsapp("Hola", "Busco una silla", at=NOW)
    patient.work()
    People(patient).trash("opportunity")
    redeliver(patient, opener)
    patient.settle(3)
    assert said(patient, "opportunity") == ["Hola", "Busco una silla"]
    assert states(patient, [opener, other]) == {"confirmed"}


def redeliver(made: Lab, event: UUID) -> None:
    with made.pool.connection() as conn:
        seen = decided.view(conn, event)
        kind = "note" if seen.part == "follow_up" else "opportunity"
        gone = [each for each in seen.records if each.kind == kind]
        remaking.redeliver(conn, Author("ana", "se borró"), event, gone)


def test_what_is_joined_shows_the_record_that_carries_it(patient: Lab) -> None:
    opener, joined = patient.whatsapp("Hola", "Busco una silla", at=NOW)
    patient.work()
    first, second = patient.whatsapp("Uno", "Dos", at=NOW + 60)
    patient.work()
    with patient.pool.connection() as conn:
        shown = {event: ops.event(conn, event) for event in (opener, joined, first, second)}
        carriers = {event: carried.carrier_of(conn, event) for event in shown}
        assert carried.carried_with(conn, opener) == [joined]
    rows = {event: (row.opportunity_id, row.note_ref) for event, row in shown.items() if row}
    assert carriers == {opener: None, joined: opener, first: None, second: first}
    assert rows[opener] == rows[joined]
    assert rows[first] == rows[second] != rows[joined]


def test_the_reconciliation_misses_nothing_of_what_is_joined(patient: Lab) -> None:
    patient.whatsapp("Hola", "Busco una silla", at=NOW)
    patient.work()
    patient.whatsapp("Uno", "Dos", at=NOW + 60)
    patient.work()
    with patient.pool.connection() as conn:
        assert list(reconcile.accuse(conn, None)) == []
