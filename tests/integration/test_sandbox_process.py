"""The sandbox as a process: it starts, ends, and is killed."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from crm_clients.sandbox.dials import Dials
from tests.integration.sandbox_calls import Caller


@contextlib.contextmanager
def started(data: Path | str, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the URL of its ready line."""
    command = [sys.executable, "-m", "crm_clients.sandbox", "--data", str(data), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().split()[4]
        finally:
            process.kill()


def test_it_ends_cleanly_when_asked_to() -> None:
    with started(":memory:") as (process, url):
        Caller(url).contact("c-1")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (0, "")


def test_it_ends_cleanly_while_requests_are_held() -> None:
    with started(":memory:") as (process, url):
        Dials(url).fault("late", seconds=3600)
        with pytest.raises(requests.ReadTimeout):
            Caller(url, timeout=0.2).contact("c-1")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (0, "")


def test_it_says_which_profile_it_has(tmp_path: Path) -> None:
    with started(tmp_path / "crm.db", "--profile", "lagging", "--lag", "3", "--limit", "1") as (_, url):
        told = Caller(url).call("GET", "me").json()
    assert told == {"ok": True, "profile": "lagging", "limit_seconds": 1, "lag_seconds": 3}


def test_only_its_token_opens_it() -> None:
    with started(":memory:", "--token", "another") as (_, url):
        codes = [Caller(url, token=token).call("GET", "me").status_code for token in ("sandbox", "another")]
    assert codes == [401, 200]


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    with started(tmp_path / "crm.db") as (_, url):
        contact = Caller(url).contact("c-1")
    with started(tmp_path / "crm.db") as (_, url):
        assert Caller(url).find("contacts", "reference=c-1")[0]["id"] == contact
        assert [entry["id"] for entry in Dials(url).ledger()] == [contact]


def test_a_kill_under_load_leaves_ledger_and_records_in_agreement(tmp_path: Path) -> None:
    answered: list[str] = []
    with started(tmp_path / "crm.db") as (process, url):
        enough = threading.Event()
        threads = [threading.Thread(target=_create_until_it_dies, args=(url, n, answered, enough)) for n in range(8)]
        for thread in threads:
            thread.start()
        assert enough.wait(20)
        process.kill()
        for thread in threads:
            thread.join(20)
    recorded, entered = _ids(tmp_path / "crm.db", "records"), _ids(tmp_path / "crm.db", "ledger")
    assert sorted(recorded) == sorted(entered)
    assert set(answered) <= set(entered)


def _create_until_it_dies(url: str, number: int, answered: list[str], enough: threading.Event) -> None:
    crm = Caller(url, timeout=5)
    with contextlib.suppress(requests.RequestException):
        for count in range(10_000):
            answered.append(crm.contact(f"c-{number}-{count}"))
            if len(answered) >= 200:
                enough.set()


def _ids(path: Path, table: str) -> list[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute(f"SELECT id FROM {table}")]  # noqa: S608 - one of two names


@pytest.mark.parametrize("change", ["UPDATE ledger SET what = 'x'", "DELETE FROM ledger"])
def test_no_hand_can_change_the_ledger(tmp_path: Path, change: str) -> None:
    with started(tmp_path / "crm.db") as (_, url):
        Caller(url).contact("c-1")
    with contextlib.closing(sqlite3.connect(tmp_path / "crm.db")) as connection:  # noqa: SIM117 - one reason each
        with pytest.raises(sqlite3.DatabaseError, match="append-only"):
            connection.execute(change)


def test_an_unknown_profile_is_refused_at_the_start() -> None:
    command = [sys.executable, "-m", "crm_clients.sandbox", "--profile", "gremlins"]
    assert subprocess.run(command, capture_output=True, check=False, timeout=20).returncode == 2
