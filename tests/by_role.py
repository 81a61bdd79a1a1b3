"""A lab whose door, workers and commands connect as the roles that each of them needs, and not as the owner."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import psycopg
from psycopg import sql

from intake import database_roles
from intake.app import build
from intake.db import open_pool
from tests import unhurried
from tests.lab import Lab

USER = re.compile(r"(?<=://)([^/@]*@)?")


@dataclass(frozen=True, slots=True)
class Users:
    """Who may log in as what; `of` gives the address of a database for each role."""

    names: Mapping[str, str]
    password: str

    def of(self, role: str, database_url: str) -> str:
        return USER.sub(f"{self.names[role]}:{self.password}@", database_url, count=1)


@contextmanager
def users(database_url: str) -> Iterator[Users]:
    """The database is given to the roles, and each has a member with a random name."""
    database_roles.grant(database_url)
    made = Users({role: f"{role}_{secrets.token_hex(4)}" for role in database_roles.ROLES}, secrets.token_hex(16))
    with psycopg.connect(database_url, autocommit=True) as conn:
        for role, name in made.names.items():
            login = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {} IN ROLE {}")
            conn.execute(login.format(sql.Identifier(name), sql.Literal(made.password), sql.Identifier(role)))
    try:
        yield made
    finally:
        with psycopg.connect(database_url, autocommit=True) as conn:
            for name in made.names.values():
                conn.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@contextmanager
def apart(lab: Lab) -> Iterator[tuple[Lab, Users]]:
    """The same lab; only the test itself, and what moves its time, still connect as the owner."""
    with users(lab.database_url) as made:
        worker = open_pool(made.of("intake_worker", lab.database_url), size=12)
        door = unhurried.door_pool(made.of("intake_door", lab.database_url), size=12)
        try:
            app = build(unhurried.door(lab.settings, door), hint=lambda: lab.hints.append("hint"))
            yield replace(lab, pool=worker, door=app.test_client(), desk=lab.other_desk(pool=worker)), made
        finally:
            worker.close()
            door.close()
