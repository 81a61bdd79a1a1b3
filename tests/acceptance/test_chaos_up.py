"""`intake up` killed as a whole under a stream of deliveries, while its workers have some in hand."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.plant import WITHIN, Plant, plant

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def servers() -> Iterator[Plant]:
    """Servers and CRM that outlive `up`; it brings the door, two workers and the clock."""
    with plant() as made:
        yield made


@contextmanager
def up(servers: Plant) -> Iterator[subprocess.Popen[bytes]]:
    """`intake up` on these servers, in a home that is the same each time."""
    (row,) = servers.rows("SELECT installation_id FROM installation")
    home = servers.supervisor.home / "up"
    own = {"INTAKE_HOME": str(home), "INTAKE_INSTALLATION": str(row["installation_id"]), "INTAKE_WORKERS": "2"}
    command = [sys.executable, "-P", "-m", "workers.main", "up"]
    with subprocess.Popen(command, env={**servers.environ, **own}, stdout=subprocess.DEVNULL) as process:
        try:
            servers.until(servers.answers, "the door answers")
            yield process
        finally:
            process.terminate()
            process.wait(WITHIN)


def test_the_next_up_goes_on_where_a_killed_one_was(servers: Plant) -> None:
    """The workers of the first end what they have in hand while those of the second take the rest."""
    servers.dials.fault("slow", match={"what": "create", "kind": "task"}, times=None, seconds=0.5)
    with up(servers) as first, ExitStack() as later:
        with servers.stream("killed-up") as sender:
            servers.until(lambda: len(sender.accepted) >= 8, "some are accepted")
            servers.until(lambda: servers.states(sender.accepted)["delivering"], "some are in hand")
            first.send_signal(signal.SIGKILL)
            first.wait(WITHIN)
            later.enter_context(up(servers))
            servers.dials.no_faults()
        servers.settle(sender.accepted)
    assert servers.in_crm("killed-up") == sender.expected
    assert servers.dials.doubles() == []
    assert servers.rows("SELECT kind, reason FROM items WHERE closed_at IS NULL") == []
