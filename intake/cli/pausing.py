"""`intake pause` and `resume`: a CRM account, or a source, by a person."""

from __future__ import annotations

import click

from intake import pauses
from intake.cli import place
from intake.cli.arguments import decided
from intake.cli.deciding import deciding
from intake.cli.group import Misconfigured
from intake.cli.sentences import finding, say
from intake.decisions import Author

NAME = "ACCOUNT|SOURCE"


@click.command()
@click.argument("name", metavar=NAME)
@decided
def pause(*, name: str, by: str, reason: str) -> None:
    """Deliver nothing to a CRM account, or nothing of a source, until it is resumed.

    A paused source goes on accepting; what is under way ends its way.
    """
    is_account = _is_account(name)
    with deciding() as conn:
        (pauses.pause_account if is_account else pauses.pause_source)(conn, Author(by, reason), name)
    say("account_paused" if is_account else "source_paused", name=name)


@click.command()
@click.argument("name", metavar=NAME)
@decided
def resume(*, name: str, by: str, reason: str) -> None:
    """Deliver to a CRM account again, or what a source sent."""
    is_account = _is_account(name, or_paused=True)
    with deciding() as conn:
        if not (pauses.resume_account if is_account else pauses.resume_source)(conn, Author(by, reason), name):
            raise finding("not_paused", name=name)
    say("resumed", name=name)


def _is_account(name: str, *, or_paused: bool = False) -> bool:
    """Raises Misconfigured for a name that is neither's, or both's.

    `or_paused`: a source that was paused and is configured no more may still be resumed.
    """
    settings = place.settings()
    account, source = name in settings.destinations, name in settings.sources
    if account and source:
        raise Misconfigured(f"“{name}” is a destination and a source: rename one of them")
    if not account and not source:
        if or_paused:
            with place.connection() as conn:
                if pauses.is_paused_source(conn, name):
                    return False
        raise Misconfigured(
            f"there is no destination or source “{name}”; there are: "
            f"{', '.join(sorted({*settings.destinations, *settings.sources}))}"
        )
    return account
