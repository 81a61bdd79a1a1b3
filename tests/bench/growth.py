"""The same questions with few and with many stored events, and claims while nothing can be vacuumed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psycopg

from intake import deliveries, ops
from intake.db import Conn, Pool, open_pool
from intake.desk import inbox
from intake.ops import Wanted
from tests.bench.door import HOOKS
from tests.bench.figures import Figures
from tests.bench.fill import fill
from tests.bench.letters import FORM
from tests.bench.load import CannotMeasure, Knock, hammer
from tests.bench.place import Servers, Web, environ, gunicorn, new_database
from tests.bench.sizes import Sizes
from workers import clock

PENDING = 500
# The least of all repeats: what a query takes when nothing else wants the machine.
UNDISTURBED = "ms at least"
LEASE = timedelta(minutes=5)
CRM = ["crm"]


@dataclass(frozen=True, slots=True)
class Grown:
    """A database with so many events, and a door at it."""

    stored: int
    database_url: str
    web: Web


def measure(servers: Servers, sizes: Sizes, figures: Figures) -> None:
    with ExitStack() as stack:
        grown = [_grown(servers, stack, stored) for stored in sizes.stored]
        for _ in range(sizes.rounds):
            for each in grown:
                _door(servers, each, sizes, figures)
        for each in grown:
            _questions(each, sizes, figures)
        _held_back(grown[-1], sizes, figures)
    _ratios(sizes, figures)


def _grown(servers: Servers, stack: ExitStack, stored: int) -> Grown:
    database_url = new_database(servers)
    with _large_log(servers):
        fill(database_url, stored=stored, pending=min(PENDING, stored // 2))
    home = servers.folder / f"grown-{stored}"
    return Grown(stored, database_url, stack.enter_context(gunicorn(environ(servers, database_url, home))))


@contextmanager
def _large_log(servers: Servers) -> Iterator[None]:
    """Few checkpoints meanwhile: what is written is worth nothing before all of it stands."""
    with psycopg.connect(servers.database_url, autocommit=True) as conn:
        conn.execute("ALTER SYSTEM SET max_wal_size = '8GB'")
        conn.execute("SELECT pg_reload_conf()")
        yield
        conn.execute("ALTER SYSTEM RESET max_wal_size")
        conn.execute("SELECT pg_reload_conf()")


def _door(servers: Servers, grown: Grown, sizes: Sizes, figures: Figures) -> None:
    knock = Knock(FORM, HOOKS, sizes.clients[0], sizes.seconds)
    seen = hammer(grown.web, knock, postgres=servers.postgres, folder=servers.folder)
    figures.note(f"door with {grown.stored:,} events", "events/s", seen.rate)


def _questions(grown: Grown, sizes: Sizes, figures: Figures) -> None:
    with open_pool(grown.database_url, size=1) as pool:
        asked: dict[str, Callable[[], object]] = {
            "claim": lambda: _claim_and_forget(pool),
            "clock tick": lambda: clock.tick(pool, name="bench"),
            "events, newest": lambda: _asked(pool, lambda conn: ops.events(conn, Wanted())),
            "events, pending": lambda: _asked(pool, lambda conn: ops.events(conn, Wanted(state="pending"))),
            "inbox, decide": lambda: _asked(pool, lambda conn: _listed(conn, "decide")),
            "inbox, moving": lambda: _asked(pool, lambda conn: _listed(conn, "moving")),
            "inbox, today": lambda: _asked(pool, lambda conn: _listed(conn, "today")),
            "inbox, all": lambda: _asked(pool, lambda conn: _listed(conn, "all")),
        }
        for name, ask in asked.items():
            took = _timed(ask, sizes.repeats)
            figures.note(f"{name} with {grown.stored:,} events", "ms", statistics.median(took) * 1000)
            figures.note(f"{name} with {grown.stored:,} events", UNDISTURBED, min(took) * 1000)


def _asked(pool: Pool, ask: Callable[[Conn], object]) -> None:
    with pool.connection() as conn:
        ask(conn)


def _listed(conn: Conn, which: inbox.List) -> object:
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return inbox.page(conn, which, inbox.Filter(), midnight=midnight)


def _claim_and_forget(pool: Pool) -> None:
    with pool.connection() as conn, conn.transaction(force_rollback=True):
        if deliveries.claim(conn, destinations=CRM, lease=LEASE) is None:
            raise CannotMeasure("nothing is due")


def _timed(ask: Callable[[], object], repeats: int) -> list[float]:
    took = []
    for _ in range(repeats):
        began = time.perf_counter()
        ask()
        took.append(time.perf_counter() - began)
    return took


def _held_back(grown: Grown, sizes: Sizes, figures: Figures) -> None:
    """Claim and give back over and over, while an old snapshot keeps every dead row."""
    with psycopg.connect(grown.database_url) as old, open_pool(grown.database_url, size=1) as pool:
        old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        old.execute("SELECT count(*) FROM installation")
        took = [_claim_and_return(pool) for _ in range(sizes.held_back)]
    tenth = max(1, len(took) // 10)
    name = "claims with vacuum held back"
    figures.note(f"{name}, first", "ms", statistics.median(took[:tenth]) * 1000)
    figures.note(f"{name}, last", "ms", statistics.median(took[-tenth:]) * 1000)
    figures.ratio("claims_held_back", (f"{name}, last", "ms"), (f"{name}, first", "ms"))


def _claim_and_return(pool: Pool) -> float:
    began = time.perf_counter()
    with pool.connection() as conn:
        held = deliveries.claim(conn, destinations=CRM, lease=LEASE)
        took = time.perf_counter() - began
        if held is None:
            raise CannotMeasure("nothing is due")
        deliveries.postpone(conn, held, reason="record_busy", after=timedelta(0))
    return took


def _ratios(sizes: Sizes, figures: Figures) -> None:
    few, many = f"{sizes.stored[0]:,}", f"{sizes.stored[-1]:,}"
    rate = "events/s"
    figures.ratio("growth_door", (f"door with {many} events", rate), (f"door with {few} events", rate))
    for what in ("claim", "clock tick", "inbox, decide", "inbox, moving", "inbox, all"):
        pair = (f"{what} with {many} events", UNDISTURBED), (f"{what} with {few} events", UNDISTURBED)
        figures.ratio(f"growth: {what}", *pair)
