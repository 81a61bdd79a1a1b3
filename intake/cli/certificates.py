"""How an erasure is told, in Spanish and English: the certificate, and what is still open.  Programs get `--json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from intake.cli import place
from intake.cli.output import facts, heading, paragraph, table
from intake.explain import reason_text
from intake.forgetting.opened import Open
from intake.forgetting.whole import Certificate, StillOpen
from intake.reason_texts import Text
from intake.shown_names import ITEMS, RECORDS, STATES, name

TEXTS: Final[Mapping[str, Text]] = {
    "erased": Text("Borrado", "Erased"),
    "would_be_erased": Text("Se borraría", "Would be erased"),
    "still_in_crm": Text("Sigue en el CRM, y se borra allí:", "Still in the CRM, to be erased there:"),
    "mentioned": Text(
        "Eventos de otros cuyas palabras nombran a la persona; léalos, y bórrelos o corríjalos si hace falta:",
        "Events of others whose words name the person; read them, and forget or correct them if need be:"),
    "nobody": Text("no hay nadie en la lista", "nobody is on the list"),
    "unopened": Text(
        "algunos contenidos sellados no se pudieron abrir (INTAKE_SEAL_KEYS), y pueden ser de la persona",
        "some sealed bodies could not be opened (INTAKE_SEAL_KEYS), and may hold the person"),
    "not_owner": Text(
        "solo el dueño de las tablas puede borrar: conéctese con el rol que ejecutó `intake migrate`",
        "only the owner of the tables may purge: connect as the role that ran `intake migrate`"),
    "nothing_erased": Text(
        "no se borró nada: resuelva esto primero, o añada --cancel-open",
        "nothing was erased: settle this first, or say --cancel-open"),
    "spooled": Text(
        "{count} en el spool de este servidor, que se vacía cuando responde PostgreSQL",
        "{count} in this host's spool, which is drained when PostgreSQL can be reached"),
    "event": Text("evento", "event"),
    "item": Text("pendiente", "item"),
}  # fmt: skip
# Of a certificate: what it says, and by what names it counts rows.
LABELS: Final[Mapping[str, Text]] = {
    "certificate": Text("certificado", "certificate"),
    "until": Text("hasta", "until"),
    "by": Text("quién", "by"),
    "reason": Text("motivo", "reason"),
    "keyed_hashes": Text("huellas con clave", "keyed hashes"),
    "events": Text("eventos", "events"),
    "open": Text("abiertos", "open"),
    "leads": Text("lo que decían", "what they said"),
    "media": Text("archivos", "files"),
    "requests_and_answers": Text("peticiones y respuestas del CRM", "requests and answers of the CRM"),
    "values_read_back": Text("valores leídos en el CRM", "values read back"),
    "request_ids": Text("identificadores de quien envía", "senders' ids"),
    "delivery_fields": Text("campos rechazados de entregas", "refused fields of deliveries"),
    "item_fields": Text("campos rechazados de pendientes", "refused fields of items"),
    "raw_bodies": Text("contenidos tal como llegaron", "bodies as they came"),
    "headers": Text("cabeceras", "headers"),
    "decision_texts": Text("textos de decisiones", "texts of decisions"),
    "refused_bodies": Text("rechazados en la puerta", "refused at the door"),
    "spooled": Text("líneas del spool", "lines of the spool"),
    "account": Text("cuenta", "account"),
    "record": Text("registro", "record"),
    "id": Text("identificador", "id"),
}


def told(key: str, **values: object) -> str:
    """In the language that the command was asked for."""
    text = TEXTS[key].of(place.language())
    return text.format(**values)


def label(word: str) -> str:
    """A name on a certificate; one without words stands as it is."""
    text = LABELS.get(word)
    return text.of(place.language()) if text else word


def show(each: Certificate) -> None:
    """One certificate."""
    heading(told("would_be_erased" if each.dry else "erased"))
    said: dict[str, object] = {
        "certificate": str(each.forgotten_id), "until": each.at.isoformat(), "by": each.by, "reason": each.reason,
        "keyed_hashes": ", ".join(each.keys), "events": each.events, **each.counts,
    }  # fmt: skip
    facts((label(word), value) for word, value in said.items())
    if each.in_crm:
        paragraph(told("still_in_crm"))
        rows = [(one.destination, name(RECORDS, one.kind, place.language()), one.crm_id) for one in each.in_crm]
        table([label(word) for word in ("account", "record", "id")], rows)
    if each.mentions:
        paragraph(told("mentioned"))
        table((told("event"),), [(one,) for one in each.mentions])


def still_open(found: StillOpen) -> Iterator[str]:
    """Why nothing was erased, line by line."""
    yield told("nothing_erased")
    yield from (f"  {_open(each)}" for each in found.waiting)
    if found.spooled:
        yield f"  {told('spooled', count=found.spooled)}"


def _open(each: Open) -> str:
    language = place.language()
    what = f"{told('event')} {each.event_id}" if each.kind == "delivery" else f"{told('item')} {each.item_id}"
    state = name(STATES, each.state, language)
    why = f". {reason_text(each.reason, language)}" if each.reason else ""
    return f"{what}: {name(ITEMS, each.kind, language)}, {state}{why}"
