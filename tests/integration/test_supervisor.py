"""Keeping processes alive: restarts and their pauses, stops and their patience, and what a killed one left behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from intake.processes import find_process
from workers.supervisor import BACKOFF, LARGEST_LOG, SETTLED, Program, Supervisor, end_leftovers, leftovers, log_of

SLEEPS = "import time; print('up', flush=True); time.sleep(600)"
IGNORES = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
FAILS = "raise SystemExit(3)"
PATIENCE = 60.0  # seconds, for a slow machine


class Watch:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Watch:
    return Watch()


@pytest.fixture
def supervisor(tmp_path: Path, clock: Watch) -> Iterator[Supervisor]:
    said: list[str] = []
    made = Supervisor(tmp_path, said.append, clock)
    yield made
    made.kill()


def program(code: str, *, name: str = "child", patience: float = 30.0) -> Program:
    return Program(name, (sys.executable, "-c", code), dict(os.environ), patience)


def pid(supervisor: Supervisor) -> int:
    (child,) = supervisor.children
    assert child.process is not None
    return child.process.pid


def has_begun(supervisor: Supervisor, name: str = "child") -> None:
    until = time.monotonic() + PATIENCE
    while "up" not in log_of(supervisor.home, name).read_text():
        assert time.monotonic() < until
        time.sleep(0.02)


def has_ended(supervisor: Supervisor) -> None:
    (child,) = supervisor.children
    assert child.process is not None
    child.process.wait(PATIENCE)


def test_who_dies_is_started_again(supervisor: Supervisor, clock: Watch) -> None:
    supervisor.run(program(SLEEPS))
    first = pid(supervisor)
    os.kill(first, signal.SIGKILL)
    has_ended(supervisor)
    supervisor.watch()
    clock.now += BACKOFF[-1]
    supervisor.watch()
    assert pid(supervisor) != first


def test_nobody_is_started_before_the_pause_is_over(supervisor: Supervisor) -> None:
    supervisor.run(program(FAILS))
    has_ended(supervisor)
    supervisor.watch()
    supervisor.watch()
    assert supervisor.children[0].process is None


def test_pauses_grow_up_to_a_cap(supervisor: Supervisor, clock: Watch) -> None:
    supervisor.run(program(FAILS))
    pauses = []
    for _ in range(len(BACKOFF) + 2):
        has_ended(supervisor)
        supervisor.watch()
        pauses.append(supervisor.children[0].next_start - clock.now)
        clock.now += BACKOFF[-1]
        supervisor.watch()
    assert [round(each, 6) for each in pauses] == [*BACKOFF[1:], *[BACKOFF[-1]] * 3]


def test_one_that_lived_for_a_while_begins_with_the_shortest_pause(supervisor: Supervisor, clock: Watch) -> None:
    supervisor.run(program(FAILS))
    has_ended(supervisor)
    clock.now += SETTLED
    supervisor.watch()
    assert round(supervisor.children[0].next_start - clock.now, 6) == BACKOFF[0]


def test_a_stop_ends_those_that_are_named(supervisor: Supervisor) -> None:
    supervisor.run(program(SLEEPS, name="one"))
    supervisor.run(program(SLEEPS, name="two"))
    supervisor.stop(["one"])
    assert [(child.program.name, child.running) for child in supervisor.children] == [("two", True)]


def test_who_does_not_end_is_ended_by_force(supervisor: Supervisor) -> None:
    supervisor.run(program(IGNORES, patience=0.0))
    has_begun(supervisor)
    gone = pid(supervisor)
    supervisor.stop(["child"])
    assert find_process(gone) is None


def test_children_do_not_hear_the_terminals_signals(supervisor: Supervisor) -> None:
    supervisor.run(program(SLEEPS))
    assert os.getpgid(pid(supervisor)) != os.getpgid(0)


def test_what_a_killed_supervisor_left_is_ended(supervisor: Supervisor, tmp_path: Path) -> None:
    supervisor.run(program(IGNORES))
    has_begun(supervisor)
    left = find_process(pid(supervisor))
    assert leftovers(tmp_path) == [left]
    os.kill(pid(supervisor), signal.SIGKILL)
    end_leftovers(tmp_path, lambda _text: None)
    assert leftovers(tmp_path) == []


def test_another_process_with_a_recorded_number_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "children").write_text(f"{os.getpid()} 1\n")
    assert leftovers(tmp_path) == []


def test_a_log_does_not_grow_for_ever(supervisor: Supervisor) -> None:
    supervisor.run(program(SLEEPS))
    has_begun(supervisor)
    log = log_of(supervisor.home, "child")
    os.truncate(log, LARGEST_LOG + 1)
    supervisor.trim_logs()
    assert (log.stat().st_size, log.with_suffix(".old").stat().st_size) == (0, LARGEST_LOG + 1)
