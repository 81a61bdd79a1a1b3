"""How an erasure is told, in Spanish and English: the certificate, and what is still open.  Programs get `--json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from intake.cli import place
from intake.cli.output import facts, heading, paragraph, table
from intake.explain import reason_text
from intake.forgetting.opened import Open
from intake.forgetting.whole import Certificate, Outcome, StillOpen
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
        "algunos contenidos no se pudieron abrir (INTAKE_SEAL_KEYS, o se dañaron), y pueden ser de la persona",
        "some contents could not be opened (INTAKE_SEAL_KEYS, or they are damaged), and may hold the person"),
    "not_owner": Text(
        "solo el dueño de las tablas puede borrar: conéctese con el rol que ejecutó `intake migrate`",
        "only the owner of the tables may purge: connect as the role that ran `intake migrate`"),
    "nothing_erased": Text(
        "no se borró nada de quien tiene algo abierto: resuelva esto primero, o añada --cancel-open",
        "nothing was erased of whoever has something open: settle this first, or say --cancel-open"),
    "no_phone": Text(
        "no se lee un solo número de teléfono, sin anexo; añada el país, como en +51…",
        "no single phone number can be read; leave out extensions, and add the country, as in +51…"),
    "no_address": Text("no es una dirección de correo", "is no e-mail address"),
    "no_wa_id": Text("no es un identificador de WhatsApp", "is no WhatsApp id"),
    "cell": Text("fila {row}, columna {column}: {why}", "row {row}, column {column}: {why}"),
    "other_column": Text(
        "la primera fila nombra las columnas, que pueden ser {columns}; la columna {number} es otra",
        "the first row names the columns, which may be {columns}; column {number} is none of them"),
    "names_nobody": Text("el archivo no nombra a nadie", "the file names nobody"),
    "spooled": Text(
        "{count} en el spool de este servidor, que se vacía cuando responde PostgreSQL",
        "{count} in this host's spool, which is drained when PostgreSQL can be reached"),
    "event": Text("evento", "event"),
    "item": Text("pendiente", "item"),
}  # fmt: skip
# Of a certificate: what it says, and by what names it counts rows.
LABELS: Final[Mapping[str, Text]] = {
    "row": Text("fila", "row"),
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


def show(each: Certificate, row: int | None) -> None:
    """One certificate.  `row`: of the person, in the table that names them."""
    heading(told("would_be_erased" if each.dry else "erased"))
    said: dict[str, object] = {
        "row": row, "certificate": str(each.forgotten_id), "until": each.at.isoformat(), "by": each.by,
        "reason": each.reason, "keyed_hashes": ", ".join(each.keys), "events": each.events, **each.counts,
    }  # fmt: skip
    facts((label(word), value) for word, value in said.items())
    if each.in_crm:
        paragraph(told("still_in_crm"))
        rows = [(one.destination, name(RECORDS, one.kind, place.language()), one.crm_id) for one in each.in_crm]
        table([label(word) for word in ("account", "record", "id")], rows)
    if each.mentions:
        paragraph(told("mentioned"))
        table((told("event"),), [(one,) for one in each.mentions])


def unfinished(done: Sequence[tuple[int | None, Outcome]]) -> Iterator[str]:
    """Why people, each with their row, are not or may not be erased whole, line by line; nothing where all are."""
    still = [(row, each) for row, each in done if isinstance(each, StillOpen)]
    if still:
        yield told("nothing_erased")
    for row, each in still:
        yield from _still_open(each, row)
    if any(isinstance(each, Certificate) and each.unopened for _, each in done):
        yield told("unopened")


def _still_open(found: StillOpen, row: int | None) -> Iterator[str]:
    yield f"{label('row')} {row}" if row else f"{label('certificate')} {found.forgotten_id}"
    yield from (f"  {_open(each)}" for each in found.waiting)
    if found.spooled:
        yield f"  {told('spooled', count=found.spooled)}"


def _open(each: Open) -> str:
    language = place.language()
    what = f"{told('event')} {each.event_id}" if each.kind == "delivery" else f"{told('item')} {each.item_id}"
    state = name(STATES, each.state, language)
    why = f". {reason_text(each.reason, language)}" if each.reason else ""
    return f"{what}: {name(ITEMS, each.kind, language)}, {state}{why}"
