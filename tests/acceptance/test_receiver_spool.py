"""PostgreSQL stops, and hangs, under senders that never retry, on two web hosts with a spool each.

Workers deliver all the while to the sandbox CRM, so that what was acknowledged is followed to its end.

OUTAGE_SECONDS: how long the database is away each time; by default 5, so that the suite is short.  The whole promise is
`OUTAGE_SECONDS=60 pytest -rP tests/acceptance/test_receiver_spool.py`, which takes about ten minutes.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import pytest

from tests.acceptance.hosts import Away, Hosts, Told, form, hung, stopped, two_hosts, waiting, working
from tests.doorway import event, message, rows, signed, whatsapp
from tests.running import until
from tests.simulation.world import ledger
from tests.web_process import Answer, Web

OUTAGE = float(os.environ.get("OUTAGE_SECONDS") or 5)

# Seconds in which every sender must be answered.
SOON = 5.0

# Deliveries that must be acknowledged before, in and after each outage, so that there is a load.
ENOUGH = 30

COUNT = """
    SELECT count(*) AS events, count(DISTINCT need_id) AS needs, count(DISTINCT opportunity_record) AS opportunities
      FROM events JOIN deliveries USING (event_id)
"""
LEADS_TO = "SELECT event_id AS told, event_id FROM events UNION SELECT alias, event_id FROM event_aliases"


@pytest.fixture(scope="module")
def hosts(server_home: Path, tmp_path_factory: pytest.TempPathFactory, valkey_server: str) -> Iterator[Hosts]:
    home = server_home / f"spool-{time.monotonic_ns()}"
    with two_hosts(home, tmp_path_factory.mktemp("hosts"), valkey_server) as made:
        yield made


def events_of(hosts: Hosts, told: set[UUID]) -> dict[UUID, UUID]:
    """By the id that a sender was told: the event that it leads to."""
    known = {row["told"]: row["event_id"] for row in rows(hosts.url, LEADS_TO)}
    return {each: UUID(str(known[each])) for each in told if each in known}


def wait_for(count: Callable[[], int], enough: int = ENOUGH) -> None:
    """Until so many more were acknowledged."""
    before = count()
    assert until(lambda: count() - before >= enough), f"{count() - before} of {enough}"


def be_away(hosts: Hosts, told: Told, away: Away, meanwhile: Callable[[], None] = lambda: None) -> list[Answer]:
    """Take the database away under load, for the time and until enough was spooled; returns what readiness said."""
    wait_for(told.stored)
    with away(hosts):
        over = time.monotonic() + OUTAGE
        wait_for(told.spooled)
        meanwhile()
        ready = [made.send("GET", "/readyz") for made in hosts.webs]
        assert until(lambda: time.monotonic() > over, OUTAGE + 1.0)
    wait_for(told.stored)
    return ready


def assert_each_once_in_the_crm(hosts: Hosts, told: Told) -> None:
    """One event for each thing that was acknowledged, though its two senders were told two ids; one lead for each."""
    sys.stdout.write(told.figures)
    became = events_of(hosts, told.all)
    assert became.keys() == told.all
    assert all(len({became[each] for each in ids}) == 1 for ids in told.ids.values())
    (count,) = rows(hosts.url, COUNT)
    found = int(str(count["events"]))
    # Those whose process was killed before it could answer may have been kept all the same.
    assert len(told.ids) <= found - told.before <= len(told.ids) + told.unanswered
    assert count == {"events": found, "needs": found, "opportunities": found}
    assert ledger(hosts.lab) == {"contact": found, "opportunity": found, "task": found}


@pytest.mark.parametrize("away", [stopped, hung])
def test_all_that_was_acknowledged_is_in_the_crm_once(hosts: Hosts, away: Away) -> None:
    told = Told(hosts.events())
    with working(hosts.lab), hosts.load(told):
        ready = be_away(hosts, told, away)
    hosts.wait_until_drained()
    hosts.wait_until_delivered()
    # No balancer may take out a host that can keep deliveries.
    assert [(each.status, each.document["database"]) for each in ready] == [(200, "away")] * 2
    assert (told.refused, told.unanswered) == ([], 0)
    assert told.slowest < SOON
    assert_each_once_in_the_crm(hosts, told)


def test_web_processes_killed_meanwhile_lose_nothing_that_they_acknowledged(hosts: Hosts) -> None:
    told = Told(hosts.events())

    def kill() -> None:
        for _ in range(3):
            os.kill(min(hosts.webs[0].workers()), signal.SIGKILL)
            wait_for(told.spooled, 10)

    with working(hosts.lab), hosts.load(told):
        for away in (stopped, hung):
            be_away(hosts, told, away, kill)
    hosts.wait_until_drained()
    hosts.wait_until_delivered()
    assert told.refused == []
    assert_each_once_in_the_crm(hosts, told)


# --- at both hosts at once --------------------------------------------------------------------------------------------


def test_two_first_messages_of_one_person_at_both_hosts_at_once_are_one_need(hosts: Hosts) -> None:
    people = [f"5198765{number:04d}" for number in range(20)]
    posts = [
        (made, whatsapp(message(f"wamid.{sender}.{text}", text, sender=sender)))
        for sender in people
        for made, text in zip(hosts.webs, ("uno", "dos"), strict=True)
    ]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda post: post[0].post("wa", post[1], delivery_id=""), posts))
    assert {each.status for each in answers} == {200}
    hosts.wait_until_drained()  # A busy machine may have kept some of them for a moment.
    parts = hosts.lab.rows(
        "SELECT part, count(*)::int AS n, count(DISTINCT need_id)::int AS needs FROM deliveries"
        " WHERE source = 'wa' GROUP BY part ORDER BY part"
    )
    assert parts == [{"part": "follow_up", "n": 20, "needs": 20}, {"part": "opener", "n": 20, "needs": 20}]


# --- sources with Idempotency-Key -------------------------------------------------------------------------------------


def keyed(made: Web, key: str, message: str = "Hola") -> Answer:
    """A delivery of a program that names it by a key."""
    body = form(message)
    headers = signed(made.settings, "keyed", body, delivery_id=key) | {"Idempotency-Key": key}
    return made.send("POST", "/hooks/keyed", body, headers)


def until_accepted(made: Web, key: str) -> Answer:
    """As its program does it: told to come again, it comes again."""
    answers: list[Answer] = []

    def is_accepted() -> bool:
        answers.append(keyed(made, key))
        assert answers[-1].status in {200, 503}
        return answers[-1].status == 200

    assert until(is_accepted)
    return answers[-1]


def events_named(hosts: Hosts, key: str) -> int:
    return len(hosts.lab.rows("SELECT FROM events WHERE request_id = %(key)s AND source = 'keyed'", key=key))


@pytest.mark.parametrize("away", [stopped, hung])
def test_a_program_with_keys_is_told_to_come_again_while_others_are_spooled(hosts: Hosts, away: Away) -> None:
    made, key = hosts.webs[0], f"key-{away.__name__}"
    with away(hosts):
        refused = [keyed(made, key) for _ in range(3)]
        kept = waiting(made)
        other = made.post("web", form(key), delivery_id=key)
    first, again, reused = until_accepted(made, key), keyed(made, key), keyed(made, key, "Otra cosa")
    hosts.wait_until_drained()
    assert [(each.status, each.document["error"]) for each in refused] == [(503, "storage_unavailable")] * 3
    assert all(int(each.headers["retry-after"]) > 0 for each in refused)
    assert (kept, event(other.document)["state"]) == (0, "spooled")
    assert (again.document, again.headers["idempotent-replayed"]) == (first.document, "true")
    assert (event(first.document)["duplicate"], reused.status, events_named(hosts, key)) == (False, 422, 1)


@dataclass(slots=True)
class Programs:
    """Eight programs that use one key after another, each at the same time as the others."""

    hosts: Hosts
    tag: str
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        with ThreadPoolExecutor(8) as pool:
            while not self.over.is_set():
                key = f"{self.tag}-{len(self.answers)}"
                posts = [pool.submit(until_accepted, self.hosts.webs[number % 2], key) for number in range(8)]
                self.answers[key] = [each.result() for each in posts]

    def done(self) -> int:
        return len(self.answers)


@pytest.mark.parametrize("away", [stopped, hung])
def test_one_key_at_once_while_the_database_goes_is_one_event_with_one_answer(hosts: Hosts, away: Away) -> None:
    programs = Programs(hosts, f"at-once-{away.__name__}")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(programs.run)
        wait_for(programs.done, 3)
        with away(hosts):
            assert until(lambda: keyed(hosts.webs[0], "another").status == 503)
        wait_for(programs.done, 3)
        programs.over.set()
    running.result()
    for key, answers in programs.answers.items():
        assert len({each.body for each in answers}) == 1
        # None is the first where that one's answer was lost with the database, and its event was not.
        assert ["idempotent-replayed" in each.headers for each in answers].count(False) <= 1
        assert events_named(hosts, key) == 1
