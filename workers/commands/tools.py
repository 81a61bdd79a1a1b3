"""A worker's desk for one command, and how a long one is told to stop."""

from __future__ import annotations

import signal
import threading
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


@contextmanager
def told_to_stop() -> Iterator[threading.Event]:
    """Set by the first SIGTERM or SIGINT; a second one ends the command as it would without this."""
    told = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def tell(number: int, _frame: object) -> None:
        told.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, tell)
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
