"""`intake up`: it starts, it keeps running whatever is killed, and it leaves nothing behind."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest

from tests.running import Home, home, until

# One process of each kind.  There are two workers, named by their number.
KINDS = ("clock", "postgres", "sandbox", "valkey", "web")


@pytest.fixture(scope="module")
def shared() -> Iterator[Home]:
    """A running home for tests that leave it running."""
    with home() as made:
        made.start()
        yield made


def test_a_lead_goes_the_whole_way(shared: Home) -> None:
    event_id = shared.send()
    assert until(lambda: shared.state(event_id) == "confirmed")


def test_one_process_of_each_kind_runs(shared: Home) -> None:
    kinds = sorted(name.partition(" ")[0] for name in shared.children())
    # PostgreSQL's main process leaves the supervisor's family when root starts it as another user, or not at all.
    assert kinds == ["clock", "postgres", "sandbox", "valkey", "web", "worker", "worker"]


@pytest.mark.parametrize("kind", KINDS)
def test_who_is_killed_is_started_again(shared: Home, kind: str) -> None:
    before = shared.children()[kind]
    os.kill(before, signal.SIGKILL)
    assert until(lambda: shared.children().get(kind) not in (None, before))


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_kill_leads_go_the_whole_way_again(shared: Home, kind: str) -> None:
    os.kill(shared.children()[kind], signal.SIGKILL)
    assert until(lambda: shared.children().get(kind) and shared.is_ready())
    event_id = shared.send(message=f"Después de {kind}")
    assert until(lambda: shared.state(event_id) == "confirmed")


def test_killed_workers_are_started_again(shared: Home) -> None:
    before = {pid for name, pid in shared.children().items() if name.startswith("worker")}
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    assert until(lambda: len(workers(shared) - before) == len(before))


def workers(running: Home) -> set[int]:
    return {pid for name, pid in running.children().items() if name.startswith("worker")}


def test_a_second_up_on_the_same_home_is_refused(shared: Home) -> None:
    done = shared.intake("up")
    assert (done.status, "runs here already" in done.err) == (2, True)


def test_what_holds_secrets_is_its_owners_alone(shared: Home) -> None:
    files = [shared.folder / "var" / name for name in ("runtime.env", "demo-secrets.env")]
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600, 0o600]


def test_the_doctor_finds_nothing(shared: Home) -> None:
    assert until(shared.is_ready)
    assert until(lambda: shared.intake("check").status == 0), shared.intake("check").out


# --- one home, several lives ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lives:
    """What was seen of a home that was stopped, started, killed, started again, and ended by force.

    `after_stop`, `after_kill`, `after_force`: whoever should have ended by then, and had not.
    """

    status: int
    after_stop: frozenset[int]
    tells_of_itself: bool
    state: str
    after_kill: frozenset[int]
    kinds: tuple[str, ...]
    stopped_clock: frozenset[int]
    after_force: frozenset[int]


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    with home() as made:
        made.start()
        event_id, first = made.send(), made.children().values()
        assert until(lambda: made.state(event_id) == "confirmed")
        status, after_stop = made.stop(), alive_in_the_end(first)
        tells_of_itself = (made.folder / "var" / "runtime.env").exists()
        made.start()
        state, second = made.state(event_id), made.children()
        clock = second["clock"]
        os.kill(clock, signal.SIGSTOP)
        made.stop(signal.SIGKILL)
        after_kill = alive_in_the_end(
            pid for name, pid in second.items() if name not in {"postgres", "valkey", "clock"}
        )
        made.start()
        kinds = tuple(sorted(name.partition(" ")[0] for name in made.children()))
        stopped_clock = alive_in_the_end([clock])
        after_force = ended_by_force(made)
        yield Lives(status, after_stop, tells_of_itself, state, after_kill, kinds, stopped_clock, after_force)


def alive_in_the_end(pids: Iterable[int]) -> frozenset[int]:
    """Those of these processes that do not end."""
    some = frozenset(pids)

    def alive() -> frozenset[int]:
        return frozenset(pid for pid in some if os.path.exists(f"/proc/{pid}"))  # noqa: PTH110  # a process, not a file

    until(lambda: not alive())
    return alive()


def ended_by_force(made: Home) -> frozenset[int]:
    """Stop what has workers that do not hear, and stop it again; those that live on."""
    pids = list(made.children().values())
    for pid in workers(made):
        os.kill(pid, signal.SIGSTOP)
    assert made.process is not None
    made.process.terminate()
    assert until(lambda: not made.is_ready())
    made.stop()
    return alive_in_the_end(pids)


def test_a_stop_leaves_nothing_running(lives: Lives) -> None:
    assert (lives.status, lives.after_stop) == (0, frozenset())


def test_a_stop_removes_what_tells_others_of_it(lives: Lives) -> None:
    assert not lives.tells_of_itself


def test_a_restart_keeps_what_was_stored(lives: Lives) -> None:
    assert lives.state == "confirmed"


def test_children_end_with_a_supervisor_that_is_killed(lives: Lives) -> None:
    assert lives.after_kill == frozenset()


def test_after_a_killed_supervisor_the_next_one_has_no_doubles(lives: Lives) -> None:
    # Adopted servers are no children of the new supervisor; the others are, once each.
    assert lives.kinds == ("clock", "sandbox", "web", "worker", "worker")


def test_a_child_that_was_stopped_when_its_supervisor_was_killed_is_ended_by_the_next(lives: Lives) -> None:
    assert lives.stopped_clock == frozenset()


def test_a_second_signal_ends_what_does_not_end(lives: Lives) -> None:
    assert lives.after_force == frozenset()


# --- beside others ----------------------------------------------------------------------------------------------------


def test_a_taken_port_is_told_before_anything_starts(shared: Home) -> None:
    with home() as own:
        own.port = shared.port
        with pytest.raises(AssertionError, match="PORT"):
            own.start()


def test_a_database_of_ones_own_is_used(empty_database_url: str) -> None:
    with home(DATABASE_URL=empty_database_url) as own:
        own.start()
        event_id = own.send()
        assert until(lambda: own.state(event_id) == "confirmed")
        assert "postgres" not in own.children()
        own.stop(signal.SIGINT)
        assert not (own.folder / "var" / "runtime.env").exists()
