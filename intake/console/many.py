"""One decision about many events: counted and told in numbers first, then begun, with what became of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final
from uuid import UUID

from flask import Blueprint, abort, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from intake import bulk, masked
from intake.bulk import BULK_ACTIONS, BulkAction, Filter, OtherContent, OtherNumber, Seen
from intake.bulk_texts import does, result_text
from intake.console import gate, i18n
from intake.console.deeds import LONGEST_REASON, consequence
from intake.console.i18n import _
from intake.db import Conn
from intake.decided import Author
from intake.desk import many
from intake.desk.many import Desk, Wish
from intake.desk.roles import deciding_many
from intake.desk.tools import connection, tools
from intake.ops import STATES

PAGE: Final = 100
# How often the page of a run that goes on is read again, in seconds.
AGAIN_AFTER: Final = 3


def add(pages: Blueprint) -> None:
    """These pages."""
    run = "/many/<int(max=4611686018427387904):bulk_id>"
    pages.add_url_rule("/many", "runs", runs, methods=["GET"])
    pages.add_url_rule("/many/new", "ask_many", ask, methods=["GET"])
    pages.add_url_rule("/many/new", "decide_many", decide, methods=["POST"])
    pages.add_url_rule(run, "run", show, methods=["GET"])
    pages.add_url_rule(f"{run}/stop", "stop_run", stop, methods=["POST"])
    pages.add_url_rule(f"{run}/go", "go_on_with_run", go_on, methods=["POST"])


def may_many(action: BulkAction) -> bool:
    """Whether the reader's role allows it."""
    return gate.signed_in().operator.may(deciding_many(action))


# --- what would follow ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """What stands in the address, or in the form.  `action` None: none that is known."""

    action: BulkAction | None
    wanted: Filter
    given: Mapping[str, str]


NAMES: Final = ("action", "state", "source", "since", "cause")


def _asked() -> Asked:
    """What cannot be read is refused: without it more events would be meant."""
    given = {name: request.values.get(name, "").replace("\x00", "").strip()[:200] for name in NAMES}
    since = _moment(given["since"])
    if given["state"] not in {"", *STATES} or (given["since"] and since is None):
        abort(HTTPStatus.BAD_REQUEST)
    wanted = Filter(
        state=given["state"] or None, source=given["source"] or None, since=since, cause=given["cause"] or None
    )
    return Asked(next((each for each in BULK_ACTIONS if each == given["action"]), None), wanted, given)


def _moment(text: str) -> datetime | None:
    """A local time as browsers send one; None: none that can be read."""
    try:
        read = datetime.fromisoformat(text)
        return (read if read.tzinfo else read.replace(tzinfo=tools().settings.timezone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@gate.needs("work")
def ask() -> Response:
    """Which, how many, and what would follow."""
    return _page(_asked(), "", HTTPStatus.OK)


def _page(asked: Asked, problem: str, status: HTTPStatus) -> Response:
    """Without a filter nothing is counted: it would mean everything."""
    if asked.action is not None and not may_many(asked.action):
        abort(HTTPStatus.FORBIDDEN)
    with connection() as conn:
        meant = None if asked.wanted.is_empty else many.meant(conn, asked.wanted, i18n.language())
    page = render_template(
        "many.html", asked=asked, meant=meant, problem=problem, does=told(asked.action), states=STATES,
        fit=meant.fit(asked.action) if meant and asked.action else None,
        actions=[each for each in BULK_ACTIONS if may_many(each)], sources=sorted(tools().settings.sources),
    )  # fmt: skip
    return make_response(page, status)


def told(action: BulkAction | None) -> str:
    """What it does with each, and what cannot be taken back."""
    if action is None:
        return ""
    after = _("Nada se crea dos veces.") if action == "replay" else consequence(action)
    return f"{does(action, i18n.language())} {after}"


# --- doing it ---------------------------------------------------------------------------------------------------------


@gate.needs("work")
def decide() -> Response:
    """Begin it, if what matches is what was seen."""
    asked = _asked()
    why = request.form.get("reason", "").replace("\x00", "").strip()[:LONGEST_REASON]
    expected = request.form.get("expected", type=int)
    seen = request.form.get("seen", "")
    if asked.action is None or asked.wanted.is_empty or expected is None or not seen:
        return _page(asked, _("Diga qué hacer, y con cuáles."), HTTPStatus.UNPROCESSABLE_ENTITY)
    if not may_many(asked.action):
        abort(HTTPStatus.FORBIDDEN)
    if not why:
        return _page(asked, _("Diga por qué; queda escrito para siempre."), HTTPStatus.UNPROCESSABLE_ENTITY)
    author = Author(gate.signed_in().operator.name, why)
    try:
        with connection() as conn:
            bulk_id = _desk(conn).begin(author, Wish(asked.action, asked.wanted, Seen(expected, seen)))
    except OtherNumber as other:
        told_ = _("Mientras tanto son %(now)s y no %(before)s. Mírelo otra vez.", now=other.events, before=expected)
        return _page(asked, told_, HTTPStatus.CONFLICT)
    except OtherContent:
        changed = _("Mientras tanto son otros, o alguno dice otra cosa. Mírelos otra vez.")
        return _page(asked, changed, HTTPStatus.CONFLICT)
    return redirect(url_for("console.run", bulk_id=bulk_id), HTTPStatus.SEE_OTHER)


def _desk(conn: Conn) -> Desk:
    return Desk(conn, tools().settings, tools().hint)


# --- what became of each ----------------------------------------------------------------------------------------------


@gate.needs("see")
def runs() -> str:
    """The latest."""
    with connection() as conn:
        return render_template("runs.html", runs=bulk.runs(conn), may_many=may_many)


def found(bulk_id: int) -> bulk.Run:
    """The run of this page, or 404."""
    with connection() as conn:
        return bulk.run(conn, bulk_id) or abort(HTTPStatus.NOT_FOUND)


@gate.needs("see")
def show(bulk_id: int) -> str:
    """How far it is, and what became of each."""
    run = found(bulk_id)
    with connection() as conn:
        page = many.results(conn, bulk_id, request.args.get("after", type=UUID), PAGE)
        people = masked.contacts(conn, list(page.results))
        tally = {result_text(word, i18n.language()): events for word, events in bulk.tally(conn, bulk_id).items()}
    return render_template(
        "run.html", run=run, page=page, people=people, tally=tally, again_after=AGAIN_AFTER,
        result_text=lambda word: result_text(word, i18n.language()), may_go=may_many(_action(run)),
    )  # fmt: skip


def _action(run: bulk.Run) -> BulkAction:
    return next((each for each in BULK_ACTIONS if each == run.action), "approve")  # an unknown one needs the most


@gate.needs("work")
def stop(bulk_id: int) -> Response:
    """What is not decided yet stays as it is."""
    found(bulk_id)
    with connection() as conn:
        bulk.stop(conn, bulk_id)
    return redirect(url_for("console.run", bulk_id=bulk_id), HTTPStatus.SEE_OTHER)


@gate.needs("work")
def go_on(bulk_id: int) -> Response:
    """After a stop."""
    if not may_many(_action(found(bulk_id))):
        abort(HTTPStatus.FORBIDDEN)
    with connection() as conn:
        _desk(conn).go_on(bulk_id)
    return redirect(url_for("console.run", bulk_id=bulk_id), HTTPStatus.SEE_OTHER)
