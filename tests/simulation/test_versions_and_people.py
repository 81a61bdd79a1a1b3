"""A later version against an adviser who changed the same field: it stays his, and a note tells him, once."""

from __future__ import annotations

from tests.lab import Lab
from tests.simulation.world import People, ledger


def notes(lab: Lab) -> list[str]:
    return [str(each["text"]) for each in lab.in_crm("note")]


def test_what_was_left_stands_in_a_note_on_the_opportunity(stored: Lab) -> None:
    stored.quote(version=1, amount="100.00")
    stored.work()
    People(stored).edit("opportunity", amount="90.00")
    event = stored.quote(version=2, amount="250.50")
    stored.work()
    assert stored.state(event) == "confirmed"
    (note,) = notes(stored)
    assert "250.5" in note
    assert People(stored).only("opportunity")["amount"] == "90.00"


def test_the_note_bears_the_reference_of_its_own_event(stored: Lab) -> None:
    stored.quote(version=1, amount="100.00")
    stored.work()
    People(stored).edit("opportunity", amount="90.00")
    event = stored.quote(version=2, amount="250.50")
    stored.work()
    (row,) = stored.rows(
        "SELECT r.reference, r.kind FROM deliveries d JOIN records r ON r.record_id = d.note_record"
        " WHERE d.event_id = %(id)s",
        id=event,
    )
    assert (row["kind"], People(stored).only("note")["reference"]) == ("note", row["reference"])


def test_a_note_in_doubt_is_made_once(stored: Lab) -> None:
    stored.quote(version=1, amount="100.00")
    stored.work()
    People(stored).edit("opportunity", amount="90.00")
    stored.dials.fault("lost_answer", match={"what": "create", "kind": "note"}, effect=True, times=1)
    event = stored.quote(version=2, amount="250.50")
    stored.settle()
    assert (stored.state(event), ledger(stored)["note"]) == ("confirmed", 1)


def test_a_version_that_wants_nothing_new_of_his_field_tells_nothing(stored: Lab) -> None:
    stored.quote(version=1, amount="100.00")
    stored.work()
    People(stored).edit("opportunity", title="Mi título")
    stored.quote(version=2, amount="250.50")
    stored.work()
    assert (notes(stored), People(stored).only("opportunity")["title"]) == ([], "Mi título")


def test_versions_out_of_order_with_an_adviser_editing_between(stored: Lab) -> None:
    """v1 waits in review, v3 opens, an adviser edits, v2 comes late, v1 is revived: nothing of his is overwritten."""
    stored.dials.fault("422", match={"what": "create", "kind": "opportunity"}, fields={"title": "Too long."})
    first = stored.quote(version=1, amount="100.00")
    stored.work()
    third = stored.quote(version=3, amount="300.00")
    stored.work()
    People(stored).edit("opportunity", amount="280.00", stage="Negociación")
    second = stored.quote(version=2, amount="200.00")
    stored.work()
    with stored.pool.connection() as conn:
        conn.execute(
            "UPDATE deliveries SET state = 'received', due_at = now(), reason = NULL WHERE event_id = %s", [first]
        )
    fourth = stored.quote(version=4, amount="400.00", message="La última")
    stored.work()
    states = [stored.state(each) for each in (first, second, third, fourth)]
    assert states == ["superseded", "superseded", "confirmed", "confirmed"]
    opportunity = People(stored).only("opportunity")
    assert (opportunity["amount"], opportunity["stage"], "La última" in str(opportunity["text"])) == (
        "280.00", "Negociación", True,
    )  # fmt: skip
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1, "note": 1}
