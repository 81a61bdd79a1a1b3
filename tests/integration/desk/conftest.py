"""One database for all tests of a module: making one takes longer than most of them."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from intake.db import Conn
from tests.conftest import fresh_database

EMPTY = "TRUNCATE operators, operator_sessions, login_failures, api_tokens, api_calls, access_log CASCADE"


@pytest.fixture(scope="module")
def shared_url(postgres_server: str, migrated_template: str) -> Iterator[str]:
    """The address of a migrated database."""
    with fresh_database(postgres_server, template=migrated_template) as (_, url):
        yield url


@pytest.fixture
def desk_url(shared_url: str) -> str:
    """The same, without operators."""
    with psycopg.connect(shared_url, autocommit=True) as conn:
        conn.execute(EMPTY)
    return shared_url


@pytest.fixture
def bare(desk_url: str) -> Iterator[Conn]:
    """A connection to it."""
    with psycopg.connect(desk_url, autocommit=True) as conn:
        yield conn
