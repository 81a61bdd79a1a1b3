"""The processes of an installation under their supervisor, for whoever kills them.

The supervisor is asked whenever somebody waits for something, so that what was killed comes back while they wait, and
not before.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import psycopg
import redis
import requests
from psycopg.rows import dict_row

from crm_clients.sandbox.dials import Dials
from intake.config import Settings
from intake.processes import Process, find_process
from workers.prove.chaos.letters import Json
from workers.prove.chaos.senders import Sender
from workers.supervisor import Keeper, Supervisor, log_of

# Seconds for what takes a few on an idle machine; only a failure waits so long.
WITHIN = 90.0
LOOK_EVERY = 0.05  # seconds


class Stuck(RuntimeError):
    """Something that had to come did not, in time."""


@dataclass(slots=True)
class Works:
    """`environ` is that of every process."""

    supervisor: Supervisor
    environ: Mapping[str, str]
    settings: Settings
    dials: Dials

    # --- processes ---

    def pid(self, name: str) -> int:
        """The process that runs a program, or one of the servers PostgreSQL and Valkey, now; 0: none does."""
        for keeper in self.supervisor.keepers:
            if keeper.name == name:
                return keeper.server.pid
        child = next(child for child in self.supervisor.children if child.program.name == name)
        return child.process.pid if child.process else 0

    def process(self, name: str) -> Process | None:
        """That process; None if it has just ended."""
        pid = self.pid(name)
        return find_process(pid) if pid else None

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a program a signal; nothing if it has just ended by itself."""
        process = self.process(name)
        if process is not None:
            os.kill(process.pid, number)

    def kill(self, name: str) -> None:
        """End a program without a warning; it is started again while somebody waits for something."""
        self.signal(name, signal.SIGKILL)

    def children(self, name: str) -> list[Process]:
        """The processes that a program has started, as gunicorn its workers."""
        pid = self.pid(name)
        try:
            found = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
        except OSError:
            return []
        return [process for process in map(find_process, map(int, found)) if process is not None]

    @contextmanager
    def away(self, name: str) -> Iterator[None]:
        """While one of the servers PostgreSQL and Valkey is not there; afterwards it is back."""
        with self.kept_away(name, lambda keeper: keeper.server.stop()):
            yield

    @contextmanager
    def kept_away(self, name: str, stop: Callable[[Keeper], object]) -> Iterator[None]:
        """The same; `stop` says how it ends."""
        keeper = next(each for each in self.supervisor.keepers if each.name == name)
        self.supervisor.keepers.remove(keeper)
        try:
            stop(keeper)
            yield
        finally:
            self.supervisor.keepers.append(keeper)
        self.until(lambda: find_process(self.pid(name)), f"{name} is back")

    def log(self, name: str) -> str:
        """What a program has said."""
        return log_of(self.supervisor.home, name).read_text("utf-8", "replace")

    def flush(self) -> None:
        """Make Valkey forget everything.  Nothing if it is away."""
        with redis.Redis.from_url(self.environ["REDIS_URL"], socket_timeout=1.0) as client:
            try:
                client.flushall()
            except redis.RedisError:
                return

    def dial(self, turn: Callable[[Dials], None]) -> None:
        """Turn a dial of the CRM as soon as it answers."""

        def obeyed() -> bool:
            turn(self.dials)
            return True

        self.until(obeyed, "the CRM obeys")

    def answers(self) -> bool:
        """Whether a delivery would be accepted now."""
        answer = requests.get(f"http://127.0.0.1:{self.environ['PORT']}/readyz", timeout=2.0)
        return answer.status_code == HTTPStatus.OK

    # --- waiting ---

    def until(self, condition: Callable[[], object], what: str, *, within: float = WITHIN) -> None:
        """Watch over the processes until it holds; a server that is away makes it not hold.  Raises Stuck."""
        limit = time.monotonic() + within
        while not self._holds(condition):
            if time.monotonic() >= limit:
                raise Stuck(f"{what}: not within {within:g} s ({self.story()})")
            time.sleep(LOOK_EVERY)

    def _holds(self, condition: Callable[[], object]) -> bool:
        self.supervisor.watch()
        try:
            return bool(condition())
        except (psycopg.OperationalError, redis.RedisError, requests.RequestException):
            return False

    def watch_for(self, seconds: float) -> None:
        """Let the senders send for a while."""
        until = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= until, "a while", within=seconds + WITHIN)

    def story(self) -> str:
        """Where the deliveries stand, for a failure's message."""
        try:
            rows = self.rows("SELECT state, reason, count(*) AS n FROM deliveries GROUP BY 1, 2 ORDER BY 1, 2")
        except psycopg.OperationalError as away:
            return type(away).__name__
        return ", ".join(f"{row['n']} {row['state']} {row['reason'] or ''}".strip() for row in rows)

    # --- sending and reading ---

    @property
    def url(self) -> str:
        """Where deliveries go."""
        return f"http://127.0.0.1:{self.environ['PORT']}"

    def sender(self) -> Sender:
        """A new one, that has sent nothing."""
        return Sender(self.settings, self.url)

    def rows(self, query: str, **parameters: object) -> list[Json]:
        """What the database says.  Raises psycopg.OperationalError while it is away."""
        with psycopg.connect(self.environ["DATABASE_URL"], row_factory=dict_row, connect_timeout=3) as conn:
            return conn.execute(query, parameters).fetchall()
