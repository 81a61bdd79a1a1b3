"""The doors of a stage: one that has the database, one that has lost it, and what empties the spool of the latter."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from flask.testing import FlaskClient
from uuid_utils.compat import uuid7

from intake.app import build
from intake.config import Settings
from intake.db import BoundedConnection, Pool, door_options, open_pool
from intake.receive import Door
from intake.sealing import new_key, of_keys
from intake.spool import Spool
from intake.spool_drain import Drainer
from workers.prove.commits import At, TellingSpool, telling

STORE_LIMIT = 30.0  # seconds; a busy machine is no reason to refuse a delivery
AT_ONCE = 0.01  # seconds; the pool of the door that has lost its database refuses by itself
ROOM = 8 * 1024 * 1024  # bytes


@dataclass(slots=True)
class Doors:
    """`there` and `away`: clients of the two doors."""

    there: FlaskClient
    away: FlaskClient
    settings: Settings
    database_url: str
    spool: Spool
    connections: type[BoundedConnection]

    def drain(self) -> None:
        """Let what the spool keeps through the normal accept path; a process that ended begins anew."""
        Drainer(self.spool, self.settings, self.database_url, connections=self.connections).drain()

    def clean(self) -> None:
        """The spool is as it was at first."""
        shutil.rmtree(self.spool.folder)
        self.spool.folder.mkdir()


@contextmanager
def doors(settings: Settings, database_url: str, folder: Path, at: At) -> Iterator[Doors]:
    """`at` is told of every commit of both, and of the spool's."""
    connections = telling(at)
    options = door_options(STORE_LIMIT)
    pool = open_pool(database_url, size=4, options=options, connection_class=connections)
    gone = open_pool(database_url, size=1)
    gone.close()
    (folder / "spool").mkdir()
    spool = TellingSpool(folder / "spool", of_keys([new_key()]), ROOM, at=at)
    there = _door(settings, pool, None, STORE_LIMIT, at)
    away = _door(settings, gone, spool, AT_ONCE, at)
    try:
        yield Doors(there, away, settings, database_url, spool, connections)
    finally:
        pool.close()


def _door(settings: Settings, pool: Pool, spool: Spool | None, patience: float, at: At) -> FlaskClient:
    door = Door(settings, pool, now=lambda: datetime.now(UTC), new_id=uuid7, spool=spool, patience=patience)
    return build(door, hint=lambda: at("door.hint")).test_client()
