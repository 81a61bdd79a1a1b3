"""What a command shows to a person, on record; a program's reading (--json) is nobody's look."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from uuid import UUID

from psycopg.errors import InternalError, ProgrammingError

from intake import opened, shown
from intake.cli import place
from intake.db import Conn
from intake.worklist import ItemRow


def shows_event(conn: Conn, event_id: UUID) -> None:
    """Before an event is shown."""
    _note(lambda: shown.event(conn, event_id, operator=_operator()))


def shows_item(conn: Conn, item_id: int) -> None:
    """Before an open item is shown."""
    _note(lambda: shown.item(conn, item_id, operator=_operator()))


def _operator() -> str | None:
    return place.environment().get("INTAKE_OPERATOR")


def _note(write: Callable[[], None]) -> None:
    # Whoever may only read, and a copy that takes no writes, are shown it all the same.
    with suppress(ProgrammingError, InternalError):
        write()


def looks(conn: Conn, item: ItemRow) -> int:
    """Looks that an open item sets going, because somebody opens it; 0: none, or who opens it may only read."""
    with suppress(ProgrammingError, InternalError):
        return opened.item(conn, item)
    return 0
