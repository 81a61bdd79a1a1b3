"""`intake prove`: the guarantee, tested at every boundary against the sandbox CRM's own ledger."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from crm_clients.sandbox.profiles import PROFILES
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json, print_json
from intake.config import Process
from intake.processes import EmbeddedError
from workers.commands import disturbing
from workers.plan import CannotStart
from workers.prove import matrix, telling
from workers.prove.company import Company, quiet
from workers.prove.matrix import NoSuchRun, Run
from workers.prove.place import NotEmpty, databases
from workers.prove.play import Change, unchanged
from workers.prove.points import POINTS
from workers.prove.result import Result
from workers.prove.shrink import shrunk

# Failures whose simplest form is looked for; where there are more, they are most likely one.
MOST_SHRUNK = 5


@click.command()
@click.option("--quick", is_flag=True, help="A few hundred runs in which each point meets each fault, in minutes.")
@click.option("--only", metavar="PATH", help="One run: scenario:point:fault:profile, as a failure names it.")
@click.option("--runs", type=click.IntRange(1), help="At most so many of them.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The same seed, the same runs.")
@click.option("--jobs", type=click.IntRange(1, 32), help="Processes.  [default: 2, with DATABASE_URL always 1]")
@click.option("--html", "page", type=click.Path(dir_okay=False, path_type=Path), help="Write a page, too.")
@click.option("--chaos", metavar="MINUTES", type=click.IntRange(1, 60), help="Kill real processes under load instead.")
@as_json
@click.pass_obj
def prove(  # noqa: PLR0913  # one for each option
    change: Change | None,
    *,
    quick: bool,
    only: str | None,
    runs: int | None,
    seed: int,
    jobs: int | None,
    page: Path | None,
    chaos: int | None,
    json_wanted: bool,
) -> None:
    """Is nothing lost and nothing doubled, whatever fails wherever?

    Runs the whole pipeline against a sandbox CRM in this process, stops it at every boundary with every fault, lets it
    recover, and counts in the CRM's own ledger.  It uses a PostgreSQL of its own, or the empty database that
    DATABASE_URL names, whose content it deletes; nothing else is touched.

    With --chaos, real processes of an installation of its own are killed, stopped and cut off under load.

    Exit status 1: something was lost or doubled.
    """
    if chaos is not None:
        if quick or only or runs or jobs or page:
            raise Misconfigured("--chaos goes with --seed and --json only")
        disturbing.show(chaos, seed, json_wanted=json_wanted)
    quiet()
    chosen = None if only is None else _of_path(only)
    given = Process.from_environ(os.environ).database_url
    count = 1 if given or chosen or change else jobs or min(2, os.cpu_count() or 1)
    result = Result(seed)
    begun = time.monotonic()
    with _databases(given, count) as urls, Company(urls, seed, change or unchanged) as company:
        wanted = [chosen] if chosen else _wanted(company, quick=quick, seed=seed)[:runs]
        _play(company, wanted, result)
    result.seconds = time.monotonic() - begun
    if page is not None:
        page.write_text(telling.page(result), "utf-8")
    print_json(result.document()) if json_wanted else _show(result)
    sys.exit(0 if result.held else 1)


def _of_path(path: str) -> Run:
    """Raises Misconfigured."""
    try:
        run = matrix.of_path(path)
    except NoSuchRun as wrong:
        raise Misconfigured(str(wrong)) from wrong
    unknown = [point for point in run.points if point not in POINTS]
    if unknown:
        raise Misconfigured(f"no point “{unknown[0]}”; there are: {', '.join(POINTS)}")
    return run


@contextmanager
def _databases(given: str | None, count: int) -> Iterator[list[str]]:
    """Raises Misconfigured, Finding."""
    try:
        with databases(given, count, _say) as urls:
            yield urls
    except NotEmpty as told:
        raise Misconfigured(str(told)) from told
    except (EmbeddedError, CannotStart) as told:
        raise Finding(str(told)) from told


def _wanted(company: Company, *, quick: bool, seed: int) -> Sequence[Run]:
    _say("passing every point once, without a fault")
    trails = company.trails(list(PROFILES))
    return matrix.quick(trails, seed) if quick else matrix.full(trails)


def _play(company: Company, runs: Sequence[Run], result: Result) -> None:
    with click.progressbar(length=len(runs), label=telling.counted(len(runs), "run"), file=sys.stderr) as bar:
        for played in company.play(runs):
            result.add(played)
            bar.update(1)
            if not played.verdict.held:
                _say(f"\nFAILED {played.run.path}")
    for failed in result.failures[:MOST_SHRUNK]:
        result.shrunk[failed.run.path] = shrunk(company.play, failed).run.path


def _show(result: Result) -> None:
    for line in telling.text(result):
        click.echo(line)


def _say(said: str) -> None:
    click.echo(said, err=True)
