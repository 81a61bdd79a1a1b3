"""Sources, accounts, health, and who saw what: for those who keep the installation going."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from flask import Blueprint, Response, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from intake import pauses
from intake.alerts.changes import Held
from intake.alerts.texts import CONDITIONS
from intake.alerts.wording import name as condition_name
from intake.console import gate, i18n, wording
from intake.console.deeds import LONGEST_REASON
from intake.console.i18n import _, format_span
from intake.console.lists import door_words, harmless, refused_since
from intake.decided import Author
from intake.desk import access, overview
from intake.desk.access import Asked
from intake.desk.tools import connection, tools

MOST_EXPORTED: Final = 100_000


def add(pages: Blueprint) -> None:
    """These pages."""
    pages.add_url_rule("/sources", "sources", sources, methods=["GET"])
    pages.add_url_rule("/accounts", "accounts", accounts, methods=["GET"])
    pages.add_url_rule(
        "/<any(sources, accounts):things>/<name>/<any(pause, resume):deed>", "steer", steer, methods=["POST"]
    )
    pages.add_url_rule("/health", "health", health, methods=["GET"])
    pages.add_url_rule("/access", "access", accesses, methods=["GET"])
    pages.add_url_rule("/access.csv", "access_csv", access_csv, methods=["GET"])


@gate.needs("see")
def sources() -> str:
    """The ways in."""
    with connection() as conn:
        ways = overview.ways(conn, tools().settings, since=refused_since())
        return render_template("sources.html", ways=ways, may=wording.may, words=door_words)


@gate.needs("see")
def accounts() -> str:
    """The CRM accounts."""
    with connection() as conn:
        found = overview.accounts(conn, tools().settings, tools().counters)
        return render_template("accounts.html", accounts=found, may=wording.may, second=second, span=span)


def second(word: str) -> str:
    """What became of a second create under one reference, when it was measured."""
    return {
        "refused": _("rechaza el segundo"),
        "adopted": _("devuelve el primero"),
        "doubled": _("crea otro"),
        "unclear": _("no quedó claro"),
    }.get(word, word)


def span(milliseconds: int) -> str:
    """Of a limit."""
    return format_span(timedelta(milliseconds=milliseconds))


@gate.needs("steer")
def steer(things: str, name: str, deed: str) -> AnyResponse:
    """Pause or resume one."""
    known = tools().settings.sources if things == "sources" else tools().settings.destinations
    if name not in known:
        abort(HTTPStatus.NOT_FOUND)
    why = request.form.get("reason", "").replace("\x00", "").strip()[:LONGEST_REASON]
    if not why:
        return redirect(url_for(f"console.{things}", done="no-reason"), HTTPStatus.SEE_OTHER)
    author = Author(gate.signed_in().operator.name, why)
    with connection() as conn:
        match things, deed:
            case "sources", "pause":
                pauses.pause_source(conn, author, name)
            case "sources", _:
                pauses.resume_source(conn, author, name)
            case _, "pause":
                pauses.pause_account(conn, author, name)
            case _:
                pauses.resume_account(conn, author, name)
    tools().hint()
    return redirect(url_for(f"console.{things}", done=deed), HTTPStatus.SEE_OTHER)


@gate.needs("see")
def health() -> str:
    """Processes, queue, and what holds."""
    with connection() as conn:
        return render_template("health.html", health=overview.health(conn), condition=condition, told=told)


def condition(name: str) -> str:
    """Its name."""
    return condition_name(name, i18n.language())


def told(held: Held) -> str:
    """What it means, and what to do."""
    text = CONDITIONS.get(held.name)
    if text is None:
        return held.name
    words = text.of(i18n.language()).replace("{count}", str(held.count)).replace("{subject}", held.subject)
    return wording.without_commands(words.replace("{since}", wording.clock(held.since)))


# --- who saw what -----------------------------------------------------------------------------------------------------


LARGEST: Final = 2**62  # of an entry's number


def _asked(limit: int) -> Asked:
    operator = request.args.get("operator", "").replace("\x00", "").strip()
    before = request.args.get("before", type=int)
    return Asked(operator or None, before=None if before is None else max(0, min(before, LARGEST)), limit=limit)


@gate.needs("audit")
def accesses() -> str:
    """The access log."""
    asked = _asked(100)
    with connection() as conn:
        rows = access.listed(conn, asked)
    ways = {"console": _("consola"), "api": "API", "cli": _("comando")}
    more = len(rows) == asked.limit
    return render_template("access.html", rows=rows, asked=asked, words=access_words, ways=ways, more=more)


@gate.needs("audit")
def access_csv() -> Response:
    """All of it; that somebody took it is noted, too."""
    with connection() as conn:
        rows = access.listed(conn, _asked(MOST_EXPORTED))
        access.note(conn, gate.viewer(), "access_log", rows=len(rows))
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(("at", "operator", "via", "what", "event_id"))
    for each in rows:
        cells = (each.at.isoformat(), each.operator, each.via, each.what, str(each.event_id or ""))
        table.writerow([harmless(cell) for cell in cells])
    answer = Response(out.getvalue(), content_type="text/csv; charset=utf-8")
    answer.headers["Content-Disposition"] = 'attachment; filename="access.csv"'
    return answer


def access_words(what: str) -> str:
    """What was seen."""
    return {
        "content": _("los datos de un evento"),
        "export": _("una lista como archivo"),
        "conflict": _("los dos contenidos de un conflicto"),
        "access_log": _("este registro como archivo"),
    }.get(what, what)
