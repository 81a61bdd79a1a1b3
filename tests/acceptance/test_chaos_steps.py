"""Worker processes that die by SIGKILL, or stand still, between each two steps of a delivery; others take over."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from tests.plant import WITHIN, Json, Plant, plant
from tests.senders import Delivery, form, message, quote

pytestmark = pytest.mark.slow

# Around each write: before its attempt is committed, between the commit and the first byte, while it is under way, and
# when the answer is there but not noted, and when it is.
WRITE = (
    "before_commit",
    "committed",
    "committed/send.before_first_byte",
    "committed/answer.received",
    "answered",
    "noted",
)


def around(write: str) -> tuple[str, ...]:
    return tuple(f"{write}.{point}" for point in WRITE)


LEAD = (*around("contact"), *around("opportunity"), *around("task"))
PLACES: Mapping[str, tuple[str, ...]] = {
    "opener": ("delivery.claimed", *LEAD, "delivery.before_arrow"),
    "follow_up": ("delivery.claimed", *around("note"), "delivery.before_arrow"),
    "version": ("delivery.claimed", *around("opportunity.update"), "delivery.before_arrow"),
}


def before(part: str, number: int) -> Delivery | None:
    """What stands already when the delivery of this part comes."""
    return {"opener": None, "follow_up": message("follow_up", number, 0), "version": quote("version", number, 1)}[part]


def lead(part: str, number: int) -> Delivery:
    return {
        "opener": form("opener", number), "follow_up": message("follow_up", number, 1),
        "version": quote("version", number, 2),
    }[part]  # fmt: skip


# What stands in the CRM for each person in the end.
MADE: Mapping[str, tuple[str, ...]] = {
    "opener": ("contact", "opportunity", "task"),
    "follow_up": ("contact", "opportunity", "task", "message", "message"),
    "version": ("contact", "opportunity", "task"),
}


# Places where a worker stands still until its lease is over and another has finished.
BEFORE_THE_FIRST_BYTE = "opportunity.committed"
AFTER_THE_ANSWER = "opportunity.committed/answer.received"


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What is left when all is settled.

    `killed`: by part and place, how the life ended that had an event in hand there, and the event.  `asleep`: by the
    place of a sleeper, its event, and the event's history when another worker had confirmed it, before it woke up.
    """

    plant: Plant
    killed: Mapping[str, Mapping[str, tuple[str, UUID]]]
    asleep: Mapping[str, tuple[UUID, list[Json]]]

    def events(self, part: str) -> list[UUID]:
        return [event for _, event in self.killed[part].values()]

    def history(self, event: UUID) -> list[Json]:
        return history(self.plant, event)

    def writes(self, event: UUID) -> list[Json]:
        return writes(self.plant, event)


@pytest.fixture(scope="module")
def aftermath() -> Iterator[Aftermath]:
    """Workers stand still or are killed at every place, each with a lead of its own in hand; then one takes over."""
    with plant("web", "clock") as works, ExitStack() as sleepers:
        numbers = {part: range(first := next(works.blocks), first + len(places)) for part, places in PLACES.items()}
        send_what_stands_before(works, numbers)
        asleep = {
            place: sleepers.enter_context(standing_still(works, place, form("asleep", next(works.blocks))))
            for place in (BEFORE_THE_FIRST_BYTE, AFTER_THE_ANSWER)
        }
        killed = kill_at_each_place(works, numbers)
        works.start("worker-1")
        works.settle([event for part in killed.values() for _, event in part.values()] + [*asleep.values()])
        moved = {place: (event, history(works, event)) for place, event in asleep.items()}
        sleepers.close()
        yield Aftermath(works, killed, moved)


def send_what_stands_before(works: Plant, numbers: Mapping[str, range]) -> None:
    """Have an ordinary worker deliver the openers of the follow-ups, and the first versions."""
    sender = works.sender()
    works.start("worker-1")
    each = (before(part, number) for part, of_part in numbers.items() for number in of_part)
    works.settle([sender.send(delivery) for delivery in each if delivery is not None])
    works.stop("worker-1")


def kill_at_each_place(works: Plant, numbers: Mapping[str, range]) -> Mapping[str, Mapping[str, tuple[str, UUID]]]:
    """One life of a worker after another, each killed by itself at the next place, the oldest lead in hand."""
    sender = works.sender()
    plan = [(part, *each) for part, places in PLACES.items() for each in zip(places, numbers[part], strict=True)]
    events = [sender.send(lead(part, number)) for part, _, number in plan]
    with stopping_worker(works, signal.SIGKILL, *(place for _, place, _ in plan)) as lives:
        said, _ = lives.communicate(timeout=2 * WITHIN)
    ended = [line.split()[1] for line in said.splitlines() if re.fullmatch(r"[a-z_./]+ \w+", line)]
    killed: dict[str, dict[str, tuple[str, UUID]]] = {part: {} for part in PLACES}
    for (part, place, _), event, how in zip(plan, events, ended, strict=True):
        killed[part][place] = (how, event)
    return killed


def stopping_worker(works: Plant, how: signal.Signals, *places: str) -> subprocess.Popen[str]:
    """One delivery at a time, so that the places are those of one."""
    environ = {**works.environ, "INTAKE_THREADS": "1"}
    command = [sys.executable, "-m", "tests.stopping_worker", how.name, *places]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


