"""Commands that read: events, show, explain, items, item, sources."""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import datetime

import click

from intake import carried, decided, fetches, masked, ops, queue, records, remaking, revisions, worklist
from intake import explain as explaining
from intake.cli import place
from intake.cli.arguments import Moment, event_of, language
from intake.cli.group import Finding, Misconfigured
from intake.cli.output import as_json, facts, heading, paragraph, print_json, table
from intake.db import Conn
from intake.ops import BadCursor, EventRow, Wanted
from intake.reason_texts import Language, Text
from intake.worklist import ItemKind

# How long `show --fresh` waits for its look, in seconds; after that it shows what there is.
FRESH_WITHIN = 10.0

STAGES = {
    "prepared": Text("preparada", "prepared"),
    "not_sent": Text("no enviada", "not sent"),
    "sent": Text("enviada", "sent"),
    "perhaps_sent": Text("quizás enviada", "perhaps sent"),
    "answered": Text("recibida", "answered"),
    "confirmed": Text("confirmada", "confirmed"),
}

in_language = click.option("--lang", type=click.Choice(["es", "en"]), help="Default: the configuration's.")


@click.command()
@click.option("--state", type=click.Choice(ops.STATES), help="pending: all that is not final.")
@click.option("--source", help="Of this source only.")
@click.option("--since", type=Moment(), help="Received since then: 2026-11-30T09:00, or 24h.")
@click.option("--limit", type=click.IntRange(1, ops.MOST), default=ops.PAGE, show_default=True)
@click.option("--cursor", help="Go on where the page before ended.")
@as_json
def events(  # noqa: PLR0913  # one parameter an option
    *, state: str | None, source: str | None, since: datetime | None, limit: int, cursor: str | None, json_wanted: bool
) -> None:
    """What came in, the newest first."""
    try:
        with place.connection() as conn:
            page = ops.events(conn, Wanted(state, source, since, limit, cursor))
            people = {} if json_wanted else masked.contacts(conn, [each.event_id for each in page.events])
    except BadCursor as bad:
        raise Misconfigured(str(bad)) from bad
    if json_wanted:
        print_json({"events": page.events, "next_cursor": page.next_cursor})
        return
    columns = ("event", "received", "source", "kind", "contact", "state", "reason")
    table(columns, [
        (each.event_id, each.received_at, each.source, each.kind + (" (t)" if each.mode == "test" else ""),
         people.get(each.event_id), each.state, each.reason)
        for each in page.events
    ])  # fmt: skip
    if page.next_cursor:
        click.echo(f"more: --cursor {page.next_cursor}")


@click.command()
@click.argument("event")
@click.option("--fresh", is_flag=True, help="Look in the CRM first, if something is in doubt.")
@in_language
@as_json
def show(*, event: str, fresh: bool, lang: str | None, json_wanted: bool) -> None:
    """One event: its attempts, its history, and what may be done.  EVENT is an id, or its beginning."""
    with place.connection() as conn:
        found = event_of(conn, event)
        if fresh:
            look_first(conn, found)
            found = ops.event(conn, found.event_id) or found
        if json_wanted:
            print_json(document_of(conn, found, language(lang)))
        else:
            _show(conn, found, language(lang))


def look_first(conn: Conn, event: EventRow) -> None:
    """Make the looks of an event's records due, hint at them, and wait until they were made, or for a while."""
    asked = ops.attempts(conn, event.event_id)
    doubtful = [each for each in ops.records(conn, event.event_id) if each.in_doubt and not each.being_asked]
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
    return not goes_on and len(ops.attempts(conn, event.event_id)) >= expected


def document_of(conn: Conn, event: EventRow, lang: Language) -> dict[str, object]:
    """The event as JSON shows it."""
    view, before = decided.view_of(conn, event), remaking.reissue_of(conn, event.event_id)
    return asdict(event) | {
        "attempts": ops.attempts(conn, event.event_id),
        "history": ops.history(conn, event.event_id),
        "decisions": ops.decisions(conn, event.event_id),
        "safe_actions": explaining.safe_actions(view, lang),
        "destination": view.destination,
        "content": revisions.named(conn, event.event_id),
        "carried_by": carried.carrier_of(conn, event.event_id),
        "carries": carried.carried_with(conn, event.event_id),
        "fetches": fetches.of_event(conn, event.event_id),
        "reissue_of": before,
        "reissues": remaking.reissues(conn, event.event_id),
    }


