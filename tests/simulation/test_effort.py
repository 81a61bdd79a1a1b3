"""The human minutes of the digest: from seeing to deciding, each minute of a person once, and nothing guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from intake import shown
from intake.alerts.digest import SPAN, digest
from intake.alerts.effort import MOST, Effort, effort
from tests.commands import beside, intake
from tests.lab import Lab

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Office:
    """People at the command line, and minutes that pass."""

    lab: Lab
    environ: Mapping[str, str]

    def review(self, number: int = 0, mode: str = "live") -> UUID:
        self.lab.dials.fault("422", match={"what": "create", "kind": "contact"})
        event = self.lab.form(mode=mode, email=f"p{number}@example.com", phone=f"98700000{number}")
        self.lab.work()
        return event

    def see(self, event: UUID, who: str = "") -> None:
        assert intake({**self.environ, "INTAKE_OPERATOR": who}, "show", event).status == 0

    def decide(self, event: UUID, who: str = "ana") -> None:
        assert intake(self.environ, "revive", event, "--by", who, "--reason", "visto").status == 0

    def wait(self, span: timedelta) -> None:
        with psycopg.connect(self.lab.database_url) as conn:
            conn.execute("SET session_replication_role = replica")
            for table, column in (("shown", "shown_at"), ("decisions", "at"), ("items", "opened_at"),
                                  ("items", "closed_at")):  # fmt: skip
                conn.execute(f"UPDATE {table} SET {column} = {column} - %s", [span])  # noqa: S608  # our own names

    def told(self) -> Effort:
        with self.lab.pool.connection() as conn:
            return effort(conn, SPAN)

    def minutes(self) -> tuple[int, int, int]:
        """Whole minutes, measured, decisions."""
        told = self.told()
        return round(told.seconds / 60), told.measured, told.decisions


@pytest.fixture
def office(stored: Lab, tmp_path: Path) -> Office:
    return Office(stored, beside(stored, tmp_path))


def test_a_decision_takes_from_when_its_event_was_seen(office: Office) -> None:
    event = office.review()
    office.see(event)
    office.wait(4 * MINUTE)
    office.decide(event)
    assert office.minutes() == (4, 1, 1)
    assert round((office.told().waited or 0) / 60) == 4


def test_what_was_seen_longer_ago_is_not_measured(office: Office) -> None:
    event = office.review()
    office.see(event)
    office.wait(MOST + MINUTE)
    office.decide(event)
    assert office.minutes() == (0, 0, 1)


def test_of_several_looks_the_first_within_the_bound_counts(office: Office) -> None:
    event = office.review()
    for _ in range(3):
        office.see(event)
        office.wait(6 * MINUTE)
    office.decide(event)
    assert office.minutes() == (12, 1, 1)


def test_two_that_one_person_has_open_side_by_side_take_their_time_once(office: Office) -> None:
    events = [office.review(number) for number in range(2)]
    for event in events:
        office.see(event)
    office.wait(5 * MINUTE)
    for event in events:
        office.decide(event)
    assert office.minutes() == (5, 2, 2)


def test_two_people_at_once_take_twice_the_time(office: Office) -> None:
    events = [office.review(number) for number in range(2)]
    people = ("ana", "luis")
    for event, who in zip(events, people, strict=True):
        office.see(event, who)
    office.wait(5 * MINUTE)
    for event, who in zip(events, people, strict=True):
        office.decide(event, who)
    assert office.minutes() == (10, 2, 2)


def test_what_another_person_saw_does_not_count(office: Office) -> None:
    event = office.review()
    office.see(event, "luis")
    office.wait(5 * MINUTE)
    office.decide(event, "ana")
    assert office.minutes() == (0, 0, 1)


def test_an_item_that_was_seen_or_taken_over_begins_it_too(office: Office) -> None:
    events = [office.review(number) for number in range(2)]
    first, second = office.lab.rows("SELECT item_id FROM items ORDER BY item_id")
    assert intake(office.environ, "item", first["item_id"]).status == 0
    assert intake(office.environ, "assign", second["item_id"], "--by", "luis", "--reason", "lo tomo").status == 0
    office.wait(3 * MINUTE)
    office.decide(events[0])
    office.decide(events[1], "luis")
    assert office.minutes() == (6, 2, 2)


def test_a_program_that_reads_is_nobody(office: Office) -> None:
    event = office.review()
    assert intake(office.environ, "show", event, "--json").status == 0
    office.wait(MINUTE)
    office.decide(event)
    assert office.minutes() == (0, 0, 1)


def test_many_at_once_are_decided_from_a_list(office: Office) -> None:
    for number in range(3):
        office.see(office.review(number))
    said = intake(
        office.environ, "bulk", "run", "revive", "--state", "review", "--yes", "--by", "ana", "--reason", "ya"
    )
    assert said.status == 0
    office.lab.work()
    assert office.minutes() == (0, 0, 0)
    with office.lab.pool.connection() as conn:
        assert digest(conn).decisions == 3


def test_tests_take_nobody_any_time(office: Office) -> None:
    event = office.review(mode="test")
    office.see(event)
    office.wait(MINUTE)
    office.decide(event)
    assert office.minutes() == (0, 0, 0)


def test_the_digest_divides_by_the_leads_that_came(office: Office) -> None:
    event = office.review()
    office.lab.form(email="otra@example.com", phone="912345678")
    office.see(event)
    office.wait(3 * MINUTE)
    office.decide(event)
    with office.lab.pool.connection() as conn:
        found = digest(conn)
    assert (found.received, round(found.human_minutes_per_lead, 1)) == (2, 1.5)


def test_what_was_seen_long_ago_is_forgotten(office: Office) -> None:
    office.see(office.review())
    office.wait(shown.KEPT_FOR + MINUTE)
    with office.lab.pool.connection() as conn:
        shown.forget_old(conn)
    assert office.lab.rows("SELECT FROM shown") == []
