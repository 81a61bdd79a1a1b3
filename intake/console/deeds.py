"""Deciding about an event: a page that says what will follow and asks why, then the decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, get_args
from uuid import UUID

from flask import Blueprint, abort, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from intake import permitted, revisions
from intake.console import events, gate, i18n, wording
from intake.console.i18n import _
from intake.decided import Author, Refused
from intake.desk import access, corrected, not_in_crm
from intake.desk.acting import Decider, EventDeed, NotInCrm, NotReadYet, Wish
from intake.desk.tools import connection, tools
from intake.explain import refusal_text
from intake.lead_schema import InvalidCorrection
from intake.person_arrows import NotAllowed
from intake.records import RecordKind

ALL: Final[tuple[EventDeed, ...]] = (*permitted.ACTIONS, "not spam")
DEEDS: Final[Mapping[str, EventDeed]] = {events.slug(each): each for each in ALL}

# How long a decision waits for the CRM's word, in seconds; then a page asks to go on.
PATIENCE: Final = 1.5

LONGEST_REASON: Final = 1000  # characters


def add(pages: Blueprint) -> None:
    """These pages."""
    pages.add_url_rule("/events/<uuid:event_id>/<deed>", "ask", ask, methods=["GET"])
    pages.add_url_rule("/events/<uuid:event_id>/<deed>", "decide", decide, methods=["POST"])


@dataclass(frozen=True, slots=True)
class Problem:
    """Why nothing was decided.  `fields`: of the form, and the rule that each breaks.  `waits`: make it again."""

    text: str
    fields: Mapping[str, str]
    status: HTTPStatus = HTTPStatus.CONFLICT
    waits: bool = False


NONE: Final = Problem("", {}, HTTPStatus.OK)


def _named(deed: str) -> EventDeed:
    named = DEEDS.get(deed)
    if named is None:
        abort(HTTPStatus.NOT_FOUND)
    if not wording.may(named):
        abort(HTTPStatus.FORBIDDEN)
    return named


@gate.needs("work")
def ask(event_id: UUID, deed: str) -> Response:
    """What will follow, and the form."""
    return _page(event_id, _named(deed), NONE)


def _page(event_id: UUID, deed: EventDeed, problem: Problem) -> Response:
    read = events.found(event_id)
    judged = next((each for each in read.told.safe_actions if each.action == deed), None)
    fields = _fields(event_id) if deed == "correct" else {}
    page = render_template(
        "deed.html", read=read, deed=deed, judged=judged, problem=problem, fields=fields, form=request.form,
        slug=events.slug, kinds=get_args(RecordKind), consequence=consequence(deed),
    )  # fmt: skip
    return make_response(page, problem.status)


def _fields(event_id: UUID) -> Mapping[str, str]:
    """What stands there now: it is shown, so it is noted."""
    with connection() as conn:
        newest = revisions.newest(conn, event_id)
        if newest is None or newest.lead is None:
            return {}
        access.note(conn, gate.viewer(), "content", event_id, form="correct")
        shown = corrected.values(newest.lead)
    return {name: request.form.get(name, value) for name, value in shown.items()}


def consequence(deed: EventDeed) -> str:
    """What cannot be taken back, and what stays as it is."""
    return {
        "look": _("Solo lee. Puede repetirse sin riesgo."),
        "settle applied": _("Se lee el registro en el CRM antes de creerlo; después no se puede cambiar por otro."),
        "settle not-applied": _("Si el registro sí existe y la búsqueda no lo ve, podría crearse otro."),
        "settle contact": _("Lo que llegue después de esta persona irá también a ese contacto."),
        "settle note": _("La oportunidad sigue cerrada; la nota queda en ella."),
        "settle new": _("Los mensajes siguientes de la conversación irán a la oportunidad nueva."),
        "correct": _("Lo que llegó se conserva junto a la corrección."),
        "revive": _("Puede repetirse sin riesgo: lo que ya existe no se crea otra vez."),
        "approve": _("Se entrega enseguida; después de eso está en el CRM."),
        "decline": _("No se puede deshacer; para entregarlo después hay que duplicarlo a propósito."),
        "cancel": _("No se puede deshacer; para entregarlo después hay que duplicarlo a propósito."),
        "redeliver": _("Se crea de nuevo solo lo que el CRM ya no muestra, con una referencia nueva."),
        "reissue": _("Habrá dos oportunidades en el CRM con el mismo contenido."),
        "spam": _("Puede deshacerse para lo que llegue después; lo cancelado sigue cancelado."),
        "not spam": _("Lo que llegue después de esta persona se entrega como siempre; lo cancelado sigue cancelado."),
    }[deed]


@gate.needs("work")
def decide(event_id: UUID, deed: str) -> Response:
    """Do it, and show the event again."""
    named = _named(deed)
    why = request.form.get("reason", "").replace("\x00", "").strip()[:LONGEST_REASON]
    if not why:
        rule = {"reason": _("Diga por qué; queda escrito para siempre.")}
        return _page(event_id, named, Problem("", rule, HTTPStatus.UNPROCESSABLE_ENTITY))
    author = Author(gate.signed_in().operator.name, why)
    try:
        with connection() as conn:
            decider = Decider(conn, tools().settings, author, tools().hint, PATIENCE)
            done = decider.act(event_id, named, _wish(event_id, named))
    except LookupError:
        abort(HTTPStatus.NOT_FOUND)
    except (Refused, NotAllowed, NotInCrm, NotReadYet, InvalidCorrection) as refused:
        return _page(event_id, named, problem_of(refused))
    target = url_for("console.event", event_id=done.new_event or event_id, done=events.slug(named))
    return redirect(target, HTTPStatus.SEE_OTHER)


def _wish(event_id: UUID, deed: EventDeed) -> Wish:
    form = request.form
    if deed == "correct":
        return Wish(fields=_changed(event_id))
    record = next((each for each in get_args(RecordKind) if each == form.get("record")), None)
    return Wish(
        crm_id=form.get("crm_id", "").replace("\x00", "").strip()[:200],
        record=record,
        unverified=form.get("unverified") == "yes",
        revision=form.get("revision", type=int),
        fingerprint=form.get("fingerprint") or None,
    )


def _changed(event_id: UUID) -> Mapping[str, str]:
    """What was typed over; what was left alone is no correction."""
    with connection() as conn:
        newest = revisions.newest(conn, event_id)
    before = corrected.values(newest.lead) if newest is not None and newest.lead is not None else {}
    typed = {name: request.form[name].replace("\r\n", "\n") for name in corrected.FIELDS if name in request.form}
    return {name: value for name, value in typed.items() if value.strip() != before.get(name, "").strip()}


Problematic = Refused | NotAllowed | NotInCrm | NotReadYet | InvalidCorrection


def problem_of(refused: Problematic) -> Problem:
    """Why it was not done, in words."""
    match refused:
        case Refused():
            return Problem(wording.without_commands(refusal_text(refused.why, refused.state, i18n.language())), {})
        case NotAllowed():
            return Problem(_("Mientras tanto cambió: alguien, o un worker, fue más rápido. Mírelo otra vez."), {})
        case NotReadYet():
            return Problem(_("Se está leyendo en el CRM; continúe en un momento."), {}, HTTPStatus.OK, waits=True)
        case NotInCrm():
            return Problem(not_in_crm.told(refused, i18n.language()), {})
        case InvalidCorrection():
            rules = {name: corrected.rule(rule, i18n.language()) for name, rule in refused.fields.items()}
            return Problem("", rules, HTTPStatus.UNPROCESSABLE_ENTITY)
