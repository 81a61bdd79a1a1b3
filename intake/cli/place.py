"""What a command works with: process settings, configuration, a connection.  Each is made when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg

from intake import heartbeats
from intake.cli.group import Misconfigured
from intake.config import Process, Settings, load
from intake.db import WORKER_OPTIONS, Conn, prepare_after
from intake.heartbeats import Lacking, ProcessKind
from intake.reason_texts import Language
from intake.sources import PROVIDERS
from intake.surroundings import surroundings

CONNECT_TIMEOUT = 3  # seconds


def environment() -> Mapping[str, str]:
    """The variables, with what a running `intake up` of this home adds."""
    return surroundings(os.environ)


def process() -> Process:
    """Raises ConfigError."""
    return Process.from_environ(environment())


def settings(*, may_be_sourceless: bool = False) -> Settings:
    """Raises ConfigError."""
    return load(process().config, environment(), built_in=PROVIDERS.keys(), may_be_sourceless=may_be_sourceless)


def language() -> Language:
    """The configuration's.  Raises ConfigError."""
    return "en" if settings().language == "en" else "es"


def database_url() -> str:
    """Raises Misconfigured where there is none."""
    url = process().database_url
    if url is None:
        raise Misconfigured(
            f"no database: DATABASE_URL is not set, and no `intake up` runs with its state in {process().intake_home}"
        )
    return url


def told() -> dict[ProcessKind, Lacking]:
    """What the running processes say that they lack; nothing where the database cannot be asked."""
    try:
        with connection() as conn:
            return heartbeats.lacking(conn)
    except (psycopg.Error, Misconfigured):
        return {}


@contextmanager
def connection() -> Iterator[Conn]:
    """One autocommit connection.  Raises psycopg.Error."""
    with psycopg.connect(
        database_url(),
        autocommit=True,
        connect_timeout=CONNECT_TIMEOUT,
        options=WORKER_OPTIONS,
        prepare_threshold=prepare_after(environment()),
    ) as conn:
        yield conn
