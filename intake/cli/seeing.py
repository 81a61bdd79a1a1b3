"""`--data`: personal data unmasked, and who saw it on record before it is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

import click

from intake.cli.arguments import Said
from intake.db import Conn
from intake.desk import access
from intake.desk.access import Viewer, What

F = TypeVar("F", bound=Callable[..., object])


def unmasked_data(command: F) -> F:
    """Add --data and the --by that it needs."""
    data = click.option("--data", is_flag=True, help="Show personal data unmasked; who saw it is kept.")
    by = click.option("--by", type=Said(), envvar="INTAKE_OPERATOR", help="data: who looks (or INTAKE_OPERATOR).")
    return data(by(command))


@dataclass(frozen=True, slots=True)
class Looker:
    """Somebody who wants to see data."""

    by: str

    def note(self, conn: Conn, what: What, event_id: UUID | None = None, **detail: object) -> None:
        """Before it is shown."""
        access.note(conn, Viewer(self.by, "cli"), what, event_id, **detail)


def may_see(*, data: bool, by: str | None) -> Looker | None:
    """None: masked is enough.  Raises UsageError for a look without a name."""
    if not data:
        return None
    if by is None:
        raise click.UsageError("--data goes with --by: who sees personal data is kept")
    return Looker(by)
