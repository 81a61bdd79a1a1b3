"""Two hosts, each with a receiver, a worker and a clock, on one PostgreSQL and one Valkey; one is cut off at its work.

They share no folder.  What the second one says to PostgreSQL, Valkey and the CRM goes through lines that a test cuts.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import UUID

import pytest
import requests
from psycopg.conninfo import conninfo_to_dict

from intake.processes import find_process
from tests.acceptance.test_chaos import assert_each_stands_once
from tests.acceptance.test_chaos_steps import AFTER_THE_ANSWER, history, stands_still, writes
from tests.plant import Plant, hurry, plant
from tests.ports import free_port
from tests.running import until
from tests.senders import Sender, form, stream
from workers.prove.chaos.line import Line, line_to
from workers.supervisor import Program

pytestmark = pytest.mark.slow

CUT_FOR = 7.0  # seconds: longer than a lease of the tests' workers


@dataclass(frozen=True, slots=True)
class Far:
    """The second host: its receiver's address, and its lines."""

    works: Plant
    environ: dict[str, str]
    lines: dict[str, Line]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.environ['PORT']}"

    def run(self, name: str, *command: str) -> None:
        """Start a program of this host."""
        self.works.supervisor.run(Program(name, command or self.works.command("worker"), self.environ, 30.0))

    def answers(self) -> bool:
        return requests.get(f"{self.url}/readyz", timeout=2.0).status_code == 200

    def is_calling(self) -> bool:
        """Whether a request to the CRM is under way."""
        return self.lines["crm"].in_use

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """Nothing goes in or out of this host in the block."""
        for each in self.lines.values():
            each.broken.set()
            each.cut()
        try:
            yield
        finally:
            for each in self.lines.values():
                each.broken.clear()


@pytest.fixture(scope="module")
def works() -> Iterator[Plant]:
    """The first host; its worker begins when a test wants it to."""
    with plant("web", "clock") as made:
        yield made


@pytest.fixture(scope="module")
def far(works: Plant) -> Iterator[Far]:
    """The second, with its own folder, and a receiver and a clock for now."""
    with ExitStack() as stack:
        postgres = conninfo_to_dict(works.environ["DATABASE_URL"])
        lines = {
            "postgres": stack.enter_context(line_to(f"{postgres['host']}/.s.PGSQL.{postgres['port']}")),
            "valkey": stack.enter_context(line_to(unquote(urlsplit(works.environ["REDIS_URL"]).path))),
            "crm": stack.enter_context(line_to(int(works.dials.url.rpartition(":")[2]))),
        }
        made = Far(works, environ_of(works, lines), lines)
        made.run("web-far", *works.command("web"))
        made.run("clock-far", *works.command("clock"))
        works.until(made.answers, "the far door answers")
        yield made
        works.stop("web-far", "clock-far")


def environ_of(works: Plant, lines: dict[str, Line]) -> dict[str, str]:
    home = Path(works.environ["INTAKE_HOME"])
    own = home / "far"
    own.mkdir()
    shutil.copy(home / "installation", own)
    config = (home / "intake.toml").read_text("utf-8").replace(works.dials.url, lines["crm"].url)
    (own / "intake.toml").write_text(config, "utf-8")
    postgres = conninfo_to_dict(works.environ["DATABASE_URL"])
    return {
        **works.environ,
        "DATABASE_URL": f"postgresql://{postgres['user']}@127.0.0.1:{lines['postgres'].port}/{postgres['dbname']}",
        "REDIS_URL": f"redis://127.0.0.1:{lines['valkey'].port}/0",
        "INTAKE_HOME": str(own),
        "INTAKE_CONFIG": str(own / "intake.toml"),
        "PORT": str(free_port()),
    }


def settled(works: Plant, *senders: Sender) -> None:
    for sender in senders:
        works.settle(sender.accepted)


# --- SIGSTOP --------------------------------------------------------------------------------------------------------


def test_a_host_that_stood_still_in_a_delivery_moves_nothing_and_keeps_its_late_answer(works: Plant, far: Far) -> None:
    event = works.sender().send(form("asleep", next(works.blocks)))
    far.run("stopping-far", sys.executable, "-m", "tests.stopping_worker", "SIGSTOP", AFTER_THE_ANSWER)
    pid = sleeper(works)
    works.start("worker-1")
    works.settle([event])
    before = history(works, event)
    late = open_writes(works, event)
    assert late, "it had nothing in hand"
    os.kill(pid, signal.SIGCONT)
    works.until(lambda: not open_writes(works, event), "it closed its attempt")
    kept = [each for each in writes(works, event) if each["attempt_id"] in late]
    assert [each["answered_at"] is not None for each in kept] == [True]
    os.kill(pid, signal.SIGTERM)
    assert until(lambda: find_process(pid) is None)
    works.stop("stopping-far", "worker-1")
    assert history(works, event) == before
    assert works.in_crm("asleep") == Counter(contact=1, opportunity=1, task=1)


def sleeper(works: Plant) -> int:
    """The process that stands still by itself, a child of the one that was started."""
    found: list[int] = []

    def asleep() -> bool:
        found[:] = [each.pid for each in works.children("stopping-far") if stands_still(each.pid)]
        return bool(found)

    works.until(asleep, "a worker stands still")
    return found[0]


def open_writes(works: Plant, event: UUID) -> list[object]:
    """The writes of which nobody has noted what became of them."""
    return [each["attempt_id"] for each in writes(works, event) if each["closed_at"] is None]


# --- the network ----------------------------------------------------------------------------------------------------


def test_a_host_that_was_cut_off_in_its_work_and_came_back_loses_and_doubles_nothing(works: Plant, far: Far) -> None:
    works.dials.fault("slow", match={"what": "create"}, times=None, seconds=0.3)
    works.start("worker-1")
    far.run("worker-far")
    near, distant = works.sender(), Sender(works.settings, far.url)
    streams = [
        stream(sender, tag, next(works.blocks), count=3, pause=0.3)
        for sender, tag in ((near, "near"), (distant, "far"))
    ]
    for each in streams:
        each.start()
    works.until(far.is_calling, "a request of the far host is under way")
    with far.cut_off():
        over = time.monotonic() + CUT_FOR
        works.until(lambda: time.monotonic() > over, "it stays away", within=CUT_FOR + 60)
    calls = len(works.dials.requests())
    works.until(lambda: far.is_calling() and len(works.dials.requests()) > calls, "the far host works again")
    works.dials.no_faults()
    works.until(lambda: sum(each.ended() for each in streams) == len(streams), "the senders are rid of everything")
    assert [each.failures for each in streams] == [[], []]
    hurry(works)
    settled(works, near, distant)
    assert_each_stands_once(works, near, "near")
    assert_each_stands_once(works, distant, "far")
    works.stop("worker-1", "worker-far")


# --- clocks ---------------------------------------------------------------------------------------------------------


def test_each_of_two_clocks_tells_that_it_lives(works: Plant, far: Far) -> None:
    def both() -> bool:
        told = requests.get(f"{far.url}/readyz", timeout=2.0).json()["processes"]
        return bool(told["clock"]["alive"] == 2)

    works.until(both, "two clocks tick")
