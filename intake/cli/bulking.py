"""`intake bulk`: one decision about many events, counted before, with a result for each, stoppable at any time."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import datetime

import click

from intake import bulk as runs
from intake import ops
from intake.bulk import BULK_ACTIONS, BulkAction, Filter, OtherContent, OtherNumber, Run, Seen
from intake.bulk_texts import result_text
from intake.cli import place
from intake.cli.arguments import Moment, decided, known_source, speaking
from intake.cli.deciding import hint
from intake.cli.output import as_json, print_json, table
from intake.cli.recovering import progress
from intake.cli.sentences import finding, say, sentence
from intake.config import Settings
from intake.db import Conn
from intake.decisions import Author
from intake.shown_names import STATES, label, name


@click.group()
def bulk() -> None:
    """Decide about many events at once: `intake bulk run revive --state review --reason-word validation`."""


@bulk.command("run")
@click.argument("action", type=click.Choice(BULK_ACTIONS))
@click.option("--state", type=click.Choice(ops.STATES), help="Default: all that is not final.")
@click.option("--source", help="Of this source only.")
@click.option("--since", type=Moment(), help="Received since then: 2026-11-30T09:00, or 24h.")
@click.option("--reason-word", help="Stands in the reason why they are where they are.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@decided
def run_(  # noqa: PLR0913  # one parameter an option
    *,
    action: BulkAction,
    state: str | None,
    source: str | None,
    since: datetime | None,
    reason_word: str | None,
    yes: bool,
    by: str,
    reason: str,
) -> None:
    """Count first, then decide about each.  replay: tries again; what is in doubt is looked for, and never sent."""
    wanted = Filter(state, source, since, reason_word)
    if wanted.is_empty:
        raise click.UsageError("name at least one of --state, --source, --since, --reason-word")
    settings, spoken = place.settings(), place.language()
    with place.connection() as conn:
        known_source(conn, source)
        counted = runs.count(conn, wanted)
        if not counted:
            raise finding("none_matches")
        seen = Seen(sum(each.events for each in counted), runs.fingerprint(conn, wanted))
        table((sentence("events"), label("state", spoken), label("reason", spoken)), [
            (each.events, name(STATES, each.state, spoken), each.reason) for each in counted
        ])  # fmt: skip
        if not yes and not (sys.stdin.isatty() and click.confirm(sentence("all_of_them", action=action))):
            raise finding("say_yes")
        bulk_id = _begin(conn, Author(by, reason), action, wanted, seen)
        say("run_begun", run=bulk_id)
        _finish(conn, settings, bulk_id)
    hint()


def _begin(conn: Conn, author: Author, action: BulkAction, wanted: Filter, seen: Seen) -> int:
    """What was counted, and no other."""
    try:
        return runs.begin(conn, author, action, wanted, seen=seen)
    except (OtherNumber, OtherContent) as other:
        raise finding("others_by_now") from other


def _finish(conn: Conn, settings: Settings, bulk_id: int) -> None:
    """Work on a run until nothing is left; workers may help."""
    with progress(f"run {bulk_id}", hidden=False) as told:
        while runs.step(conn, settings, bulk_id=bulk_id):
            stands = _run(conn, bulk_id)
            told(stands.events - stands.left, stands.events)
    _tell(conn, bulk_id)


def _run(conn: Conn, bulk_id: int) -> Run:
    found = runs.run(conn, bulk_id)
    if found is None:
        raise finding("no_run", run=bulk_id)
    return found


def _tell(conn: Conn, bulk_id: int) -> None:
    stands = _run(conn, bulk_id)
    counts = Counter(result or "left" for result in runs.results(conn, bulk_id).values())
    columns = (sentence("events"), sentence("result"))
    table(columns, [(count, result_text(result, place.language())) for result, count in counts.most_common()])
    if stands.left and stands.stopped_at:
        say("run_stopped", left=stands.left, run=bulk_id)


@bulk.command("list")
@speaking
@as_json
def list_(*, json_wanted: bool) -> None:
    """The latest runs, and how far each is."""
    with place.connection() as conn:
        found = runs.runs(conn)
    if json_wanted:
        print_json({"runs": found})
        return
    spoken = place.language()
    table([label(word, spoken) for word in ("run", "at", "action", "by", "events", "left", "stopped")], [
        (each.bulk_id, each.made_at, each.action, each.author, each.events, each.left, each.stopped_at)
        for each in found
    ])  # fmt: skip


@bulk.command("show")
@speaking
@click.argument("bulk_id", metavar="RUN", type=click.IntRange(1, 2**62))
@as_json
def show(*, bulk_id: int, json_wanted: bool) -> None:
    """What became of each event of a run."""
    with place.connection() as conn:
        stands, results = _run(conn, bulk_id), runs.results(conn, bulk_id)
    if json_wanted:
        items = [{"event_id": event_id, "result": result} for event_id, result in results.items()]
        print_json({"run": stands, "items": items})
    else:
        columns = (label("event_id", place.language()), sentence("result"))
        told = place.language()
        table(columns, [(event_id, result_text(result, told)) for event_id, result in results.items()])


@bulk.command("stop")
@speaking
@click.argument("bulk_id", metavar="RUN", type=click.IntRange(1, 2**62))
def stop(*, bulk_id: int) -> None:
    """Leave what is not decided yet as it is."""
    with place.connection() as conn:
        if not _run(conn, bulk_id).left:
            raise finding("run_ended", run=bulk_id)
        if not runs.stop(conn, bulk_id):
            raise finding("not_going", run=bulk_id)
        _tell(conn, bulk_id)


@bulk.command("go")
@speaking
@click.argument("bulk_id", metavar="RUN", type=click.IntRange(1, 2**62))
def go(*, bulk_id: int) -> None:
    """Go on with a run that was stopped, or whose command was."""
    settings = place.settings()
    with place.connection() as conn:
        if not runs.go_on(conn, bulk_id):
            raise finding("no_run", run=bulk_id)
        _finish(conn, settings, bulk_id)
    hint()
