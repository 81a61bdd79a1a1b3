"""`intake up`: it starts, it keeps running whatever is killed, and it leaves nothing behind."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator

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


@pytest.fixture
def own() -> Iterator[Home]:
    """A home of the test's own, not started yet."""
    with home() as made:
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


def test_a_stop_leaves_nothing_running(own: Home) -> None:
    own.start()
    pids = own.children().values()
    assert own.stop() == 0
    assert until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))  # noqa: PTH110  # a process, not a file


def test_a_stop_removes_what_tells_others_of_it(own: Home) -> None:
    own.start()
    own.stop(signal.SIGINT)
    assert not (own.folder / "var" / "runtime.env").exists()


def test_a_restart_keeps_what_was_stored(own: Home) -> None:
    own.start()
    event_id = own.send()
    until(lambda: own.state(event_id) == "confirmed")
    own.stop()
    own.start()
    assert own.state(event_id) == "confirmed"


def test_children_end_with_a_supervisor_that_is_killed(own: Home) -> None:
    own.start()
    ours = [pid for name, pid in own.children().items() if name not in {"postgres", "valkey"}]
    own.stop(signal.SIGKILL)
    assert until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in ours))  # noqa: PTH110


def test_after_a_killed_supervisor_the_next_one_has_no_doubles(own: Home) -> None:
    own.start()
    event_id = own.send()
    until(lambda: own.state(event_id) == "confirmed")
    own.stop(signal.SIGKILL)
    own.start()
    # Adopted servers are no children of the new supervisor; the others are, once each.
    kinds = sorted(name.partition(" ")[0] for name in own.children())
    assert kinds == ["clock", "sandbox", "web", "worker", "worker"]


def test_a_child_that_was_stopped_when_its_supervisor_was_killed_is_ended_by_the_next(own: Home) -> None:
    own.start()
    clock = own.children()["clock"]
    os.kill(clock, signal.SIGSTOP)
    own.stop(signal.SIGKILL)
    own.start()
    assert until(lambda: not os.path.exists(f"/proc/{clock}"))  # noqa: PTH110


def test_a_taken_port_is_told_before_anything_starts(shared: Home, own: Home) -> None:
    own.port = shared.port
    with pytest.raises(AssertionError, match="PORT"):
        own.start()


def test_a_second_signal_ends_what_does_not_end(own: Home) -> None:
    own.start()
    pids = list(own.children().values())
    for pid in workers(own):
        os.kill(pid, signal.SIGSTOP)
    assert own.process is not None
    own.process.terminate()
    assert until(lambda: not own.is_ready())
    own.stop()
    assert until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))  # noqa: PTH110


def test_a_database_of_ones_own_is_used(empty_database_url: str) -> None:
    with home(DATABASE_URL=empty_database_url) as own:
        own.start()
        event_id = own.send()
        assert until(lambda: own.state(event_id) == "confirmed")
        assert "postgres" not in own.children()
