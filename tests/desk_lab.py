"""The desk of a lab: the console and the API beside the real pipeline, with operators of each role."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from intake.config import Settings
from intake.db import Pool
from intake.desk import operators, sessions, tokens
from intake.desk.operators import Secret
from intake.desk.passwords import Passwords
from intake.desk.roles import ROLES, SCOPES, Role, Scope
from intake.desk.serving import create
from intake.desk.tools import Tools

# Of tests alone: as quick as Argon2 can be.
HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
QUICK = Passwords(HASHER, HASHER.hash("nobody"))
PASSWORD = "veintisiete tazas"

CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a browser that is signed in."""

    client: FlaskClient
    form_token: str

    def get(self, path: str) -> TestResponse:
        """A page."""
        return self.client.get(path)

    def page(self, path: str) -> str:
        """A page that is there."""
        answer = self.client.get(path)
        assert answer.status_code == 200, f"{path}: {answer.status_code}"
        return answer.get_data(as_text=True)

    def post(self, path: str, **fields: str) -> TestResponse:
        """A form of ours."""
        return self.client.post(path, data={"csrf": self.form_token, **fields})


@dataclass(frozen=True, slots=True)
class DeskLab:
    """One operator of each role, named after it, with the password PASSWORD."""

    app: Flask
    pool: Pool

    def stranger(self) -> FlaskClient:
        """A browser that is not signed in."""
        return self.app.test_client()

    def person(self, role: Role, *, language: str = "es") -> Person:
        """Signed in, without the form."""
        with self.pool.connection() as conn:
            operator = operators.find(conn, role)
            assert operator is not None
            operators.speak(conn, role, "en" if language == "en" else "es")
            begun = sessions.begin(conn, operator)
        client = self.app.test_client()
        client.set_cookie("intake", begun.token)
        return Person(client, begun.form_token)

    def token(self, role: Role, *scopes: Scope) -> dict[str, str]:
        """The headers of a program that acts for an operator."""
        with self.pool.connection() as conn:
            secret = tokens.add(conn, role, "test", list(scopes or SCOPES), timedelta(days=1))
        return {"Authorization": f"Bearer {secret}"}


def desk_lab(pool: Pool, settings: Settings) -> DeskLab:
    """Beside a pipeline, or a bare database."""
    with pool.connection() as conn:
        for role in ROLES:
            if operators.find(conn, role) is None:
                operators.add(conn, QUICK, role, role, Secret(PASSWORD, must_change=False))
    tools = Tools(settings, pool, hint=lambda: None, passwords=QUICK)
    return DeskLab(create(tools), pool)


def form_token(page: str) -> str:
    """What the first form of a page carries."""
    found = CSRF.search(page)
    assert found is not None, "no form"
    return found[1]
