"""A whole installation of real processes, for tests that kill them.

PostgreSQL, Valkey, the sandbox CRM, gunicorn, workers and the clock run under the supervisor of `intake up`; the
workers are the tests' own (tests/stopping_worker.py), whose leases last for seconds.  The supervisor is asked whenever
a test waits for something, so that what was killed comes back while the test waits, and not before.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import psycopg

from crm_clients.sandbox.dials import Dials
from intake import installation, queue
from intake.config import Process, load
from intake.db import migrate
from intake.embedded import start_postgres, start_valkey
from intake.sources import PROVIDERS
from tests.lab import CONFIG, ENVIRON, SOURCES
from tests.ports import free_port
from tests.senders import Sender, stream
from workers import checks, wiring
from workers.prove.chaos.letters import Json
from workers.prove.chaos.works import WITHIN, Works
from workers.supervisor import Program, Supervisor

__all__ = ["CHECKOUT", "WITHIN", "Json", "Plant", "hurry", "plant"]

CHECKOUT = Path(__file__).parents[1]

# The sandbox executes what it got within this, in seconds, and says so.
LIMIT = 1.0
# How often the long waits of the system are cut short while a test waits for it to settle, in seconds.
HURRY_EVERY = 1.0

# Only due times move, and none that a proof of absence counts from: what the system would do later it does now.
HURRY = """
    UPDATE records SET look_at = clock_timestamp()
     WHERE look_at > clock_timestamp() + interval '2 s' AND state IN ('asked', 'in_doubt')
       AND asked_until < clock_timestamp();
    UPDATE accounts SET control_at = clock_timestamp() WHERE control_at > clock_timestamp() + interval '1 s';
    UPDATE deliveries SET due_at = clock_timestamp()
     WHERE state = 'waiting' AND due_at > clock_timestamp() + interval '1 s';
"""


# Superseded, though no newer version stands in its place.
LOST_TO_NOTHING = """
    SELECT event_id FROM deliveries d
     WHERE event_id = ANY(%(events)s) AND state = 'superseded'
       AND NOT EXISTS (SELECT FROM deliveries newer
                        WHERE newer.need_id = d.need_id AND newer.position > d.position AND newer.state = 'confirmed')
"""


@dataclass(slots=True)
class Plant(Works):
    """The processes of a test's own installation.  `blocks` gives numbers of persons whom nobody else has."""

    blocks: Iterator[int] = field(default_factory=lambda: itertools.count(1, 50_000))

    # --- processes ---

    def start(self, *names: str) -> None:
        """Start these programs: web, clock, worker-1 (of the tests), ordinary-1 (the product's own)..."""
        for name in names:
            self.supervisor.run(Program(name, self.command(name), self.environ, 30.0))

    def command(self, name: str) -> tuple[str, ...]:
        python = (sys.executable, "-P")
        match name.partition("-")[0]:
            case "web":
                return (*python, "-m", "gunicorn", "--config", "python:intake.gunicorn_conf", "intake.app:create_app()")
            case "clock":
                return (*python, "-m", "workers.main", "clock")
            case "ordinary":
                return (*python, "-m", "workers.main", "worker")
            case "worker":
                return (sys.executable, "-m", "tests.stopping_worker")
            case _:
                crm = ("-m", "crm_clients.sandbox", "--port", self.dials.url.rpartition(":")[2], "--limit", str(LIMIT))
                return (*python, *crm, "--data", str(self.supervisor.home / "crm.sqlite"))

    def stop(self, *names: str) -> None:
        """Ask these programs to end, and wait for them."""
        self.supervisor.stop(names)

    def hint(self) -> bool:
        with queue.connect(self.environ["REDIS_URL"]) as client:
            return queue.hint(client, at_most=1)

    # --- waiting ---

    def settle(self, events: list[UUID]) -> None:
        """Wait until these are all confirmed, or superseded by a newer version of their quote, as may be after a doubt.

        Waits that are long by design are cut short.
        """
        hurried = time.monotonic()

        def settled() -> bool:
            nonlocal hurried
            if time.monotonic() - hurried > HURRY_EVERY:
                hurry(self)
                hurried = time.monotonic()
            states = self.states(events)
            return states["confirmed"] + states["superseded"] == len(set(events))

        self.until(settled, "all confirmed")
        assert self.rows(LOST_TO_NOTHING, events=events) == []

    # --- sending ---

    def sender(self) -> Sender:
        return Sender(self.settings, self.url)

    @contextmanager
    def stream(self, tag: str, *, senders: int = 4, pause: float = 0.25) -> Iterator[Sender]:
        """Senders that send for as long as the block lasts, and then until all they began is acknowledged."""
        sender = self.sender()
        running = stream(sender, tag, next(self.blocks), count=senders, pause=pause)
        running.start()
        try:
            yield sender
        finally:
            self.until(running.ended, "the senders are rid of everything")
        assert not running.failures, running.failures

    # --- reading ---

    def states(self, events: list[UUID]) -> Counter[str]:
        """How many of these events are in which state."""
        rows = self.rows("SELECT state FROM deliveries WHERE event_id = ANY(%(events)s)", events=events)
        return Counter(str(row["state"]) for row in rows)

    def in_crm(self, tag: str) -> Counter[str]:
        """How many records of each kind stand in the CRM for the persons of a tag, and how many of their messages.

        Messages are counted by their words: several may share an opportunity's text or a note.
        """
        records = [each for each in self.dials.records() if each["live"]]
        contacts = {each["id"] for each in records if str(each.get("name")).startswith(f"{tag} ")}
        opportunities = [each for each in records if each.get("contact_id") in contacts]
        ids = {each["id"] for each in opportunities}
        below = [each for each in records if each.get("opportunity_id") in ids]
        texts = " ".join(str(each.get("text")) for each in (*opportunities, *below))
        return Counter(
            contact=len(contacts),
            opportunity=len(ids),
            task=sum(each["kind"] == "task" for each in below),
            message=len(re.findall(rf"Mensaje {re.escape(tag)}/", texts)),
        )


