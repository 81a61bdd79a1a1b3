"""Two people with one telephone: as configured, with an open item, and never two contacts made one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from intake import person_arrows
from intake.config import ContactRule
from tests.commands import DECIDED, beside, intake
from tests.lab import Lab
from tests.simulation.world import People, ledger, purged

PHONE = "987650001"


@pytest.fixture
def environ(stored: Lab, tmp_path: Path) -> Mapping[str, str]:
    return beside(stored, tmp_path)


def ruled(made: Lab, *, several: str = "review", other_name: str = "adopt") -> None:
    """The destination's rules are these from now on."""
    rule = ContactRule(several, other_name)  # type: ignore[arg-type]
    crm = made.desk.wired["crm"]
    changed = replace(crm, destination=replace(crm.destination, contacts=rule))
    made.desk = replace(made.desk, wired={**made.desk.wired, "crm": changed})


def asks(made: Lab, name: str, *, email: str = "", phone: str = PHONE) -> UUID:
    event = made.form(name=name, email=email, phone=phone, message=f"Soy {name}")
    made.work()
    return event


def stands(made: Lab, event: UUID) -> tuple[str, object]:
    return made.state(event), made.delivery(event)["reason"]


def names(made: Lab) -> list[str]:
    return sorted(str(each["name"]) for each in made.in_crm("contact"))


def items(made: Lab) -> list[str]:
    rows = made.rows("SELECT reason FROM items WHERE closed_at IS NULL ORDER BY reason")
    return [str(each["reason"]) for each in rows]


def whose(made: Lab, event: UUID) -> str:
    """The name of the contact that an event's opportunity hangs on."""
    known = {each["record_id"]: each["crm_id"] for each in made.rows("SELECT record_id, crm_id FROM records")}
    crm_id = known[made.delivery(event)["contact_record"]]
    return next(str(each["name"]) for each in made.in_crm("contact") if each["id"] == crm_id)


# --- the first of them came through here, too -------------------------------------------------------------------------


def test_by_default_another_name_is_the_same_contact_and_a_person_is_asked(stored: Lab) -> None:
    asks(stored, "Ana Quispe")
    luis = asks(stored, "Luis Quispe", email="luis@example.com")
    assert (stored.state(luis), names(stored), items(stored)) == ("confirmed", ["Ana Quispe"], ["contact_other_name"])


def test_the_same_name_written_otherwise_asks_nobody(stored: Lab) -> None:
    asks(stored, "Ana Quispe")
    asks(stored, "quispe, ana", email="ana@example.com")
    assert (names(stored), items(stored)) == (["Ana Quispe"], [])


def test_an_e_mail_tells_more_than_a_name(stored: Lab) -> None:
    asks(stored, "Ana Quispe", email="ana@example.com")
    asks(stored, "Anita", email="ana@example.com")
    assert (names(stored), items(stored)) == (["Ana Quispe"], [])


def test_a_second_request_of_the_second_person_asks_nobody_again(stored: Lab) -> None:
    asks(stored, "Ana Quispe")
    asks(stored, "Luis Quispe")
    (item,) = stored.rows("SELECT item_id FROM items WHERE closed_at IS NULL")
    with stored.pool.connection() as conn:
        conn.execute("UPDATE items SET closed_at = clock_timestamp(), resolution = 'accept' WHERE item_id = %s",
                     [item["item_id"]])  # fmt: skip
    asks(stored, "Luis Quispe")
    assert (names(stored), items(stored)) == (["Ana Quispe"], [])


def test_what_is_delivered_anew_asks_nobody_again(stored: Lab) -> None:
    asks(stored, "Ana Quispe")
    luis = asks(stored, "Luis Pérez")
    with stored.pool.connection() as conn:
        conn.execute("UPDATE items SET closed_at = clock_timestamp(), resolution = 'accept' WHERE closed_at IS NULL")
        person_arrows.new_generation(conn, luis, gated=False)
    stored.work()
    assert (stored.state(luis), items(stored)) == ("confirmed", [])


def test_a_name_that_was_purged_is_no_other_name(stored: Lab) -> None:
    before = asks(stored, "Ana Quispe")
    purged(stored, before)
    later = asks(stored, "Luis Pérez")
    assert (stands(stored, later), names(stored)) == (("confirmed", None), ["Ana Quispe"])


@pytest.mark.parametrize("email", ["", "luis@example.com"])
def test_as_configured_the_second_person_gets_a_contact(stored: Lab, email: str) -> None:
    ruled(stored, other_name="new")
    ana, luis = asks(stored, "Ana Quispe"), asks(stored, "Luis Quispe", email=email)
    assert (whose(stored, ana), whose(stored, luis)) == ("Ana Quispe", "Luis Quispe")
    assert items(stored) == ["contact_other_name"]
    assert ledger(stored) == {"contact": 2, "opportunity": 2, "task": 2}


