"""What the console and the API work with, and how a view gets hold of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

import redis
from flask import current_app, g

from intake.config import Settings
from intake.db import Conn, Pool
from intake.desk.passwords import Passwords
from intake.rates import Rates

NAME: Final = "intake-desk"

# PostgreSQL's limits for a page, in milliseconds: a person waits, and the thread is the door's.
# Filters are parts of one query that are null where nobody filters, so each plan is made for what is asked;
# compiling one takes longer than running it.
DESK_OPTIONS: Final = (
    "-c statement_timeout=5000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=10000"
    " -c plan_cache_mode=force_custom_plan -c jit=off"
)
CONNECTIONS: Final = 4

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Tools:
    """`hint` wakes a worker.  `counters`: where workers count their calls, None: nowhere.  `now`: aware datetimes."""

    settings: Settings
    pool: Pool
    hint: Callable[[], object]
    passwords: Passwords = field(default_factory=Passwords)
    rates: Rates = field(default_factory=lambda: Rates(monotonic))
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    counters: redis.Redis | None = None

    @property
    def is_secure(self) -> bool:
        """Whether people come by HTTPS: everywhere but on this host itself."""
        address = urlsplit(self.settings.public_base_url)
        return address.scheme == "https" or address.hostname not in LOOPBACK

    @property
    def midnight(self) -> datetime:
        """When today began, where the company is."""
        here = self.now().astimezone(self.settings.timezone)
        return here.replace(hour=0, minute=0, second=0, microsecond=0)


def tools() -> Tools:
    """Those of the application that serves this request."""
    found = current_app.extensions[NAME]
    assert isinstance(found, Tools)  # noqa: S101  # `serving.create` puts them there
    return found


@contextmanager
def connection() -> Iterator[Conn]:
    """The one connection of this request."""
    held: Conn | None = g.get("desk_connection")
    if held is not None:
        yield held
        return
    with tools().pool.connection() as conn:
        g.desk_connection = conn
        try:
            yield conn
        finally:
            g.pop("desk_connection", None)
