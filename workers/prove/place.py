"""The database that a proof needs: an embedded PostgreSQL of its own, or an empty one that somebody made for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from intake.db import migrate
from intake.embedded import start_postgres
from workers import up
from workers.demo.home import temporary_home
from workers.supervisor import Say

# The mark of a database that a proof may use again: everything in it was made by one.
MARK = "CREATE TABLE IF NOT EXISTS made_by_prove ()"
IS_MARKED = "SELECT to_regclass('public.made_by_prove') IS NOT NULL"
IS_EMPTY = "SELECT NOT EXISTS (SELECT FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace)"


class NotEmpty(RuntimeError):
    """The database holds something that a proof would destroy."""


@contextmanager
def databases(given: str | None, jobs: int, say: Say) -> Iterator[list[str]]:
    """The addresses of as many databases as there are jobs.  `given`: the one to use, None: an embedded server.

    Raises NotEmpty, EmbeddedError, CannotStart, psycopg.Error, OSError.
    """
    if given is not None:
        prepare(given)
        yield [given]
        return
    # Nothing in it is kept, so that nothing needs to reach the disk.
    with temporary_home(say) as home, up.only_one(home), start_postgres(home, fsync=False) as server:
        made = [_create(server.url, f"prove{number}") for number in range(jobs)]
        for each in made:
            prepare(each)
        yield made


def prepare(url: str) -> None:
    """Bring our tables into an empty database, or into one of an earlier proof.  Raises NotEmpty, psycopg.Error."""
    with psycopg.connect(url, autocommit=True) as conn:
        if not (_says(conn, IS_MARKED) or _says(conn, IS_EMPTY)):
            raise NotEmpty(
                "the database of DATABASE_URL is not empty: make one for the proof, which deletes what is in it"
            )
        conn.execute(MARK)
    migrate(url)


def _says(conn: psycopg.Connection[tuple[object, ...]], query: str) -> bool:
    row = conn.execute(query).fetchone()
    return bool(row and row[0])


def _create(url: str, name: str) -> str:
    with psycopg.connect(url, dbname="postgres", autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    before, mark, after = url.partition("/intake?")
    return f"{before}/{name}?{after}" if mark else url
