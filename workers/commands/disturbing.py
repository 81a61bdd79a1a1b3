"""`intake prove --chaos`: the guarantee, with real processes that are killed under load."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

import click
import psycopg

from intake.cli.group import Finding
from intake.cli.output import print_json
from intake.processes import EmbeddedError
from workers.plan import CannotStart
from workers.prove.chaos import report
from workers.prove.chaos.report import Report
from workers.prove.chaos.run import Wishes, run
from workers.prove.chaos.works import Stuck
from workers.prove.company import quiet

INTERRUPTED = 130  # as shells say it of Ctrl-C


def show(minutes: int, seed: int, *, json_wanted: bool) -> NoReturn:
    """Run it, tell the result, and exit.  Raises Finding."""
    quiet()
    _stop_once()
    try:
        told = run(Wishes(seconds=60.0 * minutes, seed=seed), lambda said: click.echo(said, err=True))
    except KeyboardInterrupt:
        click.echo("interrupted; everything that was started is ended", err=True)
        sys.exit(INTERRUPTED)
    except (Stuck, EmbeddedError, CannotStart, psycopg.Error) as failed:
        raise Finding(str(failed)) from failed
    sys.exit(tell(told, json_wanted=json_wanted))


def tell(told: Report, *, json_wanted: bool) -> int:
    """Print the result; returns the exit status."""
    if json_wanted:
        print_json(told.document())
    else:
        for line in report.text(told):
            click.echo(line)
    return 0 if told.verdict.held else 1


def _stop_once() -> None:
    """The first signal ends the proof; a second one does not disturb how it cleans up."""
    told = False

    def stop(number: int, frame: object) -> None:
        nonlocal told
        del number, frame
        if not told:
            told = True
            raise KeyboardInterrupt

    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, stop)
