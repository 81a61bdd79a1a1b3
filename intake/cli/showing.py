"""The parts of one event as people read them, in one language from the first line to the last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import click

from intake import (
    carried,
    comparing,
    contact_choice,
    content_fields,
    decided,
    fetches,
    masked,
    missing_secrets,
    record_pages,
    remaking,
    revisions,
    trail,
    worklist,
)
from intake import explain as explaining
from intake.cli import place
from intake.cli.output import facts, heading, paragraph, table
from intake.comparing import Comparison
from intake.content_fields import Field
from intake.db import Conn
from intake.explain import Clock, Explanation, reason_text
from intake.heartbeats import lacking
from intake.ops import EventRow
from intake.permitted import WHICH_CONTACT
from intake.reading_texts import rule
from intake.reason_texts import Language, Text
from intake.shown_names import KINDS, MODES, OUTCOMES, RECORDS, STAGES, STATES, STEPS, label, name
from intake.trail import AttemptRow, DecisionRow, Move

Line = tuple[str, object]


# --- what it is -------------------------------------------------------------------------------------------------------


def event_lines(conn: Conn, event: EventRow, lang: Language) -> list[Line]:
    """Names and values of an event, its records among them."""
    content = revisions.named(conn, event.event_id)
    told = content and (content.fingerprint or UNREADABLE["own"].of(lang))
    found: dict[str, object] = {
        "event_id": event.event_id,
        "mode": name(MODES, event.mode, lang),
        "source": event.source,
        "kind": name(KINDS, event.kind, lang),
        "person": masked.contacts(conn, [event.event_id]).get(event.event_id),
        "request_id": event.request_id,
        "version": event.version,
        "need": event.need,
        "state": f"{name(STATES, event.state, lang)} ({event.state})",
        "received_at": event.received_at,
        "due_at": event.due_at,
        "open_item": event.open_item,
        "content": content and f"{label('revision', lang)} {content.revision} ({told})",
        "carried_by": carried.carrier_of(conn, event.event_id),
        "reissue_of": remaking.reissue_of(conn, event.event_id),
    }
    made = [(each.event_id, each.state) for each in remaking.reissues(conn, event.event_id)]
    return [
        *((label(word, lang), value) for word, value in found.items()),
        *_records(conn, event, lang),
        *((label("reissued_as", lang), f"{event_id} ({name(STATES, state, lang)})") for event_id, state in made),
    ]


def pages_of(conn: Conn, event: EventRow) -> dict[str, str]:
    """Where people see its records in the CRM, by kind."""
    return record_pages.read(conn, place.settings()).of_records(trail.records(conn, event.event_id))


def _records(conn: Conn, event: EventRow, lang: Language) -> list[Line]:
    """Each with its id in the CRM, the reference that it bears there, and its page where that is known."""
    pages = pages_of(conn, event)
    rows = (
        ("contact", event.contact_id, event.contact_ref),
        ("opportunity", event.opportunity_id, event.opportunity_ref),
        ("task", event.task_id, event.task_ref),
        ("note", event.note_id, event.note_ref),
    )
    return [
        (name(RECORDS, kind, lang), f"{crm_id or '-'} ({reference})\n{pages.get(kind, '')}".rstrip())
        for kind, crm_id, reference in rows
        if reference
    ]


# --- what was done ----------------------------------------------------------------------------------------------------


def attempts(rows: Sequence[AttemptRow], lang: Language) -> None:
    """Each request to the CRM."""
    if not rows:
        return
    heading(label("attempts", lang))
    table([label(word, lang) for word in ("at", "record", "step", "stage", "outcome")], [
        (each.prepared_at, name(RECORDS, each.record, lang), name(STEPS, each.action, lang),
         name(STAGES, each.stage, lang), _outcome(each, lang))
        for each in rows
    ])  # fmt: skip


def _outcome(attempt: AttemptRow, lang: Language) -> str:
    told = name(OUTCOMES, attempt.outcome, lang)
    if not attempt.reason or attempt.outcome in {"confirmed", "found", "absent"}:
        return told
    return f"{told}: {reason_text(attempt.reason, lang)}"


def history(rows: Sequence[Move], lang: Language) -> None:
    """Every arrow that its deliveries took."""
    heading(label("history", lang))
    table([label(word, lang) for word in ("at", "from", "to", "reason")], [
        (each.at, name(STATES, each.from_state, lang), name(STATES, each.to_state, lang),
         each.reason and reason_text(each.reason, lang))
        for each in rows
    ], last=True)  # fmt: skip


def decisions(rows: Sequence[DecisionRow], lang: Language) -> None:
    """What people decided."""
    if rows:
        heading(label("decisions", lang))
        cells = [(each.at, each.author, each.action, each.reason) for each in rows]
        table([label(word, lang) for word in ("at", "by", "action", "reason")], cells)


def fetched(conn: Conn, event: EventRow) -> None:
    """What was, or is still to be, read at the sender's service."""
    for each in fetches.of_event(conn, event.event_id):
        paragraph(each.told)


