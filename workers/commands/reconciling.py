"""`intake reconcile`: the database against itself, with --verify against the CRM.  Exit status 1 on any incident."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from uuid import uuid4

import click

from intake import reconcile as rows
from intake.cli import place
from intake.cli.arguments import Moment, language
from intake.cli.output import as_json, facts, print_json, table
from intake.cli.sentences import finding, say, sentence
from intake.explain import reason_text
from intake.reconcile import Reconciliation
from intake.shown_names import STATES, label, name
from workers import reconcile as engine
from workers.commands.tools import desk
from workers.desk import Desk
from workers.reconcile import Found, Step

Progress = Callable[[Step], object]

# Incidents in the table; all of them are open items.
MOST_SHOWN = 50


@click.command()
@click.option("--since", type=Moment(), help="Only what came since then: 2026-11-30T09:00, or 24h.")
@click.option("--verify", "verified", is_flag=True, help="Read each confirmed record in the CRM, and list what it has.")
@click.option("--per-second", type=click.FloatRange(0.1, 1000), default=50.0, show_default=True, help="Records read.")
@click.option("--history", is_flag=True, help="What earlier runs found, and nothing else.")
@as_json
def reconcile(*, since: datetime | None, verified: bool, per_second: float, history: bool, json_wanted: bool) -> None:
    """Does every accepted event have exactly one end in sight, and does the CRM have all of it once?"""
    if history:
        _history(json_wanted=json_wanted)
        return
    with desk() as tools, _progress(tools, since, wanted=verified and not json_wanted) as told:
        result, found = run(tools, since=since, verified=verified, per_second=per_second, told=told)
    if json_wanted:
        listed = [{"item_id": each.item_id} | asdict(each.incident) for each in found]
        print_json({"ok": result.ok, **asdict(result), "incidents": listed, "tally": result.incidents})
    else:
        _show(result, found)
    if not result.ok:
        raise finding("incidents", count=sum(result.incidents.values()))


def run(
    tools: Desk, *, since: datetime | None, verified: bool, per_second: float | None, told: Progress
) -> tuple[Reconciliation, list[Found]]:
    """One run from its beginning to its end.  `per_second`: records read, None: as fast as the CRM answers."""
    step = engine.begin(tools, f"run-{uuid4()}", since=since, verified=verified)
    found = list(step.found)
    while not step.place.over:
        begun, before = time.monotonic(), step.place.checked
        step = engine.advance(tools, step.place, since=since)
        found += step.found
        told(step)
        if per_second is not None:
            time.sleep(max(0.0, begun + (step.place.checked - before) / per_second - time.monotonic()))
    return engine.finish(tools, step.place, since=since, verified=verified), found


@contextmanager
def _progress(tools: Desk, since: datetime | None, *, wanted: bool) -> Iterator[Progress]:
    """A bar on standard error, for whoever watches; nothing in a pipe."""
    if not wanted or not sys.stderr.isatty():
        yield lambda _step: None
        return
    with tools.pool.connection() as conn:
        length = rows.how_many(conn, since)
    with click.progressbar(length=length, label="records", file=sys.stderr) as bar:
        yield lambda step: bar.update(step.place.checked - bar.pos)


def _show(result: Reconciliation, found: list[Found]) -> None:
    spoken = language()
    events = sentence("events")
    facts([
        *((f"{events}: {name(STATES, state, spoken)}", count) for state, count in result.counts.items()),
        (label("verified", spoken), label("yes" if result.verified else "no", spoken)),
    ])  # fmt: skip
    if found:
        shown = found[:MOST_SHOWN]
        table([*(label(word, spoken) for word in ("item_id", "reason", "record")), "CRM"], [
            (each.item_id, each.incident.reason, each.incident.subject, each.incident.crm_id) for each in shown
        ])  # fmt: skip
        for reason, count in result.incidents.items():
            click.echo(f"{count} {reason}: {reason_text(reason, spoken)}")
        if len(shown) < len(found):
            say("more_incidents", count=len(found) - len(shown))


def _history(*, json_wanted: bool) -> None:
    with place.connection() as conn:
        runs = rows.history(conn)
    if json_wanted:
        print_json({"runs": runs})
        return
    spoken = language()
    columns = ("started", "since", "verified", "events", "incidents", "which")
    table([label(word, spoken) for word in columns], [
        (each.started_at, each.since, label("yes" if each.verified else "no", spoken), sum(each.counts.values()),
         sum(each.incidents.values()), ", ".join(f"{reason} {count}" for reason, count in each.incidents.items()))
        for each in runs
    ], last=True)  # fmt: skip
