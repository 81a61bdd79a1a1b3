"""Anything in any order, and in the middle of it the database is brought back to an earlier copy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg
from hypothesis.stateful import precondition, rule
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from intake.app import build
from intake.db import open_pool
from tests import unhurried
from tests.conftest import fresh_database
from tests.simulation.anything import Anything
from tests.simulation.crew import Crew
from tests.simulation.test_restore import tell_restored
from workers.prove.commits import telling
from workers.prove.named_commits import named


class Restored(Anything):
    """`server`: where the databases are.  `copies`: what drops the copies in the end."""

    def __init__(self, crew: Crew, run: int, server: str, copies: ExitStack) -> None:
        super().__init__(crew, run)
        self.server = server
        self.copies = copies
        self.copy: str | None = None

    @precondition(lambda self: self.copy is None)
    @rule()
    def a_copy_is_taken(self) -> None:
        name = str(conninfo_to_dict(self.lab.database_url)["dbname"])
        with self._shut(name):
            _, self.copy = self.copies.enter_context(fresh_database(self.server, template=name))
        self.lab.pool.check()

    @precondition(lambda self: self.copy is not None)
    @rule()
    def the_copy_takes_its_place(self) -> None:
        """The senders send everything once more, in its order; what people had decided since is forgotten."""
        assert self.copy is not None
        self.lab.database_url, self.copy = self.copy, None
        self.lab.pool = open_pool(self.lab.database_url, size=12, connection_class=telling(named))
        door_pool = unhurried.door_pool(self.lab.database_url, size=4)
        self.copies.callback(self.lab.pool.close)
        self.copies.callback(door_pool.close)
        self.lab.door = build(unhurried.door(self.lab.settings, door_pool), hint=lambda: None).test_client()
        self.lab.desk = self.lab.other_desk(pool=self.lab.pool)
        tell_restored(self.lab)
        for sending in self.sent:
            assert self.accepted.issuperset(sending())

    @contextmanager
    def _shut(self, database: str) -> Iterator[None]:
        """A template must have no other visitors, and a pool comes back as soon as it is sent away."""
        name = sql.Identifier(database)
        with psycopg.connect(self.server, autocommit=True) as conn:
            conn.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
            conn.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", [database])
            try:
                yield
            finally:
                conn.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))
