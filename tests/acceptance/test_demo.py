"""The demonstration, as a newcomer runs it: it ends well, leaves nothing behind, and is able to fail."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from intake.embedded import find_postgres
from intake.postgres_home import find_place
from intake.processes import Process
from tests import broken_worker
from workers.demo.home import OLD, PREFIX, sweep
from workers.demo.printing import Printer
from workers.demo.progress import Progress
from workers.demo.show import Show
from workers.up import only_one

# Nobody listens there: a demonstration that used them would fail.
ELSEWHERE = {
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none",
    "REDIS_URL": "redis://127.0.0.1:9/0",
    "INTAKE_SANDBOX_URL": "http://127.0.0.1:9",
    "PORT": "9",
}
PATIENCE = 120.0  # seconds, far more than it needs


@dataclass(frozen=True, slots=True)
class Ended:
    """How a demonstration ended.  `left`: what it left where temporary files go."""

    status: int
    output: str
    left: list[str]


@contextmanager
def running(temporary: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`python -m workers.demo`, with a folder of its own for temporary files, and ended in any case."""
    temporary.mkdir(mode=0o711, exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-m", "workers.demo", *arguments],
        env={**os.environ, **ELSEWHERE, "TMPDIR": str(temporary), "HOME": ""},
        cwd=temporary,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()


def ended(process: subprocess.Popen[str], temporary: Path) -> Ended:
    output, errors = process.communicate(timeout=PATIENCE)
    return Ended(process.returncode, output + errors, [each.name for each in temporary.iterdir()])


@pytest.fixture(scope="module")
def open_folder(server_home: Path) -> Path:
    """A short path, which PostgreSQL's own user may pass through when the tests run as root."""
    return server_home


@pytest.fixture(scope="module")
def healthy(open_folder: Path) -> Ended:
    """One demonstration that ends by itself."""
    with running(open_folder / "d", "--once") as process:
        return ended(process, open_folder / "d")


@pytest.mark.slow
def test_it_exits_0_when_everything_is_as_told(healthy: Ended) -> None:
    assert healthy.status == 0, healthy.output


@pytest.mark.slow
def test_it_leaves_nothing_behind(healthy: Ended) -> None:
    assert healthy.left == []


@pytest.mark.slow
@pytest.mark.parametrize("column", ["event", "kind", "state", "contact", "opportunity", "task"])
def test_its_table_has_the_column(healthy: Ended, column: str) -> None:
    header = next(line for line in healthy.output.splitlines() if line.lstrip().startswith("#"))
    assert column in header.split()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["form", "whatsapp", "quote"])
def test_it_shows_all_kinds(healthy: Ended, kind: str) -> None:
    assert any(kind in line.split() for line in healthy.output.splitlines())


@pytest.mark.slow
def test_it_gives_no_address_that_is_gone_when_it_ends(healthy: Ended) -> None:
    assert "http://" not in healthy.output


# --- able to fail -----------------------------------------------------------------------------------------------------


class Watched(io.StringIO):
    """What is printed; `stop` is set once it says that it goes on."""

    def __init__(self, stop: threading.Event) -> None:
        super().__init__()
        self.stop = stop

    def write(self, text: str) -> int:
        if "until Ctrl-C" in text:
            self.stop.set()
        return super().write(text)


@pytest.fixture(scope="module")
def broken() -> tuple[bool, str]:
    """A demonstration whose workers create a second time without looking, stopped when it would go on."""
    stop = threading.Event()
    out = Watched(stop)
    printer = Printer(Console(file=out, width=120), "en")
    command = (sys.executable, str(Path(broken_worker.__file__)))
    show = Show(printer, Progress(out), dict(os.environ), once=False, worker=command, patience=15.0)
    return show.run(stop), out.getvalue()


@pytest.mark.slow
def test_a_second_create_without_a_look_fails(broken: tuple[bool, str]) -> None:
    good, output = broken
    assert not good, output


@pytest.mark.slow
def test_the_double_is_named(broken: tuple[bool, str]) -> None:
    _, output = broken
    assert "DOUBLE in the CRM: opportunity under reference n" in output


@pytest.mark.slow
def test_one_that_goes_on_says_where_the_receiver_is(broken: tuple[bool, str]) -> None:
    _, output = broken
    assert "/hooks/<source>" in output


@pytest.mark.slow
def test_one_that_goes_on_says_where_the_console_is_and_how_it_opens(broken: tuple[bool, str]) -> None:
    _, output = broken
    assert re.search(r"http://127\.0\.0\.1:[0-9]+/console +\(name demo, password [a-z0-9-]{23}\)", output)


# --- stopped ----------------------------------------------------------------------------------------------------------


def its_server(process: subprocess.Popen[str], temporary: Path) -> Process:
    """The PostgreSQL of a demonstration, as soon as it runs."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert process.poll() is None
        for home in temporary.iterdir():
            found = find_postgres(find_place(home))
            if found is not None:
                return found.process
        time.sleep(0.05)
    raise AssertionError("PostgreSQL does not start")


@pytest.mark.slow
def test_it_cleans_up_when_it_is_interrupted(open_folder: Path) -> None:
    temporary = open_folder / "i"
    with running(temporary) as process:
        server = its_server(process, temporary)
        process.send_signal(signal.SIGINT)
        left = ended(process, temporary).left
    assert (left, server.alive()) == ([], False)


@pytest.mark.slow
def test_the_next_one_cleans_up_after_one_that_was_killed(open_folder: Path) -> None:
    temporary = open_folder / "k"
    with running(temporary) as process:
        server = its_server(process, temporary)
        process.kill()
        ended(process, temporary)
    sweep(temporary, lambda _: None, now=time.time() + 2 * OLD)
    assert (list(temporary.iterdir()), server.alive()) == ([], False)


def test_a_home_that_was_just_made_is_left_alone(tmp_path: Path) -> None:
    home = tmp_path / f"{PREFIX}new"
    home.mkdir()
    sweep(tmp_path, lambda _: None, now=time.time())
    assert home.is_dir()


def test_a_home_that_somebody_holds_is_left_alone(tmp_path: Path) -> None:
    home = tmp_path / f"{PREFIX}held"
    home.mkdir()
    with only_one(home):
        sweep(tmp_path, lambda _: None, now=time.time() + 2 * OLD)
    assert home.is_dir()
