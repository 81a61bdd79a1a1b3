"""The operator of the demonstration: made for it, and gone with it."""

from __future__ import annotations

from dataclasses import dataclass, field

import psycopg

from intake.desk import operators
from intake.desk.operators import Secret
from intake.desk.passwords import Passwords, invent

NAME = "demo"


@dataclass(frozen=True, slots=True)
class Login:
    """With what the console opens."""

    name: str
    password: str = field(repr=False)


def make(database_url: str) -> Login:
    """Somebody who may do everything.  Raises psycopg.Error."""
    made = Login(NAME, invent())
    with psycopg.connect(database_url, autocommit=True) as conn:
        operators.add(conn, Passwords(), made.name, "admin", Secret(made.password, must_change=False))
    return made
