"""What people merge in the CRM: we go on with the record that was kept, and ask a person where none is named."""

from __future__ import annotations

from uuid import UUID

from intake import merging, records
from tests.lab import Lab
from tests.simulation.intruder import reconciled
from tests.simulation.test_restore import tell_restored
from tests.simulation.world import People, incidents, ledger


def lead(made: Lab, text: str = "Hola") -> UUID:
    event = made.form(message=text)
    made.work()
    return event


def kept(made: Lab, **fields: object) -> str:
    """The contact that people keep, having merged ours into it."""
    people = People(made)
    other = people.add_contact(name="Ana de siempre", **fields)
    people.merge_contact_into(other)
    return other


def opportunities(made: Lab) -> list[str]:
    """Whose opportunities stand there."""
    return sorted(str(each["contact_id"]) for each in made.in_crm("opportunity"))


def test_a_later_lead_goes_to_the_contact_that_was_kept(stored: Lab) -> None:
    lead(stored)
    other = kept(stored)
    later = lead(stored, "Otra cosa")
    assert stored.state(later) == "confirmed"
    assert opportunities(stored) == [other, other]
    assert ledger(stored)["contact"] == 2  # ours, and the one that people typed in
    assert incidents(stored) == []


def test_its_owner_has_the_later_lead_too(stored: Lab) -> None:
    lead(stored)
    kept(stored, owner_id="rosa")
    People(stored).edit("opportunity", stage="ganada")
    lead(stored, "Otra cosa")
    assert "rosa" in {each["owner_id"] for each in stored.in_crm("opportunity")}


def test_one_that_is_merged_twice_is_followed_to_the_last(stored: Lab) -> None:
    lead(stored)
    first = kept(stored)
    last = People(stored).add_contact(name="Ana, la última")
    People(stored).merge(first, into=last)
    lead(stored, "Otra cosa")
    assert opportunities(stored) == [last, last]


def test_two_of_ours_that_are_merged_are_one(stored: Lab) -> None:
    lead(stored)
    ours = str(stored.in_crm("contact")[0]["id"])
    stored.form(email="otra@example.com", phone="911222333")
    stored.work()
    other = next(str(each["id"]) for each in stored.in_crm("contact") if each["id"] != ours)
    People(stored).merge(ours, into=other)
    lead(stored, "Otra cosa")
    both = stored.form(email="otra@example.com", phone="987654321")
    stored.work()
    assert stored.state(both) == "confirmed"
    assert opportunities(stored) == [other] * 4


def test_one_that_was_merged_into_a_contact_in_the_trash_is_a_person_s(stored: Lab) -> None:
    lead(stored)
    other = kept(stored)
    People(stored).trash_one("contacts", other)
    later = lead(stored, "Otra cosa")
    assert (stored.state(later), stored.delivery(later)["reason"]) == ("review", "contact_gone")


def test_a_contact_in_the_trash_is_a_person_s_and_gets_no_opportunity(stored: Lab) -> None:
    lead(stored)
    People(stored).trash("contact")
    later = lead(stored, "Otra cosa")
    assert (stored.state(later), stored.delivery(later)["reason"]) == ("review", "contact_gone")
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1}


def test_the_night_follows_what_was_merged_and_finds_nothing_wrong(stored: Lab) -> None:
    lead(stored)
    other = kept(stored)
    assert reconciled(stored)[0].incidents == {}
    known = stored.rows("SELECT crm_id FROM records WHERE kind = 'contact' AND state = 'known'")
    assert [each["crm_id"] for each in known] == [other]


def amounts(made: Lab) -> dict[str, object]:
    return {str(each["id"]): each["amount"] for each in made.in_crm("opportunity")}


def test_a_quote_changes_nothing_of_another_whose_opportunity_was_kept(stored: Lab) -> None:
    one, other = stored.quote("COT-1"), stored.quote("COT-2", amount="900.00")
    stored.work()
    with stored.pool.connection() as conn:
        lost, kept_ = (records.read(conn, opportunity_record(stored, each)) for each in (one, other))
        assert merging.follow(conn, lost, into=str(kept_.crm_id))
    later = stored.quote("COT-1", version=2, amount="111.00")
    stored.work()
    (note,) = stored.in_crm("note")
    assert (stored.state(later), amounts(stored)[str(kept_.crm_id)]) == ("confirmed", "900.00")
    assert (note["opportunity_id"], "111" in str(note["text"])) == (kept_.crm_id, True)
    stored.quote("COT-2", version=2, amount="950.00")
    stored.work()
    assert amounts(stored)[str(kept_.crm_id)] == "950.00"


def opportunity_record(made: Lab, event: UUID) -> int:
    record_id = made.delivery(event)["opportunity_record"]
    assert isinstance(record_id, int)
    return record_id


def test_one_that_is_merged_after_a_restore_is_followed(stored: Lab) -> None:
    lead(stored)
    tell_restored(stored)
    other = kept(stored)
    later = lead(stored, "Otra cosa")
    stored.settle(3)
    assert (stored.state(later), opportunities(stored)) == ("confirmed", [other, other])
    assert len(stored.rows("SELECT FROM records WHERE kind = 'contact'")) == 2
