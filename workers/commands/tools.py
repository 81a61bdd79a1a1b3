"""A worker's desk for one command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from crm_clients.registry import BadSetting, UnknownClient
from intake.cli import place
from intake.cli.group import Misconfigured
from workers import wiring
from workers.desk import Desk


@contextmanager
def desk() -> Iterator[Desk]:
    """Raises ConfigError, Misconfigured, Mismatch, psycopg.Error."""
    place.database_url()
    try:
        made = wiring.desk_of(place.process(), place.settings(), place.environment())
    except (UnknownClient, BadSetting, ValueError) as wrong:
        raise Misconfigured(str(wrong)) from wrong
    try:
        yield made
    finally:
        made.pool.close()
        made.transport.close()