def hurry(works: Works) -> None:
    """Cut the long waits of an installation short, once."""
    with psycopg.connect(works.environ["DATABASE_URL"], autocommit=True) as conn:
        conn.execute(HURRY)


@contextmanager
def plant(*names: str) -> Iterator[Plant]:
    """PostgreSQL, Valkey and the sandbox CRM with its sentinels, and these programs."""
    home = Path(tempfile.mkdtemp(prefix="lead-intake-"))
    home.chmod(0o711)
    supervisor = Supervisor(home, lambda _said: None)
    try:
        made = _built(supervisor, home)
        made.start(*names)
        if "web" in names:
            made.until(made.answers, "the door answers")
        yield made
    except BaseException:
        _show_logs(home)
        raise
    finally:
        supervisor.kill()
        supervisor.stop_servers()
        shutil.rmtree(home)


def _built(supervisor: Supervisor, home: Path) -> Plant:
    web, crm = free_port(), free_port()
    url = f"http://127.0.0.1:{crm}"
    config = home / "intake.toml"
    config.write_text(CONFIG.format(url=url, profile="stored", limit=LIMIT, lag="") + SOURCES, "utf-8")
    environ = {
        **{name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}},
        **ENVIRON,
        "PYTHONPATH": str(CHECKOUT),
        "DATABASE_URL": supervisor.keep("PostgreSQL", lambda: start_postgres(home)).url,
        "REDIS_URL": supervisor.keep("Valkey", lambda: start_valkey(home)).url,
        "INTAKE_HOME": str(home),
        "INTAKE_CONFIG": str(config),
        "INTAKE_THREADS": "4",
        "PORT": str(web),
    }
    migrate(environ["DATABASE_URL"])
    _pin(environ)
    made = Plant(supervisor, environ, load(config, environ, built_in=PROVIDERS.keys()), Dials(url))
    made.start("crm")
    made.until(lambda: made.dials.records() == [], "the CRM answers")
    _create_sentinels(made)
    return made


def _pin(environ: Mapping[str, str]) -> None:
    """This host delivers for this database."""
    with psycopg.connect(environ["DATABASE_URL"], autocommit=True) as conn:
        installation.overwrite(installation.read(conn), installation.mark_file(Process.from_environ(environ)))


def _create_sentinels(made: Plant) -> None:
    desk = wiring.desk_of(Process.from_environ(made.environ), made.settings, made.environ)
    try:
        for name in ("crm", "playground"):
            assert all(finding.ok for finding in checks.check(desk, desk.wired[name], create=True))
    finally:
        desk.pool.close()
        desk.transport.close()


def _show_logs(home: Path) -> None:
    """What the processes said last, for whoever reads the failure."""
    for log in sorted((home / "log").glob("*.log")):
        sys.stdout.write(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}\n")
