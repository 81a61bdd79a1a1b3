"""Two requests of one person at once are one contact and two opportunities."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from uuid import UUID

import pytest

from intake import contacts, person_arrows
from intake.contacts import ContactKey
from tests.lab import Lab
from tests.running import until
from tests.simulation.stops import stopping
from tests.simulation.world import hooked, ledger
from tests.simulation.zombies import zombie

CONTACT_POINTS = tuple(
    f"contact.{point}" for point in ("seen_first", "before_commit", "committed", "answered", "noted")
)


def with_phone(lab: Lab, number: int) -> UUID:
    return lab.form(email=f"p{number}@example.com", phone=f"98{number:07d}", message="Una silla")


def with_email_only(lab: Lab, number: int) -> UUID:
    return lab.form(email=f"p{number}@example.com", phone="", message="Una mesa")


def assert_one_person_each(lab: Lab, people: int) -> None:
    """So many contacts, and two opportunities of each."""
    owners = Counter(str(each["contact_id"]) for each in lab.in_crm("opportunity"))
    assert ledger(lab) == {"contact": people, "opportunity": 2 * people, "task": 2 * people}
    assert set(owners.values()) == {2}


def test_the_second_comes_while_the_first_stands_at_any_boundary(stored: Lab) -> None:
    with stopping(stored) as worker:
        with_phone(stored, 0)
        trail = [
            each for each in dict.fromkeys(worker.trail()) if "." in each and not each.startswith(("send", "answer"))
        ]
    with_email_only(stored, 0)
    stored.settle(2)
    events = []
    for number, boundary in enumerate(trail, 1):
        events.append(with_phone(stored, number))
        with zombie(stored, boundary):
            events.append(with_email_only(stored, number))
            stored.work()
        stored.work()
    stored.settle()
    assert {stored.state(event) for event in events} == {"confirmed"}
    assert_one_person_each(stored, len(trail) + 1)


def test_the_first_comes_while_the_second_stands_at_any_boundary_of_the_contact(stored: Lab) -> None:
    events = []
    for number, boundary in enumerate(CONTACT_POINTS):
        events.append(with_email_only(stored, number))
        with zombie(stored, boundary):
            events.append(with_phone(stored, number))
            stored.work()
        stored.work()
    stored.settle()
    assert {stored.state(event) for event in events} == {"confirmed"}
    assert_one_person_each(stored, len(CONTACT_POINTS))


def test_both_stand_at_boundaries_of_the_contact_and_go_on_one_after_the_other(stored: Lab) -> None:
    # A second one gets past the first look only while the first has not committed.
    pairs = list(product(("contact.seen_first", "contact.before_commit"), repeat=2))
    events = []
    for number, (one, other) in enumerate(pairs):
        events.append(with_phone(stored, number))
        with zombie(stored, one) as first:
            events.append(with_email_only(stored, number))
            with zombie(stored, other):
                first.wake()
        stored.work()
    stored.settle()
    assert {stored.state(event) for event in events} == {"confirmed"}
    assert_one_person_each(stored, len(pairs))


def test_who_stood_still_while_another_s_write_came_into_doubt_writes_nothing(stored: Lab) -> None:
    with_phone(stored, 0)
    with_email_only(stored, 0)

    def lose() -> None:
        stored.lose("contact", looks_before=0)
        stored.dials.fault("503", match={"what": "find", "kind": "contact"})  # It may bear either of two references.

    with zombie(stored, "contact.before_commit"), hooked(stored, {("contact.committed", 1): lose}):
        stored.work()
        assert stored.rows("SELECT state FROM records") == [{"state": "in_doubt"}]
    stored.settle()
    assert_one_person_each(stored, 1)


WAITS = "SELECT 1 FROM pg_stat_activity WHERE pid = %(pid)s AND wait_event_type = 'Lock'"


def test_who_names_a_person_waits_for_another_who_names_them_by_more(stored: Lab) -> None:
    """Else the second would see nobody there, and make a contact of its own."""
    phone, email = ContactKey(b"p" * 32, "c-phone"), ContactKey(b"e" * 32, "c-email")
    scope = stored.desk.scope("crm", "live")
    with stored.pool.connection() as first, stored.pool.connection() as second, ThreadPoolExecutor(1) as thread:
        with first.transaction():
            named = contacts.bind(first, scope, [phone, email])
            waiting = thread.submit(contacts.bind, second, scope, [email])
            pid = second.info.backend_pid
            assert until(lambda: waiting.done() or bool(stored.rows(WAITS, pid=pid)))
        assert waiting.result() == named


def test_a_contact_in_doubt_lets_the_second_wait_and_makes_no_second_contact(stored: Lab) -> None:
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    first = with_phone(stored, 1)
    stored.work()
    second = with_email_only(stored, 1)
    stored.work()
    waiting = stored.delivery(second)
    assert (stored.state(first), waiting["state"], waiting["reason"]) == ("uncertain", "waiting", "record_in_doubt")
    assert ledger(stored)["contact"] == 0
    stored.settle()
    assert (stored.state(first), stored.state(second)) == ("confirmed", "confirmed")
    assert_one_person_each(stored, 1)


def test_a_contact_being_written_lets_the_second_wait_for_it(stored: Lab) -> None:
    first = with_phone(stored, 1)
    with zombie(stored, "contact.committed"):
        second = with_email_only(stored, 1)
        stored.work()
        waiting = stored.delivery(second)
        assert (waiting["state"], waiting["reason"]) == ("waiting", "record_busy")
    stored.work()
    assert (stored.state(first), stored.state(second)) == ("confirmed", "confirmed")
    assert_one_person_each(stored, 1)


def test_a_cancelled_delivery_s_doubt_still_holds_the_contact(stored: Lab) -> None:
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    first = with_phone(stored, 1)
    stored.work()
    with stored.pool.connection() as conn:
        person_arrows.cancel(conn, first, 1)
    second = with_email_only(stored, 1)
    stored.work()
    assert stored.delivery(second)["reason"] == "record_in_doubt"
    stored.settle()
    assert (stored.state(first), stored.state(second)) == ("cancelled", "confirmed")
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1}


def test_keys_that_lead_to_two_contacts_are_a_person_s_choice(stored: Lab) -> None:
    stored.form(email="uno@example.com", phone="")
    stored.form(email="", phone="987000001")
    stored.work()
    both = stored.form(email="uno@example.com", phone="987000001")
    stored.work()
    assert (stored.state(both), stored.delivery(both)["reason"]) == ("review", "contact_ambiguous")
    assert ledger(stored) == {"contact": 2, "opportunity": 2, "task": 2}


def test_a_form_and_a_message_of_one_number_are_one_contact(stored: Lab) -> None:
    stored.form(email="", phone="987650001")
    stored.whatsapp("Hola", sender="51987650001")
    stored.work()
    assert ledger(stored) == {"contact": 1, "opportunity": 2, "task": 2}


# WhatsApp's ids follow old numbering plans (chatwoot #5840): neither is rewritten, and both are the same person.
BY_TWO_PLANS = [
    pytest.param("+55 41 98888-7777", "554188887777", id="Brazil"),
    pytest.param("+52 55 1234 5678", "5215512345678", id="Mexico"),
]


@pytest.mark.parametrize(("typed", "wa_id"), BY_TWO_PLANS)
def test_a_form_and_a_message_by_an_older_numbering_plan_are_one_contact(stored: Lab, typed: str, wa_id: str) -> None:
    stored.form(email="", phone=typed)
    stored.work()
    stored.whatsapp("Hola", sender=wa_id)
    stored.work()
    assert ledger(stored) == {"contact": 1, "opportunity": 2, "task": 2}


@pytest.mark.parametrize(("typed", "wa_id"), BY_TWO_PLANS)
def test_a_message_by_an_older_numbering_plan_and_a_form_are_one_contact(stored: Lab, typed: str, wa_id: str) -> None:
    stored.whatsapp("Hola", sender=wa_id)
    stored.work()
    stored.form(email="", phone=typed)
    stored.work()
    assert ledger(stored) == {"contact": 1, "opportunity": 2, "task": 2}
