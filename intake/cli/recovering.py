"""Commands that run again what could not be taken: recheck (refused), reread (unreadable)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime

import click
from rich.progress import Progress

from intake import quarantine, sealing
from intake import recheck as rechecking
from intake.cli import place
from intake.cli.arguments import Moment
from intake.cli.deciding import hint
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json, console, facts, print_json
from intake.config import Source

Told = Callable[[int, int], object]


@click.command()
@click.argument("source")
@as_json
def recheck(*, source: str, json_wanted: bool) -> None:
    """Verify what SOURCE's senders were refused within 7 days, with today's secrets, and accept what is authentic.

    After a secret that was wrong, or rotated too early.  Exit status 1 if something could not be opened or stored.
    """
    configured = open_source(source)
    seal = sealing.from_environ(place.environment())
    with place.connection() as conn, progress(f"recheck {source}", hidden=json_wanted) as told:
        done = rechecking.recheck(conn, place.settings(), seal, configured, progress=told)
    hint()
    report(asdict(done), json_wanted=json_wanted)
    if done.unopened or done.failed:
        raise Finding(f"{done.unopened} could not be opened (INTAKE_SEAL_KEYS), {done.failed} not stored")


@click.command()
@click.argument("source", required=False)
@click.option("--since", type=Moment(), help="What was quarantined since then: 2026-11-30T09:00, or 24h.")
@as_json
def reread(*, source: str | None, since: datetime | None, json_wanted: bool) -> None:
    """Read what is in quarantine again, of SOURCE or of all, after a parser or a mapping was mended.

    What reads is accepted, once, and its items are closed.  Exit status 1 if something could not be stored.
    """
    settings = place.settings()
    if source is not None and source not in settings.sources:
        raise Misconfigured(f"there is no source “{source}”; there are: {', '.join(sorted(settings.sources))}")
    with place.connection() as conn, progress("reread", hidden=json_wanted) as told:
        done = quarantine.reread(conn, settings, source=source, since=since, progress=told)
    hint()
    report(asdict(done), json_wanted=json_wanted)
    if done.failed:
        raise Finding(
            f"{done.failed} of {done.items} could not be read again, or stored: see the log, and `intake items`"
        )


def open_source(name: str) -> Source:
    """Raises Misconfigured for one that is not configured, or has no secret to verify with."""
    found = place.settings().sources.get(name)
    if found is None:
        raise Misconfigured(f"there is no source “{name}”; there are: {', '.join(sorted(place.settings().sources))}")
    if not found.available:
        raise Misconfigured(f"this version has no provider “{found.provider}”")
    if found.closed_because:
        raise Misconfigured(f"{name} is closed: {found.closed_because}")
    return found


@contextmanager
def progress(what: str, *, hidden: bool) -> Iterator[Told]:
    """A bar on a terminal, told how many of how many are done."""
    with Progress(transient=True, disable=hidden, console=console()) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def report(counts: dict[str, int], *, json_wanted: bool) -> None:
    """The counts that are not nothing; all of them as JSON."""
    if json_wanted:
        print_json(counts)
    else:
        facts((name, count) for name, count in counts.items() if count)
        if not any(counts.values()):
            click.echo("there was nothing to do")
