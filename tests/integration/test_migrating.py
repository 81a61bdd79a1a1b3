"""Migrations while leads come: they take turns, give way to whoever has a table, and leave nothing half done."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import scalar_row

from intake.db import OlderCode, migrate, sql_folder

FIRST = "CREATE TABLE first_one (id bigint PRIMARY KEY)"
SECOND = "ALTER TABLE first_one ADD COLUMN more text"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "0001_first.sql").write_text(FIRST)
    return tmp_path


def columns(url: str) -> list[str]:
    query = "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'first_one' ORDER BY 1"
    with psycopg.connect(url) as conn, conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(query).fetchall()


def test_each_is_applied_once_though_several_run_at_once(empty_database_url: str) -> None:
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _: migrate(empty_database_url), range(3)))
    names = sorted(path.name for path in (sql_folder() / "migrations").glob("*.sql"))
    assert sorted(name for each in done for name in each) == names


def test_a_table_that_is_in_use_is_waited_for_in_short_turns(empty_database_url: str, folder: Path) -> None:
    migrate(empty_database_url, folder=folder)
    (folder / "0002_second.sql").write_text(SECOND)
    with psycopg.connect(empty_database_url) as reader:
        reader.execute("SELECT * FROM first_one")

        def readers_go_first(seconds: float) -> None:
            assert seconds > 0
            with psycopg.connect(empty_database_url, options="-c statement_timeout=5000") as another:
                another.execute("SELECT * FROM first_one")  # It waits behind nobody.
            reader.rollback()

        assert migrate(empty_database_url, folder=folder, pause=readers_go_first) == ("0002_second.sql",)
    assert columns(empty_database_url) == ["id", "more"]


def test_a_table_that_is_never_free_is_given_up_and_nothing_is_half_done(empty_database_url: str, folder: Path) -> None:
    migrate(empty_database_url, folder=folder)
    (folder / "0002_second.sql").write_text(SECOND)
    with psycopg.connect(empty_database_url) as reader:
        reader.execute("SELECT * FROM first_one")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            migrate(empty_database_url, folder=folder, tries=2, pause=lambda _: None)
    assert columns(empty_database_url) == ["id"]


def test_a_limit_of_the_role_does_not_end_a_migration(empty_database_url: str, folder: Path) -> None:
    (folder / "0001_first.sql").write_text(f"{FIRST}; SELECT pg_sleep(0.3)")
    limited = f"{empty_database_url}{'&' if '?' in empty_database_url else '?'}options=-c%20statement_timeout%3D100"
    assert migrate(limited, folder=folder) == ("0001_first.sql",)


def test_a_database_that_is_ahead_is_refused(empty_database_url: str, folder: Path) -> None:
    (folder / "0002_second.sql").write_text(SECOND)
    migrate(empty_database_url, folder=folder)
    (folder / "0002_second.sql").unlink()
    with pytest.raises(OlderCode):
        migrate(empty_database_url, folder=folder)
