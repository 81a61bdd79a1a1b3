"""Decisions of the desk that need the CRM's word, and how a worker gives it."""

from __future__ import annotations

from uuid import UUID

import pytest

from intake import decided
from intake.decided import Author
from intake.desk import acting, crm_reads
from intake.desk.acting import Decider, Done, EventDeed, NotInCrm, NotReadYet, Wish
from intake.desk.crm_reads import CrmRead, Wanted
from tests.integration.desk.conftest import Scene
from tests.lab import Lab


@pytest.fixture
def stored(scene: Scene) -> Lab:
    return scene.lab


def in_doubt(stored: Lab) -> UUID:
    """A form whose opportunity stands in the CRM, and nobody knows."""
    number = next(stored.counter)
    stored.work()  # what other tests left is not to meet the fault
    stored.lose("opportunity")
    event_id = stored.form(email=f"duda{number}@example.com", phone="")
    stored.work()
    stored.dials.no_faults()
    assert stored.state(event_id) == "uncertain"
    return event_id


def confirmed(stored: Lab) -> UUID:
    event_id = stored.form(email=f"hecho{next(stored.counter)}@example.com", phone="")
    stored.work()
    return event_id


def act(stored: Lab, event_id: UUID, deed: EventDeed, wish: Wish = acting.NOTHING) -> Done:
    with stored.pool.connection() as conn:
        return Decider(conn, stored.settings, Author("ana", "seen"), lambda: None).act(event_id, deed, wish)


def reference(stored: Lab, event_id: UUID) -> str:
    (row,) = stored.rows(
        "SELECT reference FROM deliveries JOIN records ON record_id = opportunity_record WHERE event_id = %(id)s",
        id=event_id,
    )
    return str(row["reference"])


def in_crm(stored: Lab, event_id: UUID) -> str:
    """The CRM's id of the opportunity of an event."""
    wanted = reference(stored, event_id)
    return next(str(each["id"]) for each in stored.in_crm("opportunity") if each["reference"] == wanted)


def test_a_record_that_a_person_names_is_read_before_it_counts(stored: Lab) -> None:
    event_id = in_doubt(stored)
    wish = Wish(crm_id=in_crm(stored, event_id))
    with pytest.raises(NotReadYet):
        act(stored, event_id, "settle applied", wish)
    stored.step()
    act(stored, event_id, "settle applied", wish)
    stored.work()
    assert stored.state(event_id) == "confirmed"


def test_another_events_record_is_not_taken(stored: Lab) -> None:
    event_id, other = in_doubt(stored), in_crm(stored, confirmed(stored))
    with pytest.raises(NotReadYet):
        act(stored, event_id, "settle applied", Wish(crm_id=other))
    stored.step()
    with pytest.raises(NotInCrm, match="other_reference"):
        act(stored, event_id, "settle applied", Wish(crm_id=other))


def test_a_record_that_is_not_there_is_not_taken(stored: Lab) -> None:
    event_id = in_doubt(stored)
    with pytest.raises(NotReadYet):
        act(stored, event_id, "settle applied", Wish(crm_id="opp-none"))
    stored.step()
    with pytest.raises(NotInCrm, match="absent"):
        act(stored, event_id, "settle applied", Wish(crm_id="opp-none"))


def test_nothing_is_believed_while_the_crm_is_away(stored: Lab) -> None:
    event_id = in_doubt(stored)
    wish = Wish(crm_id=in_crm(stored, event_id))
    stored.dials.fault("503", match={"what": "read", "kind": "opportunity"})
    with pytest.raises(NotReadYet):
        act(stored, event_id, "settle applied", wish)
    stored.step()
    stored.dials.no_faults()
    with pytest.raises(NotInCrm, match="unsure"):
        act(stored, event_id, "settle applied", wish)


def test_a_person_may_vouch_for_a_record(stored: Lab) -> None:
    event_id = in_doubt(stored)
    act(stored, event_id, "settle applied", Wish(crm_id=in_crm(stored, event_id), unverified=True))
    assert stored.state(event_id) != "uncertain"


def test_what_stands_is_not_made_anew(stored: Lab) -> None:
    event_id = confirmed(stored)
    with pytest.raises(NotReadYet):
        act(stored, event_id, "redeliver")
    while stored.step():
        pass
    with pytest.raises(decided.Refused, match="nothing_gone"):
        act(stored, event_id, "redeliver")


def test_how_an_event_stands_in_the_crm_is_read_without_its_values(stored: Lab) -> None:
    event_id = confirmed(stored)
    with stored.pool.connection() as conn:
        wanted = acting.ask_all(conn, decided.view(conn, event_id))
    stored.work()
    with stored.pool.connection() as conn:
        read = crm_reads.answers(conn, wanted)
    assert read is not None
    assert {(each.kind, each.outcome) for each in read} == {
        ("contact", "live"), ("opportunity", "live"), ("task", "live")
    }  # fmt: skip
    assert all(each.changed in ([], None) for each in read)


def latest(stored: Lab, wanted: Wanted) -> CrmRead | None:
    with stored.pool.connection() as conn:
        return crm_reads.latest(conn, wanted)


def test_what_is_being_read_is_not_asked_twice(stored: Lab) -> None:
    wanted = Wanted("crm", "contact", "con-twice")
    with stored.pool.connection() as conn:
        crm_reads.ask(conn, [wanted])
        crm_reads.ask(conn, [wanted])
    assert len(stored.rows("SELECT * FROM crm_reads WHERE crm_id = 'con-twice'")) == 1
    stored.work()
    found = latest(stored, wanted)
    assert found is not None
    assert found.outcome == "absent"
