"""What follows from what a CRM promises: each profile of the sandbox through lost answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from crm_clients.base import Capability, Kind
from crm_clients.sandbox.client import SandboxClient
from tests.lab import Lab, lab
from tests.simulation.world import STEP, People, Time, creates, hooked, impatient, incidents, ledger

Made = Callable[..., AbstractContextManager[Lab]]

DAY = timedelta(days=1)
EACH_ONCE = {"contact": 1, "opportunity": 1, "task": 1}
PROFILES = {"enforced": 0.0, "stored": 0.0, "lagging": 5.0, "no_task_reference": 0.0, "idempotency": 0.0,
            "unique_email": 0.0}  # fmt: skip


@pytest.fixture
def make(database_url: str, tmp_path: Path) -> Made:
    """Make a lab whose CRM has this profile, and seconds of lag."""

    @contextmanager
    def made(profile: str, lag: float = 0.0) -> Iterator[Lab]:
        with lab(database_url, tmp_path, profile=profile, lag=lag) as opened:
            yield opened

    return made


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("effect", [True, False], ids=["executed", "not executed"])
def test_lost_answers_to_every_create_make_one_record_each(make: Made, profile: str, effect: bool) -> None:
    with make(profile, PROFILES[profile]) as here:
        for kind in ("contact", "opportunity", "task", "note"):
            here.dials.fault("lost_answer", match={"what": "create", "kind": kind}, effect=effect)
        events = here.whatsapp("Hola", "Quiero una cotización")
        Time(here).settle(30)
        assert [here.state(event) for event in events] == ["confirmed", "confirmed"]
        assert ledger(here) == EACH_ONCE | {"note": 1}
        assert here.dials.doubles() == []
        assert incidents(here) == []


def test_a_lagging_search_never_lets_a_second_create_pass_before_its_lag_is_over(make: Made) -> None:
    with make("lagging", 25.0) as here:
        here.dials.fault("lost_answer", match={"what": "create", "kind": "contact"})
        here.form()
        time = Time(here)
        here.work()
        time.let_pass(STEP)
        here.work()
        assert ledger(here)["contact"] == 1
        time.settle(3)
        assert ledger(here) == EACH_ONCE


def test_where_the_reference_is_enforced_a_late_execution_cannot_make_a_double(make: Made) -> None:
    with make("enforced") as here:
        here.dials.fault("late", match={"what": "create", "kind": "contact"}, seconds=86_400)
        event = here.form()
        with impatient(here, {("contact.answered", 2): here.dials.release_late}):
            here.settle()
        assert here.state(event) == "confirmed"
        assert ledger(here) == EACH_ONCE
        assert len(creates(here, "contact")) == 2


def test_where_the_reference_is_enforced_a_double_that_is_refused_is_adopted(make: Made) -> None:
    with make("enforced") as here:
        here.dials.fault("late", match={"what": "create", "kind": "contact"}, seconds=86_400)
        event = here.form()
        with impatient(here, {("contact.committed", 2): here.dials.release_late}):
            here.settle()
        assert here.state(event) == "confirmed"
        assert ledger(here) == EACH_ONCE
        assert creates(here, "contact")[1]["reason"] == "duplicate_reference"


@pytest.mark.parametrize("profile", ["enforced", "stored"])
def test_an_update_that_is_executed_late_undoes_no_later_one(make: Made, profile: str) -> None:
    """No rule about doubles keeps it away: only time does."""
    with make(profile) as here:
        here.quote(version=1, amount="100.00")
        here.work()
        here.dials.fault("late", match={"what": "update", "kind": "opportunity"}, seconds=86_400)
        with impatient(here):
            events = [here.quote(version=version, amount=f"{version}00.00") for version in (2, 3)]
            here.work()
            here.pass_time(STEP)
            here.work()  # one look says that it is not there
            assert here.state(events[0]) == "uncertain"
            here.dials.release_late()
            here.settle(4)
        assert [here.state(event) for event in events] == ["confirmed", "confirmed"]
        assert People(here).only("opportunity")["amount"] == "300.00"


def test_where_the_reference_is_enforced_what_the_refusal_names_is_read_though_no_search_finds_it(make: Made) -> None:
    with make("enforced", 86_400.0) as here:
        here.dials.fault("lost_answer", match={"what": "create", "kind": "contact"})
        event = here.form()
        here.settle()
        assert here.state(event) == "confirmed"
        assert ledger(here) == EACH_ONCE


def test_where_the_reference_is_enforced_what_stands_in_the_trash_is_not_adopted(make: Made) -> None:
    with make("enforced") as here:
        here.dials.fault("lost_answer", match={"what": "create", "kind": "contact"})
        event = here.form()
        with hooked(here, {("contact.noted", 1): lambda: People(here).trash("contact")}):
            here.settle()
        assert (here.state(event), here.delivery(event)["reason"]) == ("review", "contact_gone")
        assert ledger(here) == {"contact": 1}


def test_a_weak_look_never_allows_a_second_create(make: Made) -> None:
    with make("weak") as here:
        here.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
        event = here.form()
        Time(here).settle(10, DAY)
        assert here.state(event) == "uncertain"
        assert len(creates(here, "contact")) == 1
        assert len(here.rows("SELECT FROM items WHERE kind = 'delivery' AND closed_at IS NULL")) == 1


def test_a_weak_look_that_finds_it_confirms(make: Made) -> None:
    with make("weak", 40.0) as here:
        here.dials.fault("lost_answer", match={"what": "create", "kind": "contact"})
        event = here.form()
        here.work()
        assert here.state(event) == "uncertain"
        Time(here).settle()
        assert here.state(event) == "confirmed"
        assert ledger(here) == EACH_ONCE


def test_a_weak_look_that_never_finds_it_becomes_a_person_s_after_a_month(make: Made) -> None:
    with make("weak") as here:
        here.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
        event = here.form()
        Time(here).settle(40, DAY)
        assert (here.state(event), here.delivery(event)["reason"]) == ("review", "looks_used_up")
        assert len(creates(here, "contact")) == 1


# --- the limit --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Untold(SandboxClient):
    """A CRM that says nowhere how long it may still execute a request."""

    def capability(self, kind: Kind) -> Capability:
        return replace(SandboxClient.capability(self, kind), limit=None)


def tell_no_limit(here: Lab, *, assume: timedelta | None = None) -> None:
    wired = here.desk.wired["crm"]
    untold = replace(wired, client=Untold(), destination=replace(wired.destination, assume_limit=assume))
    here.desk = here.other_desk(wired={**here.desk.wired, "crm": untold})


@pytest.mark.parametrize("kind", ["contact", "opportunity", "task"])
def test_where_the_limit_is_unknown_a_doubt_stays_a_doubt(stored: Lab, kind: str) -> None:
    tell_no_limit(stored)
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": kind})
    event = stored.form()
    stored.settle()
    assert stored.state(event) == "uncertain"
    assert len(creates(stored, kind)) == 1


def test_the_owner_s_word_stands_in_for_an_unknown_limit(stored: Lab) -> None:
    assumed = timedelta(minutes=3)
    tell_no_limit(stored, assume=assumed)
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "contact"})
    event = stored.form()
    stored.settle(6)  # three minutes and six seconds, half a minute of it the lease
    assert stored.state(event) == "uncertain"
    stored.settle(4)
    assert stored.state(event) == "confirmed"
    assert ledger(stored) == EACH_ONCE


def test_a_note_is_made_again_without_a_known_limit_since_a_double_of_it_is_cheap(stored: Lab) -> None:
    tell_no_limit(stored)
    stored.dials.fault("500_without_effect", match={"what": "create", "kind": "note"})
    events = stored.whatsapp("Hola", "Quiero una cotización")
    stored.settle()
    assert stored.state(events[1]) == "confirmed"
    assert ledger(stored)["note"] == 1


# --- what is there already --------------------------------------------------------------------------------------------


def test_a_contact_that_people_typed_in_is_adopted(stored: Lab) -> None:
    typed = People(stored).add_contact(name="Ana", email="ana@example.com", owner_id="rosa")
    event = stored.form()
    stored.work()
    assert stored.state(event) == "confirmed"
    assert ledger(stored) == {"contact": 1, "opportunity": 1, "task": 1}
    (opportunity,) = stored.in_crm("opportunity")
    assert (opportunity["contact_id"], opportunity["owner_id"]) == (typed, "rosa")


def test_a_duplicate_of_an_e_mail_is_adopted_by_its_address(make: Made) -> None:
    with make("unique_email") as here:
        typed: list[str] = []
        people = People(here)
        event = here.form()
        with hooked(here, {
            ("contact.before_commit", 1): lambda: typed.append(people.add_contact(name="A", email="ANA@example.com")),
        }):  # fmt: skip
            here.work()
        assert here.state(event) == "confirmed"
        assert here.in_crm("opportunity")[0]["contact_id"] == typed[0]
        assert ledger(here)["contact"] == 1


def test_two_contacts_that_could_be_the_person_are_a_person_s_choice(stored: Lab) -> None:
    People(stored).add_contact(name="Ana", email="ana@example.com")
    People(stored).add_contact(name="Ana P.", phone="+51987654321")
    event = stored.form()
    stored.work()
    assert (stored.state(event), stored.delivery(event)["reason"]) == ("review", "contact_ambiguous")
    assert ledger(stored) == {"contact": 2}
