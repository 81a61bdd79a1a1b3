"""Settings of the process, from the environment: where the servers, the state and the configuration file are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from intake.config.errors import ConfigError, Problem

DEMO_CONFIG: Final = Path(__file__).parent.parent / "demo.toml"

POSTGRES: Final = re.compile(r"postgres(ql)?://\S*|[a-z_]+ *= *\S.*")  # a URI, or libpq's "host=... dbname=..."
REDIS: Final = re.compile(r"(rediss?|unix)://\S+")
POOLER: Final = re.compile("transaction")  # read by intake.db
NAME: Final = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
WHOLE_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)

# The nightly reconciliation may ask one question for minutes; the deliveries then still have another connection.
LEAST_CONNECTIONS: Final = 2


@dataclass(frozen=True, slots=True)
class Process:
    """How this process runs.

    `database_url` and `redis_url` None: the embedded servers.  `installation` and `epoch` None: those that stand in
    `intake_home`.  `workers` are processes, `threads` are deliveries at a time in each, and `connections` to PostgreSQL
    are the most that each holds.
    """

    database_url: str | None = field(repr=False)
    redis_url: str | None = field(repr=False)
    intake_home: Path
    port: int
    config: Path
    installation: str | None
    epoch: int | None
    workers: int
    threads: int
    connections: int

    @property
    def is_demo(self) -> bool:
        """Nobody wrote a configuration: the built-in one is used."""
        return self.config == DEMO_CONFIG

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], folder: Path = Path()) -> Process:
        """Read the variables; an empty one counts as unset.  `folder` is the working directory.

        Raises ConfigError, naming every wrong variable and its rule, but no value.
        """
        read = _Reader(environ)
        process = cls(
            database_url=read.text("DATABASE_URL", POSTGRES, "must be a postgresql:// address"),
            redis_url=read.text("REDIS_URL", REDIS, "must be a redis://, rediss:// or unix:// address"),
            intake_home=Path(environ.get("INTAKE_HOME") or folder / "var"),
            port=read.number("PORT", 8080, 1, 65535),
            config=_config(environ, folder),
            installation=read.text("INTAKE_INSTALLATION", NAME, "must be 1 to 64 letters, digits or dashes"),
            epoch=read.optional_number("INTAKE_EPOCH", 1, 999_999_999),
            workers=read.number("INTAKE_WORKERS", 2, 1, 64),
            threads=read.number("INTAKE_THREADS", 8, 1, 256),
            connections=read.number("INTAKE_CONNECTIONS", 8, LEAST_CONNECTIONS, 258),
        )
        read.text("DATABASE_POOLER", POOLER, "must be transaction, or not set")
        if read.problems:
            raise ConfigError("environment", read.problems)
        return process


class _Reader:
    """Reads variables and gathers what is wrong with them."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.problems: list[Problem] = []

    def text(self, name: str, form: re.Pattern[str], rule: str) -> str | None:
        value = self.environ.get(name) or None
        if value is not None and not form.fullmatch(value):
            self.problems.append(Problem(None, name, rule))
        return value

    def number(self, name: str, default: int, least: int, most: int) -> int:
        value = self.optional_number(name, least, most)
        return default if value is None else value

    def optional_number(self, name: str, least: int, most: int) -> int | None:
        value = self.environ.get(name) or None
        if value is None:
            return None
        if not WHOLE_NUMBER.fullmatch(value) or not least <= int(value) <= most:
            self.problems.append(Problem(None, name, f"must be a whole number from {least} to {most}"))
            return None
        return int(value)


def _config(environ: Mapping[str, str], folder: Path) -> Path:
    named = environ.get("INTAKE_CONFIG")
    if named:
        return Path(named)
    own = folder / "intake.toml"
    return own if own.exists() else DEMO_CONFIG
