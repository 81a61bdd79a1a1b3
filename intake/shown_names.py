"""Names of states, kinds, steps and columns as people read them, in Spanish and English; programs get our own words."""

from __future__ import annotations

from collections.abc import Mapping

from intake.reason_texts import Language, Text

STATES: Mapping[str, Text] = {
    "awaiting_approval": Text("por aprobar", "to approve"),
    "received": Text("recibido", "received"),
    "delivering": Text("entregando", "delivering"),
    "waiting": Text("en espera", "waiting"),
    "uncertain": Text("incierto", "uncertain"),
    "review": Text("en revisión", "in review"),
    "confirmed": Text("confirmado", "confirmed"),
    "cancelled": Text("cancelado", "cancelled"),
    "superseded": Text("reemplazado", "superseded"),
    "missing": Text("sin entrega", "without delivery"),
}
MODES: Mapping[str, Text] = {"live": Text("real", "live"), "test": Text("prueba", "test")}
KINDS: Mapping[str, Text] = {
    "form": Text("formulario", "form"),
    "whatsapp": Text("WhatsApp", "WhatsApp"),
    "quote": Text("cotización", "quote"),
}
RECORDS: Mapping[str, Text] = {
    "contact": Text("contacto", "contact"),
    "opportunity": Text("oportunidad", "opportunity"),
    "task": Text("tarea", "task"),
    "note": Text("nota", "note"),
}
ITEMS: Mapping[str, Text] = {
    "delivery": Text("entrega", "delivery"),
    "conflict": Text("conflicto", "conflict"),
    "quarantine": Text("cuarentena", "quarantine"),
    "incident": Text("incidente", "incident"),
}
# What an attempt was to do in the CRM.
STEPS: Mapping[str, Text] = {
    "create": Text("crear", "create"),
    "update": Text("cambiar", "change"),
    "find": Text("buscar", "look for"),
    "read": Text("leer", "read"),
    "match": Text("buscar a la persona", "look for the person"),
}
STAGES: Mapping[str, Text] = {
    "prepared": Text("preparada", "prepared"),
    "not_sent": Text("no enviada", "not sent"),
    "sent": Text("enviada", "sent"),
    "perhaps_sent": Text("quizás enviada", "perhaps sent"),
    "answered": Text("recibida", "answered"),
    "confirmed": Text("confirmada", "confirmed"),
}
OUTCOMES: Mapping[str, Text] = {
    "not_sent": Text("no se envió", "not sent"),
    "confirmed": Text("hecho", "done"),
    "retry": Text("no se hizo; se repite", "not done; again later"),
    "rejected": Text("rechazado", "refused"),
    "uncertain": Text("en duda", "in doubt"),
    "found": Text("está", "is there"),
    "absent": Text("no está", "is not there"),
    "several": Text("hay varios", "several"),
    "unsure": Text("no se sabe", "not known"),
}
# Whether a source takes deliveries.
STATUSES: Mapping[str, Text] = {
    "open": Text("abierta", "open"),
    "closed": Text("cerrada", "closed"),
    "disabled": Text("desactivada", "disabled"),
    "unavailable": Text("sin lector en esta versión", "without a reader in this version"),
}
LABELS: Mapping[str, Text] = {
    "event_id": Text("evento", "event"),
    "item_id": Text("nº", "item"),
    "mode": Text("modo", "mode"),
    "source": Text("fuente", "source"),
    "kind": Text("tipo", "kind"),
    "person": Text("persona", "person"),
    "request_id": Text("id del remitente", "sender's id"),
    "version": Text("versión", "version"),
    "need": Text("necesidad", "need"),
    "state": Text("estado", "state"),
    "reason": Text("motivo", "reason"),
    "received_at": Text("llegó", "received"),
    "due_at": Text("le toca", "due"),
    "content": Text("contenido", "content"),
    "revision": Text("revisión", "revision"),
    "carried_by": Text("va en el texto de", "in the text of"),
    "reissue_of": Text("reabierto de", "reissue of"),
    "reissued_as": Text("reabierto como", "reissued as"),
    "open_item": Text("pendiente", "open item"),
    "receipt_id": Text("recepción", "receipt"),
    "record_id": Text("registro", "record"),
    "opened_at": Text("desde", "since"),
    "until": Text("vence", "due"),
    "assignee": Text("de", "whose"),
    "closed_at": Text("cerrado", "closed"),
    "resolution": Text("cómo", "how"),
    "evidence": Text("prueba", "evidence"),
    "attempts": Text("intentos", "attempts"),
    "history": Text("historial", "history"),
    "decisions": Text("decisiones", "decisions"),
    "at": Text("cuándo", "at"),
    "record": Text("registro", "record"),
    "step": Text("paso", "step"),
    "stage": Text("llegó a", "got to"),
    "outcome": Text("resultado", "outcome"),
    "from": Text("de", "from"),
    "to": Text("a", "to"),
    "by": Text("quién", "by"),
    "action": Text("acción", "action"),
    "actions": Text("acciones", "actions"),
    "what": Text("qué", "what"),
    "field": Text("campo", "field"),
    "rule": Text("regla", "rule"),
    "fields": Text("campos rechazados", "refused fields"),
    "first": Text("el primero", "the first"),
    "other": Text("el otro", "the other"),
    "data": Text("contenido", "content"),
    "verified": Text("leído en el CRM", "read in the CRM"),
    "started": Text("empezó", "started"),
    "since": Text("desde", "since"),
    "events": Text("eventos", "events"),
    "incidents": Text("incidentes", "incidents"),
    "which": Text("cuáles", "which"),
    "name": Text("nombre", "name"),
    "provider": Text("proveedor", "provider"),
    "url": Text("dirección", "address"),
    "paste": Text("dónde pegarla", "what to paste"),
    "status": Text("está", "status"),
    "closed_because": Text("cerrada porque", "closed because"),
    "differences": Text("ojo", "note"),
    "destination": Text("destino", "destination"),
    "last_live": Text("última entrega", "last delivery"),
    "last_test": Text("última prueba", "last test"),
    "channel": Text("canal", "channel"),
    "sent": Text("enviado", "sent"),
    "said": Text("lo último que se dijo", "what was said last"),
    "tries": Text("veces", "tries"),
    "failure": Text("falla", "failure"),
    "run": Text("serie", "run"),
    "left": Text("quedan", "left"),
    "stopped": Text("detenida", "stopped"),
    "role": Text("rol", "role"),
    "disabled_at": Text("desactivado", "disabled"),
    "token": Text("token", "token"),
    "operator": Text("operador", "operator"),
    "label": Text("para qué", "label"),
    "scopes": Text("alcance", "scopes"),
    "expires_at": Text("caduca", "expires"),
    "used_at": Text("usado", "used"),
    "revoked_at": Text("revocado", "revoked"),
    "via": Text("por", "via"),
    "more": Text("más", "more"),
    "yes": Text("sí", "yes"),
    "no": Text("no", "no"),
}


def name(of: Mapping[str, Text], word: str | None, language: Language) -> str:
    """A word of ours as people read it; one that this version does not know stays as it is, and "" is none."""
    text = of.get(word or "")
    return text.of(language) if text else word or ""


def label(word: str, language: Language) -> str:
    """The name of a column or of a line."""
    return name(LABELS, word, language)
