"""One database for a module, since making one takes longer than most tests; and one day at the desk for all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from intake.db import Conn
from tests.conftest import fresh_database
from tests.desk_lab import DeskLab, desk_lab
from tests.desk_scenes import Day, day
from tests.lab import Lab, lab

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


@dataclass(frozen=True, slots=True)
class Scene:
    """A pipeline with a morning's events, and the desk beside it.  Who changes an event makes one of their own."""

    lab: Lab
    desk: DeskLab
    day: Day


@pytest.fixture(scope="session")
def scene(postgres_server: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Made once; its operators are named after their roles."""
    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        lab(url, tmp_path_factory.mktemp("scene")) as made,
    ):
        yield Scene(made, desk_lab(made.pool, made.settings), day(made))
