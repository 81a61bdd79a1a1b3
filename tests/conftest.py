"""A real PostgreSQL and a real Valkey for the tests that ask for them, and an empty database for each test.

TEST_DATABASE_URL names a server to use instead of the embedded one; its role must be allowed to make databases.
Databases get random names, and only those that were made here are dropped.
TEST_REDIS_URL names a Redis to use instead of the embedded Valkey: one for tests alone, because they empty it.
"""

import fcntl
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from hypothesis import HealthCheck, settings

from intake.db import migrate
from intake.embedded import start_postgres, start_valkey
from tests.databases import Stock, create, drop, stock, with_database

# Redis and Valkey have 16 databases; 0 is left to tests that do not ask for one of their own.
REDIS_NUMBERS = itertools.cycle(range(1, 16))

# How long an example takes says how busy the machine is, and nothing of the code.
settings.register_profile("patient", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def one_at_a_crm(request: pytest.FixtureRequest) -> Iterator[None]:
    """There is one server of each CRM, and its tests change what stands there: in one process at a time."""
    if request.node.get_closest_marker("crm_servers") is None:
        yield
        return
    with (Path(tempfile.gettempdir()) / f"intake-crm-servers-{os.geteuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def server_home() -> Iterator[Path]:
    """A short folder that an unprivileged user may pass through (pytest's own are closed to all but root)."""
    home = Path(tempfile.mkdtemp(prefix="lead-intake-"))
    home.chmod(0o711)
    yield home
    shutil.rmtree(home)


@pytest.fixture(scope="session")
def postgres_server(server_home: Path) -> Iterator[str]:
    """The address of a PostgreSQL, at a database in which no test may leave anything."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield given
        return
    with start_postgres(server_home, fsync=False) as server:
        yield server.url


@pytest.fixture(scope="session")
def valkey_server(server_home: Path) -> Iterator[str]:
    """The address of database 0 of a Valkey, or of a Redis."""
    given = os.environ.get("TEST_REDIS_URL")
    if given:
        with redis.Redis.from_url(given, db=0) as client:
            client.flushall()
        yield f"{given.partition('?')[0].rstrip('/')}?db=0"
        return
    with start_valkey(server_home) as server:
        yield server.url


@pytest.fixture(scope="session")
def migrated_template(postgres_server: str) -> Iterator[str]:
    """The name of a database with the whole schema and no rows.  A copy takes less time than the migrations."""
    with fresh_database(postgres_server) as (name, url):
        migrate(url)
        yield name


@pytest.fixture(scope="session")
def databases(postgres_server: str, migrated_template: str) -> Iterator[Stock]:
    """Copies of the template."""
    with stock(postgres_server, migrated_template) as made:
        yield made


@pytest.fixture
def database_url(postgres_server: str, databases: Stock) -> Iterator[str]:
    """The address of an empty, migrated database of the test's own."""
    name = databases.take()
    yield with_database(postgres_server, name)
    databases.give_back(name)


@pytest.fixture
def empty_database_url(postgres_server: str) -> Iterator[str]:
    """The address of a database without any schema, for tests of the migrations themselves."""
    with fresh_database(postgres_server) as (_, url):
        yield url


@pytest.fixture
def redis_url(valkey_server: str) -> Iterator[str]:
    """The address of an empty Redis database of the test's own."""
    url = f"{valkey_server.partition('?')[0]}?db={next(REDIS_NUMBERS)}"
    with redis.Redis.from_url(url) as client:
        client.flushdb()
        yield url
        client.flushdb()


@contextmanager
def fresh_database(server: str, template: str = "template1") -> Iterator[tuple[str, str]]:
    """Make a database with a random name, and drop that one.  Yields its name and address."""
    name = create(server, template)
    try:
        yield name, with_database(server, name)
    finally:
        drop(server, name)
