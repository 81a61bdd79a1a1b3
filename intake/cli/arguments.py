"""Arguments that several commands take: an event, a moment, who decides and why."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import click

from intake import ops, worklist
from intake.cli import place
from intake.cli.group import Misconfigured
from intake.cli.sentences import finding
from intake.db import Conn
from intake.ops import EventRow
from intake.reason_texts import Language

F = TypeVar("F", bound=Callable[..., object])

AGO = re.compile(r"([0-9]{1,6})([smhd])", re.ASCII)
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class Moment(click.ParamType[datetime]):
    """A time: ISO 8601, or how long ago (90s, 15m, 24h, 7d)."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """One without a zone is where the company is, as times are shown."""
        if isinstance(value, datetime):
            return value
        ago = AGO.fullmatch(str(value))
        if ago:
            return datetime.now(UTC) - timedelta(**{UNITS[ago[2]]: int(ago[1])})
        try:
            read = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail("must be a time such as 2026-11-30T09:00 or an age such as 24h", param, ctx)
        return read if read.tzinfo else read.replace(tzinfo=place.timezone()).astimezone(UTC)


def event_of(conn: Conn, start: str) -> EventRow:
    """The event whose id is this, or begins so.  Raises Finding."""
    try:
        found = ops.begin_with(conn, start)
    except ValueError:
        raise finding("no_event_id", start=start[:40]) from None
    if len(found) > 1:
        raise finding("several_events", start=start)
    event = ops.event(conn, found[0]) if found else None
    if event is None:
        raise finding("no_event", start=start)
    return event


def known_source(conn: Conn, name: str | None) -> None:
    """Raises Misconfigured for a name that is no source's: of the configuration, or of what came once."""
    configured = place.settings().sources
    if name is None or name in configured or worklist.is_source(conn, name):
        return
    raise Misconfigured(f"there is no source “{name}”; there are: {', '.join(sorted(configured)) or 'none'}")


def _speak(context: click.Context, _option: click.Parameter, wanted: str | None) -> str | None:
    if wanted is not None:
        context.meta[place.LANGUAGE] = wanted
    return wanted


# In which language a command answers; the second hands it over as `lang`.
speaking = click.option(
    "--lang", type=click.Choice(["es", "en"]), expose_value=False, callback=_speak,
    help="Default: the configuration's.",
)  # fmt: skip
in_language = click.option(
    "--lang", type=click.Choice(["es", "en"]), callback=_speak, help="Default: the configuration's."
)


def decided(command: F) -> F:
    """Add --by and --reason, for no decision is without an author and a reason; and --lang."""
    reason = click.option("--reason", required=True, type=Said(), help="Why; it is kept for good.")
    by = click.option(
        "--by", required=True, type=Said(), envvar="INTAKE_OPERATOR", help="Who decides (or INTAKE_OPERATOR)."
    )
    return by(reason(speaking(command)))


class Said(click.ParamType[str]):
    """A text that says something."""

    name = "text"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Blanks are nothing."""
        text = str(value).strip()
        if not text:
            self.fail("must not be empty", param, ctx)
        return text


def language(wanted: str | None = None) -> Language:
    """The language asked for, else the configuration's, else Spanish."""
    if wanted is None:
        return place.language()
    return "en" if wanted == "en" else "es"
