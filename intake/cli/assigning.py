"""`intake assign`: whose an open item is, and until when."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

from intake import item_decisions
from intake.cli.arguments import UNITS, Said, decided
from intake.cli.deciding import deciding
from intake.cli.output import moment
from intake.cli.sentences import say
from intake.decisions import Author

AHEAD = re.compile(r"([0-9]{1,6})([smhd])", re.ASCII)


class Due(click.ParamType[datetime]):
    """A time to come: ISO 8601, or how far ahead (30m, 4h, 2d)."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """One without a zone is in UTC."""
        if isinstance(value, datetime):
            return value
        ahead = AHEAD.fullmatch(str(value))
        if ahead:
            return datetime.now(UTC) + timedelta(**{UNITS[ahead[2]]: int(ahead[1])})
        try:
            read = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail("must be a time such as 2026-11-30T09:00 or a span such as 4h", param, ctx)
        read = read if read.tzinfo else read.replace(tzinfo=UTC)
        if read <= datetime.now(UTC):
            self.fail("is over already: a time to come is needed", param, ctx)
        return read


@click.command()
@click.argument("item_id", metavar="ITEM", type=click.IntRange(1, 2**62))
@click.option("--to", "assignee", type=Said(), help="Whose it is from now on; by default who decides takes it over.")
@click.option("--due", type=Due(), help="Until when: 2026-11-30T09:00, or 4h from now.")
@decided
def assign(*, item_id: int, assignee: str | None, due: datetime | None, by: str, reason: str) -> None:
    """Give an open item to a person, hand it over to another, or take it over."""
    with deciding() as conn:
        before = item_decisions.assign(conn, Author(by, reason), item_id, assignee or by, due_at=due)
    handed_over = before not in {None, assignee or by}
    say("handed_over" if handed_over else "assigned", item=item_id, assignee=assignee or by, before=before)
    if due is not None:
        say("until", due=moment(due))
