"""The line between workers and CRM, whole and cut; and the other things that a proof with real processes breaks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from crm_clients.sandbox.dials import Dials
from crm_clients.sandbox.server import Running, running
from tests.running import until
from workers.prove.chaos.line import Line, line_to
from workers.prove.chaos.skewed import NAME, NoSkew, skew
from workers.supervisor import Program


@dataclass(frozen=True, slots=True)
class Lined:
    """A sandbox CRM behind a line."""

    crm: Running
    line: Line

    @property
    def dials(self) -> Dials:
        return Dials(self.crm.url)

    def create(self, name: str) -> int:
        """The status of the answer.  Raises requests.ConnectionError."""
        headers = {"Authorization": f"Bearer {self.crm.token}"}
        return requests.post(
            f"{self.line.url}/api/contacts", json={"name": name}, headers=headers, timeout=20
        ).status_code


@pytest.fixture
def lined() -> Iterator[Lined]:
    with running() as crm, line_to(crm.port) as line:
        yield Lined(crm, line)


def test_a_whole_line_hands_requests_and_answers_on(lined: Lined) -> None:
    assert lined.create("Rosa") == 201


def test_what_is_under_way_when_the_line_is_cut_is_executed_and_not_answered(lined: Lined) -> None:
    lined.dials.fault("late", match={"what": "create"})
    with ThreadPoolExecutor(1) as sender:
        answer = sender.submit(lined.create, "Rosa")
        assert until(lined.dials.held)
        lined.line.cut()
        with pytest.raises(requests.ConnectionError):
            answer.result(20)
    lined.dials.release_late()
    assert [each["name"] for each in lined.dials.records()] == ["Rosa"]


def test_nobody_gets_through_a_broken_line_until_it_is_mended(lined: Lined) -> None:
    lined.line.broken.set()
    with pytest.raises(requests.ConnectionError):
        lined.create("Rosa")
    lined.line.broken.clear()
    assert lined.create("Rosa") == 201


# --- a clock that jumps -----------------------------------------------------------------------------------------------


def test_where_the_library_is_missing_no_clock_jumps(tmp_path: Path) -> None:
    with pytest.raises(NoSkew):
        skew(tmp_path / "faketime", tmp_path)


def test_a_clock_is_an_hour_ahead_for_a_while(tmp_path: Path) -> None:
    library = tmp_path / "usr/lib/x86_64-linux-gnu/faketime" / NAME
    library.parent.mkdir(parents=True)
    library.touch()
    made = skew(tmp_path / "faketime", tmp_path)
    file = Path(made.of(Program("worker-2", ("true",), {})).environ["FAKETIME_TIMESTAMP_FILE"])
    before = file.read_text()
    with made.ahead():
        meanwhile = file.read_text()
    assert (before, meanwhile, file.read_text()) == ("+0", "+3600", "+0")