def _show(conn: Conn, event: EventRow, lang: Language) -> None:
    people = masked.contacts(conn, [event.event_id])
    listed = asdict(event) | {"contact": people.get(event.event_id)}
    del listed["attempts"]
    content = revisions.named(conn, event.event_id)
    if content is not None:
        listed["content"] = f"revision {content.revision} ({content.fingerprint})"
    listed["carried_by"] = carried.carrier_of(conn, event.event_id)
    listed["reissue_of"] = remaking.reissue_of(conn, event.event_id)
    facts(listed.items())
    for fetch in fetches.of_event(conn, event.event_id):
        paragraph(fetch.told)
    for each in remaking.reissues(conn, event.event_id):
        paragraph(f"reissued as {each.event_id} ({each.state})")
    attempts = ops.attempts(conn, event.event_id)
    if attempts:
        heading("attempts")
        columns = ("at", "record", "kind", "stage", "outcome", "reason")
        table(columns, [
            (each.prepared_at, each.record, f"{each.kind} {each.action}", STAGES[each.stage].of(lang), each.outcome,
             each.reason)
            for each in attempts
        ])  # fmt: skip
    heading("history")
    moves = ops.history(conn, event.event_id)
    table(("at", "from", "to", "reason"), [(each.at, each.from_state, each.to_state, each.reason) for each in moves])
    decisions = ops.decisions(conn, event.event_id)
    if decisions:
        heading("decisions")
        rows = [(each.at, each.author, each.action, each.reason) for each in decisions]
        table(("at", "by", "action", "reason"), rows, fold=("reason",))
    _explain(conn, event, lang)


@click.command()
@click.argument("event")
@in_language
@as_json
def explain(*, event: str, lang: str | None, json_wanted: bool) -> None:
    """Why an event is where it is, what happens next, and what is safe to do."""
    with place.connection() as conn:
        found = event_of(conn, event)
        if not json_wanted:
            _explain(conn, found, language(lang))
            return
        told = told_of(conn, found, language(lang))
    print_json({
        "event_id": found.event_id, "state": found.state, "reason": found.reason, "language": language(lang),
        **asdict(told),
    })  # fmt: skip


def told_of(conn: Conn, event: EventRow, lang: Language) -> explaining.Explanation:
    """The explanation, which also knows which destinations are configured here."""
    settings = place.settings()
    can = {each.name for each in settings.destinations.values() if each.closed_because is None}
    return explaining.explain(decided.view_of(conn, event), lang, open_destinations=can)


def _explain(conn: Conn, event: EventRow, lang: Language) -> None:
    told = told_of(conn, event, lang)
    heading(f"{event.state}{': ' + event.reason if event.reason else ''}")
    for text in (told.where, told.why, told.then):
        if text:
            paragraph(text)
    heading("acciones" if lang == "es" else "actions")
    yes, no = ("sí", "no") if lang == "es" else ("yes", "no")
    rows = [(each.action, yes if each.allowed else no, each.why) for each in told.safe_actions]
    table(("", "", ""), rows, fold=("",))


# --- items ----------------------------------------------------------------------------------------------------------


@click.command()
@click.option("--kind", type=click.Choice(worklist.KINDS))
@click.option("--assignee", help="Of this person only.")
@as_json
def items(*, kind: ItemKind | None, assignee: str | None, json_wanted: bool) -> None:
    """What waits for a person, the oldest first."""
    with place.connection() as conn:
        found = worklist.items(conn, kind=kind, assignee=assignee)
    if json_wanted:
        print_json({"items": found})
        return
    table(("item", "since", "due", "kind", "reason", "event", "state", "assignee"), [
        (each.item_id, each.opened_at, each.due_at, each.kind, each.reason, each.event_id, each.state, each.assignee)
        for each in found
    ])  # fmt: skip


@click.command()
@click.argument("item_id", metavar="ITEM", type=click.IntRange(1, 2**62))
@in_language
@as_json
def item(*, item_id: int, lang: str | None, json_wanted: bool) -> None:
    """One item."""
    with place.connection() as conn:
        found = worklist.item(conn, item_id)
        if found is None:
            raise Finding(f"there is no item {item_id}")
        if json_wanted:
            print_json(asdict(found) | {"actions": explaining.item_actions(found.kind, language(lang))})
            return
        facts(asdict(found).items())
        paragraph(explaining.item_text(found.kind, found.reason, language(lang)))
        for action, does in explaining.item_actions(found.kind, language(lang)).items():
            paragraph(f"{action}: {does}")
        event = ops.event(conn, found.event_id) if found.event_id else None
        if event is not None and found.kind == "delivery":
            _explain(conn, event, language(lang))


# --- sources --------------------------------------------------------------------------------------------------------


@click.command()
@as_json
def sources(*, json_wanted: bool) -> None:
    """The ways in: the address to register with each sender, whether it is open, and when it delivered last."""
    settings = place.settings()
    with place.connection() as conn:
        last = worklist.last_deliveries(conn)
    rows = [
        {
            "name": each.name,
            "kind": each.kind,
            "provider": each.provider,
            "url": f"{settings.public_base_url}/hooks/{each.name}",
            "status": status_of(enabled=each.enabled, available=each.available, closed=each.closed_because),
            "closed_because": each.closed_because,
            "destination": each.destination,
            "last_live": last.get(each.name, worklist.LastDelivery()).live,
            "last_test": last.get(each.name, worklist.LastDelivery()).test,
        }
        for each in settings.sources.values()
    ]
    if json_wanted:
        print_json({"sources": rows})
        return
    for row in rows:
        facts((name, value) for name, value in row.items())
        click.echo()


def status_of(*, enabled: bool, available: bool, closed: str | None) -> str:
    """One word for whether a source takes deliveries."""
    if not enabled:
        return "disabled"
    if not available:
        return "unavailable"
    return "closed" if closed else "open"
