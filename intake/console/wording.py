"""How pages say states, marks, times and actions; the filters and functions that templates use."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from flask import Flask, url_for
from markupsafe import Markup

from intake import reading_texts
from intake.bulk import BulkAction
from intake.console import gate, i18n
from intake.console.i18n import _, format_datetime, format_day, format_span
from intake.desk.acting import EventDeed
from intake.desk.inbox import Mark
from intake.desk.kin import How
from intake.desk.roles import NEEDS, Deed, Role
from intake.desk.tools import tools
from intake.explain import item_step, item_text, reason_text

STATIC: Final = Path(__file__).parent / "static"

# What the explanations say to those who type commands; here stand buttons.
COMMANDS: Final = re.compile(r"\s*\((?:`[^`]*`(?:,? (?:o|or|y|and) )?)+\)")


def install(app: Flask) -> None:
    """Let templates use these."""
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters.update(
        ago=ago, clock=clock, moment=moment, exact=exact, hour=hour, short=short, state=state, mark=mark, kind=kind,
        item_kind=item_kind, deed=deed, record=record, reason=reason, role=role, plain=without_commands, field=field,
        kin=kin, rule=rule,
    )  # fmt: skip
    app.jinja_env.globals.update(
        asset=asset, language=i18n.language, item_text=about_item, item_step=ends_item, csrf=csrf, notice=notice,
    )  # fmt: skip
    app.context_processor(lambda: {"tools": tools()})


def asset(name: str) -> str:
    """The address of a file of ours, which changes with its content."""
    return url_for("console.static", filename=name, v=_digest(name))


def _digest(name: str) -> str:
    known = DIGESTS.get(name)
    if known is None:
        known = DIGESTS[name] = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:10]
    return known


DIGESTS: Final[dict[str, str]] = {}


def csrf() -> Markup:
    """What each form carries."""
    return Markup('<input type="hidden" name="csrf" value="{}">').format(gate.signed_in().form_token)


def notice(done: str) -> str:
    """What was just done, from the address of the page; "": nothing that we know."""
    if done == "no-reason":
        return _("No se hizo nada: diga por qué.")
    known = next((each for each in NEEDS if each.replace(" ", "-") == done), None)
    return _("Hecho: %(what)s.", what=deed(known)) if known else ""


# --- times ----------------------------------------------------------------------------------------------------------


def ago(at: datetime) -> str:
    """How long ago, or until then."""
    return format_span(at - tools().now(), direction=True)


def clock(at: datetime) -> str:
    """The hour today, else day and hour, where the company is."""
    zone = tools().settings.timezone
    same_day = at.astimezone(zone).date() == tools().now().astimezone(zone).date()
    return format_datetime(at, "HH:mm" if same_day else "d MMM HH:mm")


def moment(at: datetime, text: str | None = None) -> Markup:
    """For people, and for machines.  `text` None: the hour, or day and hour."""
    whole = f"{format_day(at)} {format_datetime(at, 'HH:mm:ss')}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(at.isoformat(), whole, text or clock(at))


def hour(at: datetime) -> Markup:
    """What is counted by the hour: between its beginning and its end."""
    end = at + timedelta(hours=1)
    return moment(at, f"{clock(at)}\u2013{format_datetime(end, 'HH:mm')}")


def exact(at: datetime) -> Markup:
    """To the second, where things follow each other closely."""
    pattern = "HH:mm:ss" if at >= tools().midnight else "d MMM HH:mm:ss"
    return moment(at, format_datetime(at, pattern))


def short(value: object) -> str:
    """The beginning of an id, enough to find it by."""
    return str(value)[:8]


# --- words ----------------------------------------------------------------------------------------------------------


def state(name: str | None) -> str:
    """A state of a delivery."""
    return {
        "awaiting_approval": _("Por aprobar"),
        "received": _("Recibido"),
        "delivering": _("Entregando"),
        "waiting": _("En espera"),
        "uncertain": _("Incierto"),
        "review": _("En revisión"),
        "confirmed": _("Confirmado"),
        "cancelled": _("Cancelado"),
        "superseded": _("Reemplazado"),
    }.get(name or "", name or "")


def mark(name: Mark) -> str:
    """How far a record is."""
    words: dict[Mark, str] = {
        "empty": _("vacío"),
        "sent": _("enviado"),
        "confirmed": _("confirmado"),
        "uncertain": _("incierto"),
        "gone": _("ya no está"),
    }
    return words[name]


def record(name: str) -> str:
    """A kind of record."""
    return {
        "contact": _("Contacto"),
        "opportunity": _("Oportunidad"),
        "task": _("Tarea"),
        "note": _("Nota"),
    }.get(name, name)


def kind(name: str | None) -> str:
    """A kind of source."""
    return {"form": _("Formulario"), "whatsapp": "WhatsApp", "quote": _("Cotización")}.get(name or "", name or "")


def item_kind(name: str) -> str:
    """A kind of open item."""
    return {
        "delivery": _("Entrega"),
        "conflict": _("Conflicto"),
        "quarantine": _("Cuarentena"),
        "incident": _("Incidente"),
    }.get(name, name)


def role(name: Role) -> str:
    """What a person may do, in a word."""
    words: dict[Role, str] = {
        "viewer": _("consulta"),
        "operator": _("operación"),
        "approver": _("aprobación"),
        "admin": _("administración"),
    }
    return words[name]


def field(name: str) -> str:
    """A part of a lead."""
    return {
        "name": _("Nombre"),
        "phone": _("Teléfono"),
        "email": _("Correo"),
        "company": _("Empresa"),
        "document": _("RUC o DNI"),
        "text": _("Mensaje"),
        "product": _("Producto"),
        "amount": _("Monto"),
        "currency": _("Moneda"),
        "title": _("Título"),
        "wa_id": "WhatsApp",
        "consent": _("Consentimiento"),
        "flags": _("Avisos"),
    }.get(name, name)


def kin(how: How) -> str:
    """What another event has to do with this one."""
    words: dict[How, str] = {
        "need": _("misma oportunidad"),
        "twin": _("casi lo mismo"),
        "batch": _("mismo envío"),
        "talk": _("misma conversación"),
        "reissue": _("duplicado a propósito"),
        "contact": _("misma persona"),
    }
    return words[how]


def deed(name: Deed | EventDeed | BulkAction) -> str:
    """A button."""
    return {
        "look": _("Buscar en el CRM"),
        "settle applied": _("Sí está en el CRM"),
        "settle not-applied": _("No está en el CRM"),
        "settle contact": _("Elegir el contacto"),
        "settle note": _("Dejar la nota igual"),
        "settle new": _("Abrir otra oportunidad"),
        "correct": _("Corregir datos"),
        "revive": _("Intentar de nuevo"),
        "approve": _("Aprobar"),
        "decline": _("No entregar"),
        "cancel": _("Cancelar"),
        "redeliver": _("Volver a entregar"),
        "reissue": _("Duplicar a propósito"),
        "spam": _("Es spam"),
        "not spam": _("No es spam"),
        "assign": _("Asignar"),
        "resolve keep": _("Conservar lo primero"),
        "resolve accept": _("Aceptar lo nuevo"),
        "resolve release": _("Leer de nuevo"),
        "replay": _("Intentar, o buscar"),
        "pause": _("Pausar"),
        "resume": _("Reanudar"),
    }.get(name, name)


def rule(said: str) -> str:
    """The rule that a field broke."""
    return reading_texts.rule(said, i18n.language())


def reason(name: str | None) -> str:
    """Why, in a sentence."""
    return without_commands(reason_text(name, i18n.language())) if name else ""


def about_item(item_kind_: str, why: str) -> str:
    """What an open item is about."""
    return without_commands(item_text(item_kind_, why, i18n.language()))


def ends_item(item_kind_: str, why: str) -> str:
    """What ends an incident, "": nothing that is known."""
    return without_commands(item_step(item_kind_, why, i18n.language()))


def without_commands(text: str) -> str:
    """A sentence without the commands in its brackets."""
    return COMMANDS.sub("", text)


def may(deed_: Deed) -> bool:
    """Whether the reader's role allows an action."""
    return gate.signed_in().operator.may(NEEDS[deed_])