# --- contents ---------------------------------------------------------------------------------------------------------

UNREADABLE = {
    "own": Text("no se puede leer", "cannot be read"),
    "first": Text("El primero ya fue borrado.", "The first one was purged."),
    "other": Text("El otro ya no se puede leer, o fue borrado.", "The other one can be read no more, or was purged."),
}
MASKED = Text(
    "Los datos personales van ocultos; `--data --by QUIÉN` los muestra, y queda anotado quién los vio.",
    "Personal data is masked; `--data --by WHO` shows it, and who saw it is kept.")  # fmt: skip


def comparison(compared: Comparison, lang: Language, *, unmasked: bool) -> None:
    """Both contents of a conflict; what differs is marked."""
    for side, readable in (("first", compared.first_readable), ("other", compared.other_readable)):
        if not readable:
            paragraph(UNREADABLE[side].of(lang))
    table(["", *(label(word, lang) for word in ("field", "first", "other"))], [
        ("≠" if each.differs else " ", each.name, each.first, each.other) for each in compared.fields
    ])  # fmt: skip
    if not unmasked:
        paragraph(MASKED.of(lang))


def content(conn: Conn, event: EventRow) -> list[Field]:
    """The newest content, field by field; [] once it was purged, or where it cannot be read."""
    lead = revisions.legible(conn, event.event_id)
    return content_fields.fields_of(lead) if lead else []


def compared_of(conn: Conn, event: EventRow, *, unmasked: bool) -> list[Comparison]:
    """The open conflicts of an event, with both contents each."""
    found = worklist.of_event(conn, event.event_id)
    made = (comparing.compare(conn, place.settings(), each, unmasked=unmasked) for each in found)
    return [each for each in made if each is not None]


# --- why --------------------------------------------------------------------------------------------------------------


def told_of(conn: Conn, event: EventRow, lang: Language) -> Explanation:
    """The explanation, which also knows which destinations can be delivered to, by the running workers' word."""
    settings = place.settings()
    closed = missing_secrets.closed(settings, lacking(conn))
    can = {destination for destination in settings.destinations if f"destination {destination}" not in closed}
    clock = Clock(datetime.now(UTC), place.timezone())  # like every other time in the output
    return explaining.explain(decided.view_of(conn, event), lang, open_destinations=can, clock=clock)


def differences_of(conn: Conn, event: EventRow, lang: Language) -> list[str]:
    """Where this shell and the running processes do not have the same secrets, of what this event rests on."""
    found = missing_secrets.differences(place.settings(), lacking(conn), lang)
    destination = decided.view_of(conn, event).destination
    return [*found.get(f"source {event.source}", []), *found.get(f"destination {destination}", [])]


CHOOSE = Text(
    "Coinciden estos contactos del CRM: {ids}.", "These contacts of the CRM match: {ids}.")  # fmt: skip


def contacts_of(conn: Conn, event: EventRow) -> list[str]:
    """The contacts among which somebody must choose; [] where nobody must."""
    if event.reason not in WHICH_CONTACT:
        return []
    return contact_choice.choices(conn, decided.view_of(conn, event))


def explanation(conn: Conn, event: EventRow, lang: Language) -> None:
    """Where it stands, why, what comes next, and what is safe."""
    told = told_of(conn, event, lang)
    heading(f"{name(STATES, event.state, lang)} ({event.state}{': ' + event.reason if event.reason else ''})")
    for text in (told.where, told.why, told.then, *differences_of(conn, event, lang)):
        if text:
            paragraph(text)
    choices = contacts_of(conn, event)
    if choices:
        paragraph(CHOOSE.of(lang).replace("{ids}", ", ".join(choices)))
    refused_fields(told.fields, lang)
    heading(label("actions", lang))
    allowed_first = sorted(told.safe_actions, key=lambda each: not each.allowed)
    rows = [(each.action, label("yes" if each.allowed else "no", lang), each.why) for each in allowed_first]
    table(("", "", ""), rows, last=True)


def refused_fields(fields: Mapping[str, str], lang: Language) -> None:
    """Which fields were refused, and by which rule."""
    if fields:
        heading(label("fields", lang))
        table(
            [label(word, lang) for word in ("field", "rule")],
            [(each, rule(said, lang)) for each, said in fields.items()],
        )


def echo_fields(fields: Sequence[Field], lang: Language) -> None:
    """A content, unmasked."""
    heading(label("data", lang))
    facts((each.name, each.value) for each in fields)
    if not fields:
        click.echo("-")
