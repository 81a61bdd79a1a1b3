"""Commands that read what waits for a person: items, item."""

from __future__ import annotations

from dataclasses import asdict

import click

from intake import comparing, ops, quarantine, worklist
from intake import explain as explaining
from intake.cli import place, screens, showing
from intake.cli.arguments import in_language, language
from intake.cli.deciding import hint
from intake.cli.output import as_json, facts, heading, minute, paragraph, print_json, table
from intake.cli.seeing import Looker, may_see, unmasked_data
from intake.cli.sentences import SENTENCES, finding
from intake.db import Conn
from intake.reason_texts import Language
from intake.shown_names import ITEMS, MODES, RECORDS, STATES, label, name
from intake.worklist import ItemKind, ItemRow


@click.command()
@click.option("--kind", type=click.Choice(worklist.KINDS))
@click.option("--assignee", help="Of this person only.")
@in_language
@as_json
def items(*, kind: ItemKind | None, assignee: str | None, lang: str | None, json_wanted: bool) -> None:
    """What waits for a person, the oldest first."""
    with place.connection() as conn:
        found = worklist.items(conn, kind=kind, assignee=assignee)
    if json_wanted:
        print_json({"items": found})
        return
    spoken = language(lang)
    if not found:
        click.echo(SENTENCES["nothing_open"].of(spoken))
        return
    columns = [label(word, spoken) for word in ("item_id", "opened_at", "what", "event_id", "reason")]
    table([*columns, f"{label('assignee', spoken)}, {label('until', spoken)}"], [
        (each.item_id, minute(each.opened_at), what_of(each, spoken), each.event_id, (each.reason, each.source),
         (each.assignee, minute(each.due_at)))
        for each in found
    ])  # fmt: skip


def what_of(item: ItemRow, lang: Language) -> str:
    """What waits: a delivery by its state, anything else by its kind."""
    if item.kind == "delivery" and item.state:
        return name(STATES, item.state, lang)
    return name(ITEMS, item.kind, lang)


@click.command()
@click.argument("item_id", metavar="ITEM", type=click.IntRange(1, 2**62))
@unmasked_data
@in_language
@as_json
def item(*, item_id: int, data: bool, by: str | None, lang: str | None, json_wanted: bool) -> None:
    """One item: what it is about, and what may be done.  A conflict is shown with both contents.

    What is in doubt is looked for in the CRM at once.
    """
    looker = may_see(data=data, by=by)
    with place.connection() as conn:
        found = worklist.item(conn, item_id)
        if found is None:
            raise finding("no_item", item=item_id)
        if looker:
            looker.note(conn, "conflict" if found.kind == "conflict" else "content", found.event_id, item=item_id)
        sought = screens.looks(conn, found)
        if json_wanted:
            print_json(document_of(conn, found, language(lang), looker))
        else:
            screens.shows_item(conn, item_id)
            _show(conn, found, language(lang), looker)
    if sought:
        hint()
        if not json_wanted:
            click.echo()
            paragraph(SENTENCES["looking"].of(language(lang)).format(count=sought, event=found.event_id))


def document_of(conn: Conn, found: ItemRow, lang: Language, looker: Looker | None) -> dict[str, object]:
    """The item as JSON shows it; a conflict with both contents, a quarantine with its bytes if they are asked for."""
    document = asdict(found) | {
        "actions": explaining.item_actions(found.kind, lang),
        "then": explaining.item_step(found.kind, found.reason, lang),
    }
    compared = comparing.compare(conn, place.settings(), found, unmasked=looker is not None)
    if compared:
        document["contents"] = compared
    if looker and found.kind == "quarantine":
        document["body"] = _body(conn, found)
    return document


def _body(conn: Conn, found: ItemRow) -> str | None:
    """The bytes that could not be read, as text; None: purged."""
    raw = quarantine.raw(conn, found.receipt_id) if found.receipt_id else None
    return None if raw is None else raw.decode(errors="replace")


def _show(conn: Conn, found: ItemRow, lang: Language, looker: Looker | None) -> None:
    facts(_lines(found, lang))
    paragraph(explaining.item_text(found.kind, found.reason, lang))
    if step := explaining.item_step(found.kind, found.reason, lang):
        paragraph(step)
    event = ops.event(conn, found.event_id) if found.event_id else None
    if event is not None and found.kind == "delivery":
        showing.explanation(conn, event, lang)
        return
    showing.refused_fields(found.fields, lang)
    compared = comparing.compare(conn, place.settings(), found, unmasked=looker is not None)
    if compared:
        heading(label("content", lang))
        showing.comparison(compared, lang, unmasked=looker is not None)
    if looker and found.kind == "quarantine":
        heading(label("content", lang))
        click.echo(_body(conn, found) or "-")
    heading(label("actions", lang))
    rows = [(f"intake {_command(action, found)}", does) for action, does in
            explaining.item_actions(found.kind, lang).items()]  # fmt: skip
    table(("", ""), rows, last=True)


def _command(action: str, found: ItemRow) -> str:
    """`resolve keep` as it is typed."""
    verb, _, rest = action.partition(" ")
    return f"{verb} {found.item_id} {rest}".rstrip()


def _lines(found: ItemRow, lang: Language) -> list[tuple[str, object]]:
    record = found.record_id and f"{_kind_of(found, lang)} {found.evidence.get('crm_id') or ''}".strip()
    listed: dict[str, object] = {
        "item_id": found.item_id,
        "what": what_of(found, lang),
        "mode": name(MODES, found.mode, lang),
        "source": found.source,
        "reason": found.reason,
        "event_id": found.event_id,
        "receipt_id": found.receipt_id,
        "record": record,
        "assignee": found.assignee,
        "opened_at": found.opened_at,
        "until": found.due_at,
        "closed_at": found.closed_at,
        "resolution": found.resolution,
    }
    return [(label(word, lang), value) for word, value in listed.items()]


def _kind_of(found: ItemRow, lang: Language) -> str:
    """The kind of the record that an incident is about, as its reason begins; "": it names none."""
    kind = found.reason.partition("_")[0]
    return name(RECORDS, kind, lang) if kind in RECORDS else ""