@contextmanager
def standing_still(works: Plant, place: str, delivery: Delivery) -> Iterator[UUID]:
    """A worker stands still with this delivery in hand; in the end it wakes up, ends what it was at, and is stopped."""
    event = works.sender().send(delivery)
    with stopping_worker(works, signal.SIGSTOP, place) as sleeper:
        assert sleeper.stdout is not None
        pid = int(sleeper.stdout.readline())
        works.until(lambda: stands_still(pid), "the worker stands still")
        try:
            yield event
        finally:
            os.kill(pid, signal.SIGCONT)
        works.until(lambda: all(each["closed_at"] for each in writes(works, event)), "the sleeper closed its attempt")
        os.kill(pid, signal.SIGTERM)
        sleeper.communicate(timeout=WITHIN)


def stands_still(pid: int) -> bool:
    """By the third field of its /proc/PID/stat."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def history(works: Plant, event: UUID) -> list[Json]:
    query = "SELECT * FROM delivery_history WHERE event_id = %(event)s ORDER BY history_id"
    return works.rows(query, event=event)


def writes(works: Plant, event: UUID) -> list[Json]:
    """The write attempts of an event, in order."""
    query = "SELECT * FROM attempts WHERE kind = 'write' AND event_id = %(event)s ORDER BY attempt_id"
    return works.rows(query, event=event)


# --- SIGKILL between each two steps ---------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PLACES)
def test_each_life_ended_by_a_kill_at_its_place(aftermath: Aftermath, part: str) -> None:
    assert {place: how for place, (how, _) in aftermath.killed[part].items()} == dict.fromkeys(PLACES[part], "SIGKILL")


@pytest.mark.parametrize("part", PLACES)
def test_each_killed_worker_had_its_own_delivery_in_hand(aftermath: Aftermath, part: str) -> None:
    claims = [
        [each["to_state"] for each in aftermath.history(event)].count("delivering") for event in aftermath.events(part)
    ]
    assert min(claims) >= 2


@pytest.mark.parametrize("part", PLACES)
def test_what_killed_workers_had_in_hand_stands_in_the_crm(aftermath: Aftermath, part: str) -> None:
    assert aftermath.plant.in_crm(part) == Counter(MADE[part] * len(PLACES[part]))


def test_nothing_is_doubled_after_all_these_kills(aftermath: Aftermath) -> None:
    assert aftermath.plant.dials.doubles() == []


def test_each_reference_was_created_once_in_the_ledger(aftermath: Aftermath) -> None:
    made = [each for each in aftermath.plant.dials.ledger() if each["what"] == "created"]
    times = Counter((each["kind"], each["reference"]) for each in made)
    assert [each for each, number in times.items() if number > 1] == []


def test_the_second_versions_amount_stands_on_each_opportunity(aftermath: Aftermath) -> None:
    amounts = [
        each["amount"]
        for each in aftermath.plant.dials.records()
        if each["kind"] == "opportunity" and str(each.get("title")).startswith("version ")
    ]
    assert amounts == ["200.50"] * len(PLACES["version"])


# --- SIGSTOP: a worker that wakes up when its lease is over ---------------------------------------------------------

ONCE = {"contact": 1, "opportunity": 1, "task": 1}


def creates(works: Plant, event: UUID) -> Counter[str]:
    """How many creates of each kind reached the CRM for the records of an event, by its own log of requests."""
    rows = works.rows(
        "SELECT r.reference FROM records r JOIN deliveries d"
        " ON r.record_id IN (d.contact_record, d.opportunity_record, d.task_record) WHERE d.event_id = %(event)s",
        event=event,
    )
    references = {row["reference"] for row in rows}
    asked = [each for each in works.dials.requests() if each["what"] == "create" and each["reference"] in references]
    return Counter(str(each["kind"]) for each in asked)


@pytest.mark.parametrize("place", [BEFORE_THE_FIRST_BYTE, AFTER_THE_ANSWER])
def test_a_worker_that_wakes_up_too_late_sends_nothing(aftermath: Aftermath, place: str) -> None:
    event, _ = aftermath.asleep[place]
    assert creates(aftermath.plant, event) == ONCE


@pytest.mark.parametrize("place", [BEFORE_THE_FIRST_BYTE, AFTER_THE_ANSWER])
def test_a_worker_that_wakes_up_too_late_moves_nothing(aftermath: Aftermath, place: str) -> None:
    event, when_another_had_finished = aftermath.asleep[place]
    assert aftermath.history(event) == when_another_had_finished


def test_the_attempt_that_was_not_sent_says_so(aftermath: Aftermath) -> None:
    event, _ = aftermath.asleep[BEFORE_THE_FIRST_BYTE]
    outcomes = [(each["outcome"], each["settled_how"]) for each in aftermath.writes(event)]
    assert outcomes.count(("not_sent", "absent")) == 1


def test_a_late_answer_is_kept_with_its_attempt(aftermath: Aftermath) -> None:
    event, _ = aftermath.asleep[AFTER_THE_ANSWER]
    (late,) = [each for each in aftermath.writes(event) if each["settled_how"] == "look"]
    assert (late["outcome"], late["answered_at"] is not None) == ("confirmed", True)


def test_nothing_waits_for_a_person(aftermath: Aftermath) -> None:
    assert aftermath.plant.rows("SELECT kind, reason FROM items WHERE closed_at IS NULL") == []
