"""The inbox: four questions, each a list, and one of everything; as pages and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from http import HTTPStatus
from typing import Final, get_args
from uuid import UUID

from flask import Blueprint, Response, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from intake import masked
from intake.console import gate, i18n, wording
from intake.console.i18n import _, format_datetime
from intake.console.many import may_many
from intake.db import Conn
from intake.desk import access, at_door, inbox, many, operators, searching
from intake.desk.inbox import LISTS, STATES, Filter, List, Page, Row
from intake.desk.searching import LOOKED_THROUGH
from intake.desk.tools import connection, tools
from intake.door_texts import REFUSED
from intake.ops import BadCursor
from intake.sources.base import SourceKind
from intake.worklist import KINDS

# More is for a report, not for a browser.
MOST_EXPORTED: Final = 5000
# How often the first page of a list is brought up to date, in seconds; later ones stand still.
LIVE_EVERY: Final = 15

# What a spreadsheet would run: https://owasp.org/www-community/attacks/CSV_Injection (2026-11-29).
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


def add(pages: Blueprint) -> None:
    """These pages."""
    pages.add_url_rule("/", "home", home, methods=["GET"])
    pages.add_url_rule("", "bare", home, methods=["GET"])
    pages.add_url_rule("/inbox/<which>", "inbox", show, methods=["GET"])
    pages.add_url_rule("/inbox/<which>.csv", "export", export, methods=["GET"])
    pages.add_url_rule("/refused", "refused", refused, methods=["GET"])


@gate.needs("see")
def home() -> AnyResponse:
    """The first question of the day."""
    return redirect(url_for("console.inbox", which="decide"))


@gate.needs("see")
def show(which: str) -> str:
    """One list."""
    named = _named(which)
    with connection() as conn:
        wanted, is_cut = _wanted(conn, named)
        found = _page(conn, named, wanted)
        people = masked.contacts(conn, [row.event_id for row in found.rows if row.event_id])
        counted = inbox.counts(conn, midnight=tools().midnight)
        names = [each.name for each in operators.everybody(conn) if each.disabled_at is None and each.may("work")]
        shared = (many.causes(conn), many.held(conn)) if named == "decide" and not _given() else ([], [])
    return render_template(
        "inbox.html", which=named, page=found, people=people, counts=counted, given=_given(),
        causes=shared[0], held=shared[1], may_many=may_many,
        dated=named in DATED, live=None if "cursor" in _given() else LIVE_EVERY,
        filters=_filters(named, names), next=_next(named, found), looked_through=LOOKED_THROUGH if is_cut else None,
        filtered=any(value for key, value in _given().items() if key != "cursor"),
    )  # fmt: skip


def _named(which: str) -> List:
    named = next((each for each in LISTS if each == which), None)
    return named or abort(HTTPStatus.NOT_FOUND)


def _page(conn: Conn, which: List, wanted: Filter) -> Page:
    try:
        return inbox.page(conn, which, wanted, midnight=tools().midnight)
    except BadCursor:
        abort(HTTPStatus.BAD_REQUEST)


# --- what was asked for ---------------------------------------------------------------------------------------------

ASKED: Final = (
    "q", "source", "kind", "state", "reason", "item", "assignee", "destination", "mode", "since", "until", "cursor",
)  # fmt: skip
# Today is a day already.
DATED: Final[frozenset[List]] = frozenset({"decide", "moving", "all"})


def _given() -> dict[str, str]:
    """What stands in the address, and says something."""
    given = {name: request.args.get(name, "").replace("\x00", "").strip()[:200] for name in ASKED}
    return {name: value for name, value in given.items() if value}


def _wanted(conn: Conn, which: List) -> tuple[Filter, bool]:
    """And whether the list was longer than what a search looks through."""
    given = _given()
    wanted = _filtered(given)
    if "q" not in given:
        return wanted, False
    if tools().rates.wait("search", gate.signed_in().operator.name, searching.PER_MINUTE):
        abort(HTTPStatus.TOO_MANY_REQUESTS)
    found = searching.find(conn, given["q"], tools().settings.region)
    if found:
        return replace(wanted, events=found), False
    first = replace(wanted, cursor=None, limit=LOOKED_THROUGH)
    listed = inbox.events(conn, which, first, midnight=tools().midnight)
    return replace(wanted, events=searching.among(conn, given["q"], listed)), len(listed) > LOOKED_THROUGH


def _filtered(given: Mapping[str, str]) -> Filter:
    assignee = given.get("assignee")
    return Filter(
        source=given.get("source"),
        kind=given.get("kind"),
        state=given.get("state"),
        item_kind=given.get("item"),
        assignee=gate.signed_in().operator.name if assignee == "me" else assignee,
        mode=given.get("mode"),
        cursor=given.get("cursor"),
        reason=given.get("reason"),
        since=_midnight(given.get("since")),
        until=_midnight(given.get("until"), after=timedelta(days=1)),
        destination=given.get("destination"),
    )


def _midnight(day: str | None, *, after: timedelta = timedelta()) -> datetime | None:
    """When a day begins, where the company is.  A day that is none is refused: without it the list would be another."""
    if day is None:
        return None
    try:
        return datetime.combine(date.fromisoformat(day) + after, time(), tools().settings.timezone)
    except (ValueError, OverflowError):
        abort(HTTPStatus.BAD_REQUEST)


Choices = list[tuple[str, str]]


def _filters(which: List, names: list[str]) -> list[tuple[str, str, Choices]]:
    """Name, label and choices of each filter that a list has."""
    sources: Choices = [(name, name) for name in sorted(tools().settings.sources)]
    kinds: Choices = [(each, wording.kind(each)) for each in get_args(SourceKind)]
    states: Choices = [(each, wording.state(each)) for each in STATES]
    items: Choices = [(each, wording.item_kind(each)) for each in KINDS]
    people: Choices = [("me", _("Míos")), ("-", _("De nadie")), *((name, name) for name in names)]
    modes: Choices = [("live", _("Reales")), ("test", _("De prueba"))]
    crms: Choices = [(name, name) for name in sorted(tools().settings.destinations)]
    crm = [("destination", _("CRM"), crms)] if len(crms) > 1 else []
    every = {
        "decide": [("item", _("Qué es"), items), ("assignee", _("Responsable"), people), *crm],
        "moving": crm,
        "today": crm,
        "all": [("state", _("Estado"), states), *crm],
    }[which]
    return [*every, ("source", _("Fuente"), sources), ("kind", _("Canal"), kinds), ("mode", _("Modo"), modes)]


def _next(which: List, found: Page) -> str | None:
    if found.next_cursor is None:
        return None
    given = _given() | {"cursor": found.next_cursor}
    return url_for("console.inbox", which=which, **given)  # type: ignore[arg-type]  # texts, all of them


# --- CSV ------------------------------------------------------------------------------------------------------------


@gate.needs("data")
def export(which: str) -> Response:
    """The list as it is filtered, people masked."""
    named = _named(which)
    with connection() as conn:
        found = _page(conn, named, replace(_wanted(conn, named)[0], cursor=None, limit=MOST_EXPORTED))
        people = masked.contacts(conn, [row.event_id for row in found.rows if row.event_id])
        access.note(conn, gate.viewer(), "export", list=named, rows=len(found.rows))
    answer = Response(as_csv(found.rows, people), content_type="text/csv; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="{named}.csv"'
    return answer


def as_csv(rows: tuple[Row, ...], people: Mapping[UUID, str]) -> str:
    """With a byte order mark, by which spreadsheets know UTF-8."""
    out = io.StringIO()
    out.write("\ufeff")
    table = csv.writer(out)
    table.writerow([
        _("hora"), _("fuente"), _("canal"), _("contacto"), _("estado"), _("motivo"), _("contacto en CRM"),
        _("oportunidad"), _("tarea o nota"), _("responsable"), _("vence"), _("evento"),
    ])  # fmt: skip
    for row in rows:
        table.writerow([harmless(each) for each in _cells(row, people)])
    return out.getvalue()


def _cells(row: Row, people: Mapping[UUID, str]) -> list[str]:
    return [
        format_datetime(row.at, "yyyy-MM-dd HH:mm:ss"),
        row.source or "",
        wording.kind(row.kind),
        people.get(row.event_id, "") if row.event_id else "",
        wording.state(row.state) or wording.item_kind(row.item_kind or ""),
        wording.reason(row.reason),
        wording.mark(row.contact),
        wording.mark(row.opportunity),
        wording.mark(row.third),
        row.assignee or "",
        format_datetime(row.due_at, "yyyy-MM-dd HH:mm") if row.due_at else "",
        str(row.event_id or ""),
    ]


def harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


# --- refused at the door --------------------------------------------------------------------------------------------


@gate.needs("see")
def refused() -> str:
    """What was not let in, by source and reason."""
    since = refused_since()
    source = _given().get("source")
    with connection() as conn:
        rows = at_door.refused(conn, since=since, source=source)
        kept = at_door.kept(conn, since=since)
        counted = inbox.counts(conn, midnight=tools().midnight)
    return render_template("refused_list.html", which="refused", rows=rows, kept=kept, counts=counted, words=door_words)


def refused_since() -> datetime:
    """From when refusals are shown."""
    return tools().midnight - timedelta(days=at_door.DAYS - 1)


def door_words(reason: str) -> str:
    """Why the door refused, in words."""
    text = REFUSED.get(reason)
    return text.of(i18n.language()) if text else reason