def test_the_shared_telephone_goes_on_leading_to_the_first(stored: Lab) -> None:
    ruled(stored, other_name="new")
    asks(stored, "Ana Quispe")
    asks(stored, "Luis Quispe", email="luis@example.com")
    ana, luis = asks(stored, "Ana Quispe"), asks(stored, "Luis Quispe", email="luis@example.com")
    assert (whose(stored, ana), whose(stored, luis)) == ("Ana Quispe", "Luis Quispe")
    assert ledger(stored)["contact"] == 2


def test_a_lost_answer_makes_no_third_contact(stored: Lab) -> None:
    ruled(stored, other_name="new")
    asks(stored, "Ana Quispe")
    stored.dials.fault("lost_answer", match={"what": "create", "kind": "contact"}, effect=True)
    luis = asks(stored, "Luis Quispe")
    stored.settle(rounds=3)
    assert (stored.state(luis), names(stored)) == ("confirmed", ["Ana Quispe", "Luis Quispe"])


def test_as_configured_the_second_person_waits_for_a_word(stored: Lab, environ: Mapping[str, str]) -> None:
    ruled(stored, other_name="review")
    ana, luis = asks(stored, "Ana Quispe"), asks(stored, "Luis Quispe")
    assert (stands(stored, luis), items(stored)) == (("review", "contact_other_name"), ["contact_other_name"])
    crm_id = str(stored.in_crm("contact")[0]["id"])
    assert intake(environ, "settle", luis, "contact", "--crm-id", crm_id, *DECIDED).status == 0
    stored.work()
    assert (stored.state(luis), whose(stored, luis), whose(stored, ana)) == ("confirmed", "Ana Quispe", "Ana Quispe")


def test_a_name_of_a_whatsapp_profile_is_no_other_name(stored: Lab) -> None:
    ruled(stored, other_name="review")
    asks(stored, "Ana Quispe")
    (event,) = stored.whatsapp("Hola", sender=f"51{PHONE}", name="Mamá de Pepito")
    stored.work()
    assert (stored.state(event), names(stored)) == ("confirmed", ["Ana Quispe"])


def test_a_contact_with_the_name_of_a_whatsapp_profile_is_anybody_s(stored: Lab) -> None:
    ruled(stored, other_name="review")
    stored.whatsapp("Hola", sender=f"51{PHONE}", name="Mamá de Pepito")
    stored.work()
    event = asks(stored, "Ana Quispe")
    assert (stored.state(event), names(stored), items(stored)) == ("confirmed", ["Mamá de Pepito"], [])


# --- the first of them stands in the CRM, made by people --------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "state", "made", "open_"),
    [
        ("adopt", "confirmed", ["Ana Quispe"], ["contact_other_name"]),
        ("new", "confirmed", ["Ana Quispe", "Luis"], ["contact_other_name"]),
        ("review", "review", ["Ana Quispe"], ["contact_other_name"]),
    ],
)
def test_a_contact_of_the_crm_with_another_name_is_as_configured(
    stored: Lab, rule: str, state: str, made: list[str], open_: list[str]
) -> None:
    ruled(stored, other_name=rule)
    People(stored).add_contact(name="Ana Quispe", phone=f"+51{PHONE}")
    event = asks(stored, "Luis")
    assert (stored.state(event), names(stored), items(stored)) == (state, made, open_)


def test_a_contact_of_the_crm_with_the_same_address_is_adopted_whatever_its_name(stored: Lab) -> None:
    ruled(stored, other_name="review")
    People(stored).add_contact(name="Ana Quispe", phone=f"+51{PHONE}", email="ventas@example.com")
    event = asks(stored, "Luis", email="ventas@example.com")
    assert (stored.state(event), names(stored), items(stored)) == ("confirmed", ["Ana Quispe"], [])


def test_nothing_of_an_adopted_contact_is_changed_and_the_opportunity_says_so(stored: Lab) -> None:
    People(stored).add_contact(name="Ana Quispe", phone=f"+51{PHONE}")
    before = stored.in_crm("contact")
    asks(stored, "Ana", email="otra@example.com")
    (opportunity,) = stored.in_crm("opportunity")
    assert stored.in_crm("contact") == before
    assert "Correo: otra@example.com" in str(opportunity["text"])
    assert "contact_existed" in str(opportunity["text"])


# --- several ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["people", "us"])
@pytest.mark.parametrize(("rule", "state", "count"), [("review", "review", 2), ("new", "confirmed", 3)])
def test_several_contacts_are_as_configured(stored: Lab, by: str, rule: str, state: str, count: int) -> None:
    ruled(stored, several=rule)
    if by == "people":
        People(stored).add_contact(name="Ana", phone=f"+51{PHONE}")
        People(stored).add_contact(name="Ana", email="ana@example.com")
    else:
        asks(stored, "Ana")
        asks(stored, "Ana", email="ana@example.com", phone="")
    event = asks(stored, "Ana", email="ana@example.com")
    assert (stored.state(event), len(names(stored)), items(stored)) == (state, count, ["contact_ambiguous"])
