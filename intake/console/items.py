"""Open items that are about no delivery: a conflict, side by side, a quarantine, an incident; and whose each is."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final

from flask import Blueprint, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from intake import comparing, decided, item_decisions, opened, ops, quarantine, shown, worklist
from intake.console import gate, i18n, wording
from intake.console.deeds import LONGEST_REASON
from intake.console.events import slug
from intake.console.i18n import _
from intake.decided import Author, Refused
from intake.desk import access, dossier, operators, shared_phones
from intake.desk.roles import ItemAction, resolving
from intake.desk.tools import connection, tools
from intake.explain import refusal_text
from intake.person_arrows import NotAllowed
from intake.quarantine import NotReleased
from intake.worklist import ItemRow

# What may be done with an item of each kind.
ACTIONS: Final[dict[str, tuple[ItemAction, ...]]] = {
    "conflict": ("resolve keep", "resolve accept"),
    "quarantine": ("resolve release", "resolve keep"),
    "incident": ("resolve accept",),
    "delivery": (),
}


def add(pages: Blueprint) -> None:
    """These pages."""
    pages.add_url_rule("/items/<int(max=4611686018427387904):item_id>", "item", show, methods=["GET"])
    pages.add_url_rule("/items/<int(max=4611686018427387904):item_id>/data", "item_data", show_data, methods=["POST"])
    pages.add_url_rule("/items/<int(max=4611686018427387904):item_id>/resolve", "resolve", resolve, methods=["POST"])
    pages.add_url_rule("/items/<int(max=4611686018427387904):item_id>/assign", "assign", assign, methods=["POST"])


def found(item_id: int) -> ItemRow:
    """The item of this page, or 404."""
    with connection() as conn:
        return worklist.item(conn, item_id) or abort(HTTPStatus.NOT_FOUND)


@gate.needs("see")
def show(item_id: int) -> str | Response:
    """The item; one of a delivery is shown with its event."""
    item = found(item_id)
    if item.kind == "delivery" and item.event_id is not None:
        return redirect(url_for("console.event", event_id=item.event_id))
    with connection() as conn:
        shown.item(conn, item_id, operator=gate.signed_in().operator.name)
        if opened.item(conn, item):
            tools().hint()
    return _page(item)


def _page(item: ItemRow, told: str = "", *, unmasked: bool = False) -> str:
    with connection() as conn:
        people = [each.name for each in operators.everybody(conn) if each.disabled_at is None and each.may("work")]
        sides = comparing.compare(conn, tools().settings, item, unmasked=unmasked)
        event = ops.event(conn, item.event_id) if item.kind == "incident" and item.event_id else None
        namesakes = shared_phones.namesakes(conn, event) if event else []
        standing = dossier.standing(conn, tools().settings, decided.view(conn, item.event_id)) if item.event_id else []
    rows = sorted(sides.fields, key=lambda each: not each.differs) if sides else []
    return render_template(
        "item.html", item=item, sides=sides, rows=rows, unmasked=unmasked, told=told, actions=ACTIONS[item.kind],
        people=people, may=wording.may, may_resolve=may_resolve, form=request.form, namesakes=namesakes,
        standing=[each for each in standing if each.page],
    )  # fmt: skip


# --- a conflict, side by side -----------------------------------------------------------------------------------------


@gate.needs("data")
def show_data(item_id: int) -> str:
    """Both contents, unmasked; who saw them is noted first."""
    item = found(item_id)
    if item.kind != "conflict" or item.event_id is None:
        abort(HTTPStatus.NOT_FOUND)
    with connection() as conn:
        access.note(conn, gate.viewer(), "conflict", item.event_id, item=item_id)
    return _page(item, unmasked=True)


# --- deciding ---------------------------------------------------------------------------------------------------------


@gate.needs("work")
def resolve(item_id: int) -> Response | str:
    """Close it, one way or the other."""
    item = found(item_id)
    deed = next((each for each in ACTIONS[item.kind] if each == request.form.get("deed")), None)
    if deed is None:
        abort(HTTPStatus.BAD_REQUEST)
    if not may_resolve(item, deed):
        abort(HTTPStatus.FORBIDDEN)
    author = Author(gate.signed_in().operator.name, _reason())
    if not author.reason:
        return _page(item, _("Diga por qué; queda escrito para siempre."))
    told = _resolved(item, deed, author)
    if told:
        return _page(item, told)
    tools().hint()
    done = slug(deed)
    target = url_for("console.inbox", which="decide", done=done)
    if item.event_id:
        target = url_for("console.event", event_id=item.event_id, done=done)
    return redirect(target, HTTPStatus.SEE_OTHER)


def may_resolve(item: ItemRow, deed: ItemAction) -> bool:
    """Whether the reader's role allows it."""
    return gate.signed_in().operator.may(resolving(deed, item.kind))


def _reason() -> str:
    return request.form.get("reason", "").replace("\x00", "").strip()[:LONGEST_REASON]


def _resolved(item: ItemRow, deed: ItemAction, author: Author) -> str:
    """Why it was not, in words; "": it was."""
    settings = tools().settings
    with connection() as conn:
        try:
            if deed == "resolve release":
                done = quarantine.release(conn, settings, item.item_id, quarantine.Releaser(author.by, author.reason))
                left = done.left
                return _("Sigue sin poder leerse: %(why)s", why=wording.reason(left.reason)) if left else ""
            resolution: item_decisions.Resolution = "keep" if deed == "resolve keep" else "accept"
            item_decisions.resolve(conn, author, item.item_id, resolution, settings)
        except Refused as refused:
            return wording.without_commands(refusal_text(refused.why, refused.state, i18n.language()))
        except NotAllowed:
            return _("Mientras tanto cambió: alguien, o un worker, fue más rápido. Mírelo otra vez.")
        except NotReleased as left:
            return _("Sigue sin poder leerse: %(why)s", why=wording.reason(left.why))
    return ""


@gate.needs("work")
def assign(item_id: int) -> Response | str:
    """Take it, or give it to somebody."""
    item = found(item_id)
    own = gate.signed_in().operator.name
    assignee = request.form.get("assignee", "").strip() or own
    author = Author(own, _reason() or _("Asignado en la consola."))
    with connection() as conn:
        person = operators.find(conn, assignee)
        if person is None or person.disabled_at is not None:
            return _page(item, _("No hay nadie con ese nombre."))
        try:
            item_decisions.assign(conn, author, item_id, assignee, due_at=_due(request.form.get("due", "")))
        except Refused as refused:
            return _page(item, refusal_text(refused.why, refused.state, i18n.language()))
    return redirect(_back(item), HTTPStatus.SEE_OTHER)


def _back(item: ItemRow) -> str:
    if item.kind == "delivery" and item.event_id is not None:
        return url_for("console.event", event_id=item.event_id, done="assign")
    return url_for("console.item", item_id=item.item_id, done="assign")


def _due(text: str) -> datetime | None:
    """A local time as browsers send one; None: as it was."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=tools().settings.timezone)).astimezone(UTC)
