"""A worker whose configuration has a CRM that nobody can speak to works for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import structlog

from tests.commands import beside
from tests.lab import Lab, lab
from workers import process
from workers.drain import drain

OTHER = '\n[[destinations]]\nname = "other"\nclient = "{client}"\n{rest}\n'
WITHOUT_ADDRESS = OTHER.format(client="hubspot", rest="")
BAD_OPTION = OTHER.format(client="hubspot", rest='base_url = "https://crm.example.com"\noptions = { portl = "1" }')
BAD_CREDENTIAL = OTHER.format(
    client="bitrix24",
    rest='base_url = "https://crm.example.com"\noptions = { user = "1" }\ncredential = "env:WEB_SECRET"',
)


@pytest.fixture
def made(database_url: str, tmp_path: Path) -> Iterator[Lab]:
    with lab(database_url, tmp_path) as one:
        yield one


@pytest.fixture
def worker_with(made: Lab, tmp_path: Path) -> Callable[[str], process.WorkerProcess]:
    def worker(more: str) -> process.WorkerProcess:
        environ = beside(made, tmp_path)
        file = tmp_path / "intake.toml"
        file.write_text(file.read_text() + more)
        return process.from_environ(environ)

    return worker


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (WITHOUT_ADDRESS, "base_url is missing"),
        (BAD_OPTION, "portl is no option"),
        (BAD_CREDENTIAL, "the credential of"),
    ],
    ids=["no address", "unknown option", "malformed credential"],
)
def test_a_crm_that_cannot_be_used_is_told_and_holds_no_other_up(
    made: Lab, worker_with: Callable[[str], process.WorkerProcess], more: str, why: str
) -> None:
    event = made.form()
    with structlog.testing.capture_logs() as logs:
        worker = worker_with(more)
    with closing(worker.desk.pool), worker.desk.transport:
        drain(worker.desk, threads=1)
    told = [(str(each["destination"]), str(each["why"])) for each in logs if each["log_level"] == "error"]
    assert [(name, text.startswith(why)) for name, text in told] == [("other", True)]
    assert made.state(event) == "confirmed"
