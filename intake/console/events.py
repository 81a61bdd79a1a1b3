"""One event: its sentence, its story, its records, what may be done, and, on demand, what it says."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Final
from uuid import UUID

from flask import Blueprint, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from intake import opened, shown, worklist
from intake.console import gate, i18n, wording
from intake.console.i18n import _
from intake.desk import access, acting, dossier
from intake.desk.dossier import Content, Dossier, Received
from intake.desk.many import FIRST
from intake.desk.tools import connection, tools
from intake.lead import Lead
from intake.permitted import WHICH_CONTACT
from intake.trail import AttemptRow, DecisionRow, Move

# How often a page that waits for the CRM asks again, and for how long, in seconds.
AGAIN_AFTER: Final = 2
MOST_TRIES: Final = 15


def add(pages: Blueprint) -> None:
    """These pages."""
    pages.add_url_rule("/events/<uuid:event_id>", "event", show, methods=["GET"])
    pages.add_url_rule("/events/<uuid:event_id>/data", "data", show_data, methods=["POST"])
    pages.add_url_rule("/events/<uuid:event_id>/crm", "ask_crm", ask_crm, methods=["POST"])


def found(event_id: UUID) -> Dossier:
    """The event of this page, or 404."""
    with connection() as conn:
        read = dossier.read(conn, tools().settings, event_id, i18n.language(), tools().now())
    return read or abort(HTTPStatus.NOT_FOUND)


@gate.needs("see")
def show(event_id: UUID) -> str:
    """Everything but what it says; what is in doubt is looked for in the CRM at once."""
    read = found(event_id)
    with connection() as conn:
        shown.event(conn, event_id, operator=gate.signed_in().operator.name)
        is_sought = opened.event(conn, event_id) > 0
    if is_sought:
        tools().hint()
    return _page(read, None, is_sought=is_sought)


@gate.needs("data")
def show_data(event_id: UUID) -> str:
    """The same with what it says; who saw it is noted first."""
    with connection() as conn:
        read = found(event_id)
        access.note(conn, gate.viewer(), "content", event_id)
        for each in read.namesakes:
            if not each.is_own:
                access.note(conn, gate.viewer(), "content", each.events[0], shown="name")
        return _page(read, dossier.contents(conn, event_id))


def _page(read: Dossier, contents: list[Content] | None, *, is_sought: bool = False) -> str:
    with connection() as conn:
        shown.event(conn, read.event.event_id, operator=gate.viewer().operator)
        item = worklist.item(conn, read.event.open_item) if read.event.open_item else None
    tries = request.args.get("reading", type=int) or 0
    waits = read.is_being_read and 0 < tries <= MOST_TRIES
    foremost = _foremost(read)
    safe = sorted(read.told.safe_actions, key=lambda each: each.action != foremost)
    return render_template(
        "event.html", read=read, item=item, contents=contents, entry=entry, lead_rows=lead_rows,
        refresh=url_for("console.event", event_id=read.event.event_id, reading=tries + 1) if waits else None,
        again_after=AGAIN_AFTER, asked=tries > 0, is_sought=is_sought,
        actions=[each for each in safe if each.allowed and wording.may(each.action)], foremost=foremost,
        others=[each for each in safe if not each.allowed or not wording.may(each.action)],
        may=wording.may, slug=slug, choosable=any(each.action == "settle contact" and each.allowed for each in safe),
    )  # fmt: skip


def _foremost(read: Dossier) -> str | None:
    """What is mostly done about an event that waits for a person; None: nothing more than the rest."""
    if read.event.reason in WHICH_CONTACT:
        return "settle contact"
    return "correct" if read.told.fields else FIRST.get(read.event.state)


def slug(deed: str) -> str:
    """An action in an address."""
    return deed.replace(" ", "-")


@gate.needs("see")
def ask_crm(event_id: UUID) -> Response:
    """Have its records read from the CRM; the page shows the answer when it is there."""
    with connection() as conn:
        acting.ask_all(conn, found(event_id).view)
    tools().hint()
    return redirect(url_for("console.event", event_id=event_id, reading=1) + "#crm", HTTPStatus.SEE_OTHER)


# --- the story --------------------------------------------------------------------------------------------------------


def entry(of: Received | Move | AttemptRow | DecisionRow) -> dict[str, str]:
    """One entry in words: what, a sentence of why, and a tone for its colour."""
    match of:
        case Received():
            return {"what": _("Llegó por %(source)s", source=of.source), "why": "", "tone": "received"}
        case Move():
            return {"what": wording.state(of.to_state), "why": wording.reason(of.reason), "tone": of.to_state}
        case DecisionRow():
            what = _("%(who)s decidió: %(what)s", who=of.author, what=wording.deed(_known(of.action)))
            return {"what": what, "why": f"«{of.reason}»", "tone": "decision"}
        case AttemptRow():
            return {"what": _asked(of), "why": _answered(of), "tone": of.outcome or of.stage}


def _known(action: str) -> acting.EventDeed:
    return action  # type: ignore[return-value]  # an unknown one is shown as it stands


def _asked(attempt: AttemptRow) -> str:
    record = wording.record(attempt.record)
    return {
        "create": _("Crear: %(record)s", record=record),
        "update": _("Actualizar: %(record)s", record=record),
        "find": _("Buscar por referencia: %(record)s", record=record),
        "read": _("Leer: %(record)s", record=record),
        "match": _("Buscar a la persona: %(record)s", record=record),
    }.get(attempt.action, f"{attempt.action}: {record}")


def _answered(attempt: AttemptRow) -> str:
    why = "" if attempt.outcome in {"confirmed", "found", "absent"} else wording.reason(attempt.reason)
    return " ".join(each for each in (_outcome(attempt), why, _took(attempt)) if each)


def _took(attempt: AttemptRow) -> str:
    if attempt.answered_at is None or attempt.sent_at is None:
        return ""
    seconds = (attempt.answered_at - attempt.sent_at).total_seconds()
    return f"{seconds:.1f} s." if seconds >= 1 else f"{max(round(seconds * 1000), 1)} ms."


def _outcome(attempt: AttemptRow) -> str:
    if attempt.kind == "look":
        return {
            "found": _("Está en el CRM."),
            "absent": _("No apareció."),
            "several": _("Hay más de uno."),
            "unsure": _("No se pudo saber."),
        }.get(attempt.outcome or "", _("Sin respuesta todavía."))
    return {
        "prepared": _("Preparada; aún no sale."),
        "not_sent": _("No llegó a salir."),
        "sent": _("Enviada; no llegó respuesta.") if attempt.outcome else _("Enviada; sin respuesta todavía."),
        "perhaps_sent": _("Quizás salió: nadie lo sabe."),
        "answered": _("El CRM respondió."),
        "confirmed": _("Confirmada."),
    }[attempt.stage]


# --- what it says -----------------------------------------------------------------------------------------------------


def lead_rows(lead: Lead) -> Iterator[tuple[str, str]]:
    """Names and values of a lead, those that are there."""
    contact, enquiry = lead.contact, lead.enquiry
    phone = contact.phone
    typed = f" ({phone.raw})" if phone and phone.e164 and phone.raw != phone.e164 else ""
    rows = [
        (_("Nombre"), contact.name),
        (_("Teléfono"), f"{phone.e164 or phone.raw}{typed}" if phone else None),
        ("WhatsApp", contact.wa_id),
        (_("Correo"), contact.email),
        (_("Empresa"), contact.company),
        (_("RUC o DNI"), contact.document),
        (_("Mensaje"), enquiry.text),
        (_("Producto"), enquiry.product),
        (_("Monto"), f"{enquiry.currency or ''} {enquiry.amount}".strip() if enquiry.amount is not None else None),
        *((each.name, _line(each.quantity, each.unit_price)) for each in enquiry.items),
        *lead.answers,
        *((f"utm_{name}", value) for name, value in lead.attribution.utm),
    ]
    return ((name, value) for name, value in rows if value)


def _line(quantity: object, price: object) -> str:
    return " \u00d7 ".join(str(each) for each in (quantity, price) if each is not None)
