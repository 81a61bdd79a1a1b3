"""RQ and Redis under real worker processes: hints come and go, and nothing rests on them."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from uuid import UUID

import pytest
import redis
import requests

from intake import queue
from tests.plant import Json, Plant, plant
from tests.ports import free_port
from tests.senders import Sender, form
from workers.supervisor import Program

pytestmark = pytest.mark.slow

# Seconds that the end of a worker may take: the rest of the calls in hand, on a busy machine.
STOPS_WITHIN = 25.0


@pytest.fixture(scope="module")
def works() -> Iterator[Plant]:
    """No worker but those that a test starts."""
    with plant("web", "clock") as made:
        yield made


@pytest.fixture
def works_slowly(works: Plant) -> Iterator[Plant]:
    """The CRM takes its time for a task, so that a drain is under way for as long."""
    works.dials.fault("slow", match={"what": "create", "kind": "task"}, times=None, seconds=1.0)
    yield works
    works.dials.no_faults()
    for name in [child.program.name for child in works.supervisor.children if "worker" in child.program.name]:
        works.stop(name)


def send(works: Plant, tag: str, number: int = 1) -> list[UUID]:
    sender, first = works.sender(), next(works.blocks)
    return [sender.send(form(tag, first + each)) for each in range(number)]


def in_hand(works: Plant) -> bool:
    """Whether the CRM is busy with a create."""
    return any(each["what"] == "create" and each["status"] is None for each in works.dials.requests())


def claims(works: Plant, events: list[UUID]) -> list[int]:
    """How often each of these was claimed."""
    rows = works.rows(
        "SELECT count(*) AS n FROM delivery_history WHERE to_state = 'delivering' AND event_id = ANY(%(events)s)"
        " GROUP BY event_id",
        events=events,
    )
    return [int(str(row["n"])) for row in rows]


def process_of(works: Plant, name: str) -> subprocess.Popen[bytes]:
    process = next(child.process for child in works.supervisor.children if child.program.name == name)
    assert process is not None
    return process


def keys(works: Plant, *patterns: str) -> list[str]:
    with redis.Redis.from_url(works.environ["REDIS_URL"], decode_responses=True) as client:
        return [str(key) for pattern in patterns for key in client.keys(pattern)]


# --- what is left in Redis ------------------------------------------------------------------------------------------


def test_jobs_that_ended_leave_nothing_in_redis(works: Plant) -> None:
    works.start("worker-1")
    works.settle(send(works, "left", 6))
    per_job = ("rq:job:*", "rq:result*", "rq:execution*", "rq:finished:*", "rq:failed:*", "rq:wip:*")
    works.until(lambda: keys(works, *per_job) == [], "Redis is empty")
    works.stop("worker-1")


def test_what_a_killed_worker_had_taken_from_the_queue_blocks_nobody(works_slowly: Plant) -> None:
    works = works_slowly
    works.start("worker-1")
    events = send(works, "taken")
    works.until(lambda: in_hand(works), "a drain is under way")
    process_of(works, "worker-1").kill()
    works.supervisor.stop(["worker-1"])
    works.start("worker-2")
    works.settle(events + send(works, "after-taken"))


def test_a_job_between_the_queue_and_a_killed_worker_blocks_nobody(works: Plant) -> None:
    """RQ moves a job to its intermediate queue first; who is killed then leaves it there."""
    with queue.connect(works.environ["REDIS_URL"]) as client:
        waiting = queue.queue(client)
        works.until(lambda: waiting.count or works.hint(), "a hint waits")
        client.lmove(waiting.key, waiting.intermediate_queue_key)
    works.start("worker-1")
    works.settle(send(works, "between"))
    works.stop("worker-1")


def test_flushing_redis_does_not_interrupt_a_drain(works_slowly: Plant) -> None:
    works = works_slowly
    works.start("worker-1")
    events = send(works, "flushed")
    works.until(lambda: in_hand(works), "a drain is under way")
    works.flush()
    works.settle(events)
    assert claims(works, events) == [1]


def test_a_worker_works_after_redis_was_flushed_under_its_drain(works_slowly: Plant) -> None:
    works = works_slowly
    works.start("worker-1")
    before = send(works, "under")
    works.until(lambda: in_hand(works), "a drain is under way")
    works.flush()
    works.settle(before)
    works.settle(send(works, "after-flush"))


# --- a stop ---------------------------------------------------------------------------------------------------------


def test_a_stop_ends_the_calls_in_hand_and_takes_nothing_more(works_slowly: Plant) -> None:
    """What had calls left is given back, and goes on where it stood."""
    works = works_slowly
    events = send(works, "stopped", 8)
    works.start("worker-1")
    works.until(lambda: in_hand(works), "a drain is under way")
    works.stop("worker-1")
    states = works.states(events)
    assert states["delivering"] == 0
    assert states["confirmed"] < len(events)
    assert states["confirmed"] + states["received"] == len(events)
    assert 1 <= len(claims(works, events)) < len(events)
    works.start("worker-2")
    works.settle(events)
    assert max(claims(works, events)) <= 2
    assert works.in_crm("stopped")["task"] == len(events)


@pytest.mark.parametrize("busy", [True, False])
def test_a_stopped_worker_ends_in_time_and_well(works_slowly: Plant, busy: bool) -> None:
    works = works_slowly
    works.start("worker-1")
    works.settle(send(works, f"in-time-{busy}"))
    if busy:
        send(works, "in-time")
        works.until(lambda: in_hand(works), "a drain is under way")
    process = process_of(works, "worker-1")
    asked = time.monotonic()
    works.stop("worker-1")
    assert process.returncode == 0
    assert time.monotonic() - asked < STOPS_WITHIN


# --- servers that are away ------------------------------------------------------------------------------------------


def test_a_worker_that_starts_before_redis_waits_for_it(works: Plant) -> None:
    with works.away("Valkey"):
        events = send(works, "no-redis")
        works.start("ordinary-1")
        works.until(lambda: "waiting for PostgreSQL and Redis" in works.log("ordinary-1"), "it waits")
    works.settle(events)
    works.stop("ordinary-1")


def test_a_worker_that_starts_before_postgres_waits_for_it(works: Plant) -> None:
    events = send(works, "no-postgres")
    with works.away("PostgreSQL"):
        works.start("ordinary-2")
        works.until(lambda: "waiting for PostgreSQL and Redis" in works.log("ordinary-2"), "it waits")
    works.settle(events)
    works.stop("ordinary-2")


@pytest.mark.parametrize("server", ["PostgreSQL", "Valkey"])
def test_a_clock_that_starts_before_its_servers_waits_and_says_so(works: Plant, server: str) -> None:
    name = f"clock-{server}"
    with works.away(server):
        works.start(name)
        works.until(lambda: "waiting for PostgreSQL and Redis" in works.log(name), "it waits")
        pid = works.pid(name)
    works.until(lambda: clock_of(works, pid), "it ticks")
    works.stop(name)


def clock_of(works: Plant, pid: int) -> list[Json]:
    query = "SELECT FROM heartbeats WHERE process = 'clock' AND name LIKE %(name)s"
    return works.rows(query, name=f"%-{pid}")


def test_a_receiver_that_starts_before_postgres_says_so_and_accepts_once_it_is_there(works: Plant) -> None:
    environ = {**works.environ, "PORT": str(free_port())}
    sender = Sender(works.settings, f"http://127.0.0.1:{environ['PORT']}")
    with works.away("PostgreSQL"):
        works.supervisor.run(Program("web-late", works.command("web"), environ, 30.0))
        works.until(lambda: "heartbeat failed" in works.log("web-late"), "it says so")
        assert requests.get(f"{sender.url}/healthz", timeout=5.0).status_code == 200
        assert requests.get(f"{sender.url}/readyz", timeout=5.0).status_code == 503
    sender.send(form("late-web", next(works.blocks)))
    assert len(sender.accepted) == 1
    works.stop("web-late")


def test_a_worker_outlives_an_absence_of_postgres(works: Plant) -> None:
    works.start("ordinary-3")
    works.settle(send(works, "postgres-there"))
    pid = works.pid("ordinary-3")
    with works.away("PostgreSQL"):
        works.hint()
        works.until(lambda: "database lost while working" in works.log("ordinary-3"), "it noticed")
    works.settle(send(works, "postgres-back"))
    assert works.pid("ordinary-3") == pid
    works.stop("ordinary-3")


def test_a_worker_that_is_idle_outlives_an_absence_of_redis(works: Plant) -> None:
    works.start("ordinary-4")
    works.settle(send(works, "redis-there"))
    pid = works.pid("ordinary-4")
    with works.away("Valkey"):
        works.until(lambda: "could not connect to Redis" in works.log("ordinary-4"), "it noticed")
        events = send(works, "redis-away")
    works.settle(events)
    assert works.pid("ordinary-4") == pid
    works.stop("ordinary-4")


def test_a_worker_that_is_busy_outlives_an_absence_of_redis(works_slowly: Plant) -> None:
    """RQ gives up where it does not wait for a job; the process goes on."""
    works = works_slowly
    works.start("ordinary-6")
    works.settle(send(works, "redis-there-still"))
    pid = works.pid("ordinary-6")
    events = send(works, "redis-away-meanwhile")
    works.until(lambda: in_hand(works), "a drain is under way")
    with works.away("Valkey"):
        works.until(lambda: works.states(events)["confirmed"] == len(events), "what was in hand is done")
    works.settle(send(works, "redis-there-again"))
    assert works.pid("ordinary-6") == pid
    works.stop("ordinary-6")


def test_a_worker_that_waits_for_redis_after_its_work_stops_well(works_slowly: Plant) -> None:
    works = works_slowly
    works.start("ordinary-7")
    works.settle(send(works, "before-it-went"))
    process = process_of(works, "ordinary-7")
    events = send(works, "when-it-went")
    works.until(lambda: in_hand(works), "a drain is under way")
    with works.away("Valkey"):
        works.until(lambda: works.states(events)["confirmed"] == len(events), "what was in hand is done")
        works.until(lambda: "Redis lost" in works.log("ordinary-7"), "RQ gave up")
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOPS_WITHIN) == 0
    works.stop("ordinary-7")


def test_a_worker_stops_in_time_while_redis_is_away(works: Plant) -> None:
    works.start("ordinary-5")
    works.settle(send(works, "then-away"))
    process = process_of(works, "ordinary-5")
    with works.away("Valkey"):
        asked = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait(STOPS_WITHIN)
        assert time.monotonic() - asked < STOPS_WITHIN
    works.stop("ordinary-5")
