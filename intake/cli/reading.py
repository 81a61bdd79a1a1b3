"""Commands that read events: events, show, explain.  Items stand in `waiting`, sources in `entrances`."""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import datetime

import click

from intake import carried, decided, fetches, masked, ops, queue, records, remaking, revisions, trail
from intake import explain as explaining
from intake.cli import place, screens, showing
from intake.cli.arguments import Moment, event_of, in_language, known_source, language
from intake.cli.group import Misconfigured
from intake.cli.output import as_json, facts, heading, minute, print_json, table
from intake.cli.seeing import Looker, may_see, unmasked_data
from intake.cli.sentences import SENTENCES
from intake.db import Conn
from intake.ops import BadCursor, EventRow, Wanted
from intake.reason_texts import Language
from intake.shown_names import ITEMS, KINDS, STATES, label, name

# How long `show --fresh` waits for its look, in seconds; after that it shows what there is.
FRESH_WITHIN = 10.0


@click.command()
@click.option("--state", type=click.Choice(ops.STATES), help="pending: all that is not final.")
@click.option("--source", help="Of this source only.")
@click.option("--since", type=Moment(), help="Received since then: 2026-11-30T09:00, or 24h.")
@click.option("--limit", type=click.IntRange(1, ops.MOST), default=ops.PAGE, show_default=True)
@click.option("--cursor", help="Go on where the page before ended.")
@in_language
@as_json
def events(  # noqa: PLR0913  # one parameter an option
    *,
    state: str | None,
    source: str | None,
    since: datetime | None,
    limit: int,
    cursor: str | None,
    lang: str | None,
    json_wanted: bool,
) -> None:
    """What came in, the newest first."""
    try:
        with place.connection() as conn:
            known_source(conn, source)
            page = ops.events(conn, Wanted(state, source, since, limit, cursor))
            people = {} if json_wanted else masked.contacts(conn, [each.event_id for each in page.events])
    except BadCursor as bad:
        raise Misconfigured(str(bad)) from bad
    if json_wanted:
        print_json({"events": page.events, "next_cursor": page.next_cursor})
        return
    spoken = language(lang)
    if not page.events:
        click.echo(SENTENCES["no_events"].of(spoken))
        return
    columns = [label(word, spoken) for word in ("event_id", "received_at", "source", "person", "state")]
    table(columns, [
        (each.event_id, minute(each.received_at), (each.source, _kind(each, spoken)), people.get(each.event_id),
         (name(STATES, each.state, spoken), each.reason))
        for each in page.events
    ])  # fmt: skip
    if page.next_cursor:
        click.echo(f"{label('more', spoken)}: --cursor {page.next_cursor}")


def _kind(event: EventRow, lang: Language) -> str:
    return name(KINDS, event.kind, lang) + (" (t)" if event.mode == "test" else "")


@click.command()
@click.argument("event")
@click.option("--fresh", is_flag=True, help="Look in the CRM first, if something is in doubt.")
@unmasked_data
@in_language
@as_json
def show(  # noqa: PLR0913  # one parameter an option
    *, event: str, fresh: bool, data: bool, by: str | None, lang: str | None, json_wanted: bool
) -> None:
    """One event: its attempts, its history, and what may be done.  EVENT is an id, or its beginning."""
    looker = may_see(data=data, by=by)
    with place.connection() as conn:
        found = event_of(conn, event)
        if fresh:
            look_first(conn, found)
            found = ops.event(conn, found.event_id) or found
        if looker:
            looker.note(conn, "content", found.event_id)
        if json_wanted:
            print_json(document_of(conn, found, language(lang), unmasked=looker is not None))
        else:
            screens.shows_event(conn, found.event_id)
            _show(conn, found, language(lang), looker)


def look_first(conn: Conn, event: EventRow) -> None:
    """Make the looks of an event's records due, hint at them, and wait until they were made, or for a while."""
    asked = trail.attempts(conn, event.event_id)
    doubtful = [each for each in trail.records(conn, event.event_id) if each.in_doubt and not each.being_asked]
    for each in doubtful:
        records.look_now(conn, each.record_id)
    redis_url = place.process().redis_url
    if doubtful and redis_url:
        queue.hint(queue.connect(redis_url), at_most=place.process().workers)
    until = time.monotonic() + (FRESH_WITHIN if doubtful else 0.0)
    while time.monotonic() < until and not _looked(conn, event, len(asked) + len(doubtful)):
        time.sleep(0.1)


def _looked(conn: Conn, event: EventRow, expected: int) -> bool:
    """Whether so many attempts are there, and what the looks set going is over."""
    now = ops.event(conn, event.event_id)
    goes_on = now is not None and (now.state == "delivering" or now.reason == "looked")
    return not goes_on and len(trail.attempts(conn, event.event_id)) >= expected


def document_of(conn: Conn, event: EventRow, lang: Language, *, unmasked: bool = False) -> dict[str, object]:
    """The event as JSON shows it."""
    view, before = decided.view_of(conn, event), remaking.reissue_of(conn, event.event_id)
    document = asdict(event) | {
        "attempts": trail.attempts(conn, event.event_id),
        "history": trail.history(conn, event.event_id),
        "decisions": trail.decisions(conn, event.event_id),
        "safe_actions": explaining.safe_actions(view, lang),
        "fields": view.fields,
        "destination": view.destination,
        "pages": showing.pages_of(conn, event),
        "content": revisions.named(conn, event.event_id),
        "conflicts": showing.compared_of(conn, event, unmasked=unmasked),
        "carried_by": carried.carrier_of(conn, event.event_id),
        "carries": carried.carried_with(conn, event.event_id),
        "fetches": fetches.of_event(conn, event.event_id),
        "reissue_of": before,
        "reissues": remaking.reissues(conn, event.event_id),
    }
    if unmasked:
        document["data"] = {each.name: each.value for each in showing.content(conn, event)}
    return document


def _show(conn: Conn, event: EventRow, lang: Language, looker: Looker | None) -> None:
    facts(showing.event_lines(conn, event, lang))
    showing.fetched(conn, event)
    if looker:
        showing.echo_fields(showing.content(conn, event), lang)
    for each in showing.compared_of(conn, event, unmasked=looker is not None):
        heading(f"{name(ITEMS, 'conflict', lang)} {each.item_id}")
        showing.comparison(each, lang, unmasked=looker is not None)
    showing.attempts(trail.attempts(conn, event.event_id), lang)
    showing.history(trail.history(conn, event.event_id), lang)
    showing.decisions(trail.decisions(conn, event.event_id), lang)
    showing.explanation(conn, event, lang)


@click.command()
@click.argument("event")
@in_language
@as_json
def explain(*, event: str, lang: str | None, json_wanted: bool) -> None:
    """Why an event is where it is, what happens next, and what is safe to do."""
    with place.connection() as conn:
        found = event_of(conn, event)
        if not json_wanted:
            screens.shows_event(conn, found.event_id)
            showing.explanation(conn, found, language(lang))
            return
        spoken = language(lang)
        told, differs = showing.told_of(conn, found, spoken), showing.differences_of(conn, found, spoken)
        choices = showing.contacts_of(conn, found)
    print_json({
        "event_id": found.event_id, "state": found.state, "reason": found.reason, "language": spoken,
        **asdict(told), "differences": differs, "contacts": choices,
    })  # fmt: skip
