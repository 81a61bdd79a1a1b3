"""What a command works with: process settings, configuration, a connection.  Each is made when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import tzinfo

import click
import psycopg

from intake import at_rest, heartbeats
from intake.cli.group import Misconfigured
from intake.config import ConfigError, Process, Settings, load
from intake.db import Conn, connect
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


# Of one call of a command: what `--lang` says, and the zone, so that a long table reads the configuration once.
LANGUAGE = "intake.language"
ZONE = "intake.zone"


def language() -> Language:
    """What `--lang` says, else the configuration's.  Raises ConfigError."""
    context = click.get_current_context(silent=True)
    chosen = context.meta.get(LANGUAGE) if context else None
    return "en" if (chosen or settings().language) == "en" else "es"


def timezone() -> tzinfo | None:
    """The installation's, as in the console; None, this host's own, where the configuration cannot be read."""
    context = click.get_current_context(silent=True)
    if context is not None and ZONE in context.meta:
        known: tzinfo | None = context.meta[ZONE]
        return known
    try:
        found = settings(may_be_sourceless=True).timezone
    except ConfigError:
        found = None
    if context is not None:
        context.meta[ZONE] = found
    return found


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
        with connection(agreeing=False) as conn:
            return heartbeats.lacking(conn)
    except (psycopg.Error, Misconfigured):
        return {}


@contextmanager
def connection(*, agreeing: bool = True) -> Iterator[Conn]:
    """One autocommit connection.  `agreeing` False: also where contents are sealed with a key that this shell lacks.

    Raises ConfigError, psycopg.Error.
    """
    environ = environment()
    payloads = at_rest.from_environ(environ)
    with connect(database_url(), payloads=payloads, agreeing=agreeing, environ=environ) as conn:
        yield conn
