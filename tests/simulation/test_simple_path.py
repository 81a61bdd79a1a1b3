"""One lead, the whole way, when nothing goes wrong."""

from __future__ import annotations

from uuid import UUID

from tests.lab import Lab


def test_a_form_becomes_contact_opportunity_and_task(stored: Lab) -> None:
    event = stored.form()
    stored.work()
    assert stored.state(event) == "confirmed"
    assert [len(stored.in_crm(kind)) for kind in ("contact", "opportunity", "task")] == [1, 1, 1]


def test_later_messages_are_notes_on_the_opportunity(stored: Lab) -> None:
    events: list[UUID] = []
    for text in ("Hola", "Quiero una cotización", "Gracias"):
        events += stored.whatsapp(text)
        stored.work()
    assert [stored.state(each) for each in events] == ["confirmed"] * 3
    assert [len(stored.in_crm(kind)) for kind in ("opportunity", "note")] == [1, 2]


def test_a_second_version_updates_the_opportunity(stored: Lab) -> None:
    first = stored.quote(version=1, amount="100.00")
    stored.work()
    second = stored.quote(version=2, amount="250.50")
    stored.work()
    assert [stored.state(first), stored.state(second)] == ["confirmed", "confirmed"]
    (opportunity,) = stored.in_crm("opportunity")
    assert opportunity["amount"] == "250.50"


def test_a_test_and_a_live_lead_of_one_person_share_nothing(stored: Lab) -> None:
    tried = stored.form(mode="test")
    stored.work()
    live = stored.form()
    stored.work()
    assert [stored.state(tried), stored.state(live)] == ["confirmed", "confirmed"]
    references = [str(each["reference"]) for each in stored.in_crm("contact")]
    assert [each.startswith("t-") for each in references] == [True, False]
