"""Databases for tests, made ahead: to copy one takes longer than many a test, and is done while the one before runs."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg import sql


@dataclass(slots=True)
class Stock:
    """Copies of one template, of which there is always one more than was asked for."""

    server: str
    template: str
    _clerk: ThreadPoolExecutor
    _next: Future[str]
    _drops: list[Future[None]] = field(default_factory=list)

    def take(self) -> str:
        """The name of a database that nobody has had."""
        name = self._next.result()
        self._next = self._clerk.submit(create, self.server, self.template)
        return name

    def give_back(self, name: str) -> None:
        """It is dropped meanwhile."""
        self._drops.append(self._clerk.submit(drop, self.server, name))

    def close(self) -> None:
        """Nothing is left.  Raises what a drop raised."""
        self.give_back(self._next.result())
        for each in self._drops:
            each.result()


@contextmanager
def stock(server: str, template: str) -> Iterator[Stock]:
    """`server`: an address whose role may make databases.  Nobody may be connected to the template meanwhile."""
    with ThreadPoolExecutor(1, thread_name_prefix="databases") as clerk:
        made = Stock(server, template, clerk, clerk.submit(create, server, template))
        yield made
        made.close()


def create(server: str, template: str) -> str:
    """A database with a random name, which is returned."""
    name = f"test_{secrets.token_hex(8)}"
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(statement)
    return name


def drop(server: str, name: str) -> None:
    """By force, because processes that a test killed may have left their connections."""
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def with_database(url: str, name: str) -> str:
    """Put another database into an address.  (urllib drops the slashes of an address without a host.)"""
    address, mark, options = url.partition("?")
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/{name}{mark}{options}"
