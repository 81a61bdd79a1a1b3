"""What the commands that decide say, in Spanish and English: what was done, and what to do where nothing was."""

from __future__ import annotations

from collections.abc import Mapping

import click

from intake.cli import place
from intake.cli.group import Finding
from intake.reason_texts import Text

SENTENCES: Mapping[str, Text] = {
    "no_channel": Text(
        "Ningún canal está configurado: vea [alerts] en intake.toml.",
        "No channel is configured: see [alerts] in intake.toml."),
    # what was decided
    "revived": Text(
        "Recibido: se intenta de nuevo desde lo que falta.", "Received: it is tried again from what is missing."),
    "approved": Text(
        "Recibido: la revisión {revision} ({fingerprint}) se entrega ahora.",
        "Received: revision {revision} ({fingerprint}) is delivered now."),
    "approved_within": Text(
        "Recibido: la revisión {revision} ({fingerprint}) se entrega ahora; la aprobación vale {within}.",
        "Received: revision {revision} ({fingerprint}) is delivered now; the approval lasts {within}."),
    "cancelled": Text("Cancelado.", "Cancelled."),
    "looking": Text(
        "Se busca ahora en el CRM ({count}); `intake show {event}` dirá qué se vio.",
        "It is looked for in the CRM now ({count}); `intake show {event}` tells what was seen."),
    "corrected": Text("Revisión {revision}: se entrega ahora.", "Revision {revision}: it is delivered now."),
    "corrected_gated": Text(
        "Revisión {revision}: espera aprobación (`intake approve {event}`).",
        "Revision {revision}: it awaits approval (`intake approve {event}`)."),
    "item_kept": Text(
        "Pendiente {item} cerrado: queda lo que estaba.", "Item {item} is closed: what stood stays."),
    "item_accepted": Text(
        "Pendiente {item} cerrado: alguien se encargó.", "Item {item} is closed: somebody saw to it."),
    "item_goes_on": Text(
        "Pendiente {item} cerrado: el evento queda «{state}».", "Item {item} is closed: the event is “{state}”."),
    # settle
    "applied": Text(
        "{kind} {crm_id}: leído en el CRM, lleva nuestra referencia y se toma como nuestro; la entrega sigue.",
        "{kind} {crm_id}: read in the CRM, it bears our reference and is taken as ours; the delivery goes on."),
    "applied_unverified": Text(
        "{kind} {crm_id}: se toma como nuestro sin comprobarlo, por su palabra; la entrega sigue.",
        "{kind} {crm_id}: it is taken as ours unverified, by your word; the delivery goes on."),
    "not_applied": Text(
        "{kind}: se busca una vez más cuando pase su tiempo; si no está, se escribe de nuevo.",
        "{kind}: it is looked for once more when its time is over, and written again if it is not there."),
    "contact_is": Text("Recibido: el contacto es {crm_id}.", "Received: the contact is {crm_id}."),
    "note_anyway": Text(
        "Recibido: la nota va a la oportunidad, aunque esté cerrada.",
        "Received: the note goes on the opportunity though it is closed."),
    "new_opportunity": Text(
        "Recibido: va a otra oportunidad.", "Received: it goes to another opportunity."),
    # what the CRM holds
    "stands": Text("En el CRM: {kind} {crm_id}", "In the CRM: {kind} {crm_id}"),
    "perhaps_stands": Text(
        "Quizás en el CRM: {kind} con la referencia {reference}; se sigue buscando.",
        "Perhaps in the CRM: {kind} under the reference {reference}; it is still looked for."),
    "nothing_stands": Text("En el CRM no hay nada suyo.", "Nothing of it stands in the CRM."),
    # redeliver, reissue
    "remade": Text(
        "Ya no está: {kind} {crm_id}; se crea de nuevo con la referencia {reference}.",
        "Gone: {kind} {crm_id}; made anew under {reference}."),
    "redelivered": Text(
        "Recibido: se entrega de nuevo; `intake show {event}` dirá qué fue de ello.",
        "Received: it is delivered again; `intake show {event}` tells what became of it."),
    "reissued": Text("Reabierto como {event}: se entrega ahora.", "Reissued as {event}: it is delivered now."),
    "reissued_gated": Text(
        "Reabierto como {event}: espera aprobación (`intake approve {short}`).",
        "Reissued as {event}: it awaits approval (`intake approve {short}`)."),
    # spam
    "spam": Text(
        "Cancelado. Datos bloqueados: {blocked}; lo que llegue de esta persona esperará aprobación.",
        "Cancelled. Blocked keys: {blocked}; what comes from this person will await approval."),
    "spam_ended": Text(
        "Ya estaba «{state}» y así queda. Datos bloqueados: {blocked}; lo que llegue de esta persona esperará "
        "aprobación.",
        "It was “{state}” already, and stays so. Blocked keys: {blocked}; what comes from this person will await "
        "approval."),
    "no_spam": Text("Datos que ya no se bloquean: {freed}.", "Keys that are blocked no more: {freed}."),
    "reissue_it": Text(
        "Lo cancelado sigue así; `intake reissue {event}` lo entrega.",
        "What was cancelled stays so; `intake reissue {event}` delivers it."),
    # assign, pause
    "assigned": Text("El pendiente {item} es de {assignee}.", "Item {item} is {assignee}'s."),
    "handed_over": Text(
        "El pendiente {item} pasa de {before} a {assignee}.", "Item {item} goes from {before} to {assignee}."),
    "until": Text("Vence: {due}.", "Due: {due}."),
    "account_paused": Text(
        "{name} está en pausa: no se le entrega nada hasta `intake resume {name}`; se sigue recibiendo.",
        "{name} is paused: nothing is delivered there before `intake resume {name}`; deliveries are still accepted."),
    "source_paused": Text(
        "{name} está en pausa: se recibe y no se entrega hasta `intake resume {name}`.",
        "{name} is paused: it is received, and not delivered before `intake resume {name}`."),
    "resumed": Text("{name} sigue: lo que esperaba se entrega ahora.", "{name} goes on: what waited is delivered now."),
    "not_paused": Text("{name} no está en pausa.", "{name} is not paused."),
    # bulk
    "none_matches": Text(
        "Ningún evento cumple eso; `intake events` muestra los que hay.",
        "No event matches; `intake events` shows those that there are."),
    "say_yes": Text(
        "No se decidió nada; añada --yes si son esos.", "Nothing was decided; say --yes if they are meant."),
    "others_by_now": Text(
        "Mientras tanto son otros, o alguno dice otra cosa: no se decidió nada; mírelos otra vez.",
        "By now they are others, or one of them says something else: nothing was decided; look again."),
    "all_of_them": Text("¿{action} con todos ellos?", "{action} all of them?"),
    "run_begun": Text(
        "Serie {run}: `intake bulk stop {run}` la detiene; lo que quede sigue solo, también tras un reinicio.",
        "Run {run}: `intake bulk stop {run}` stops it; what is left goes on by itself, also after a restart."),
    "no_run": Text(
        "No hay una serie {run}; `intake bulk list` las muestra.", "There is no run {run}; see `intake bulk list`."),
    "not_going": Text("No hay una serie {run} en marcha.", "There is no run {run} that goes on."),
    "run_ended": Text(
        "La serie {run} ya terminó; `intake bulk show {run}` dice qué fue de cada uno.",
        "Run {run} has ended; `intake bulk show {run}` tells what became of each."),
    "run_stopped": Text(
        "Detenida con {left} sin decidir; `intake bulk go {run}` la continúa.",
        "Stopped with {left} left; `intake bulk go {run}` goes on."),
    "events": Text("eventos", "events"),
    "result": Text("resultado", "result"),
    # lists
    "nothing_open": Text("No hay nada pendiente.", "Nothing waits for a person."),
    "no_events": Text("Ningún evento cumple eso.", "No event matches."),
    "incidents": Text(
        "{count} incidentes; cada uno es un pendiente (`intake items --kind incident`)",
        "{count} incidents; each is an open item (`intake items --kind incident`)"),
    "more_incidents": Text(
        "y {count} más: `intake items --kind incident`", "and {count} more: `intake items --kind incident`"),
    # nothing was done
    "no_such": Text("No existe: {what}.", "There is no {what}."),
    "no_item": Text(
        "No hay un pendiente {item}; `intake items` muestra los abiertos.",
        "There is no item {item}; `intake items` shows the open ones."),
    "no_event": Text(
        "No hay un evento que empiece por {start}; `intake events` los muestra.",
        "No event begins with {start}; `intake events` shows them."),
    "no_event_id": Text(
        "«{start}» no es un evento ni el comienzo de uno; `intake events` los muestra.",
        "“{start}” is no event id, nor the beginning of one; `intake events` shows them."),
    "several_events": Text(
        "Más de un evento empieza por {start}: escriba más de su identificador.",
        "More than one event begins with {start}: give more of its id."),
    "moved": Text(
        "Está «{state}» ahora, y así no se puede: mírelo con `intake show`.",
        "It is “{state}” now, so that this is not possible: see `intake show`."),
    "no_destination": Text(
        "El destino {destination} no está configurado, o está cerrado aquí: no se le puede preguntar.",
        "The destination {destination} is not configured, or closed here: it cannot be asked."),
    "not_live": Text(
        "{kind} {crm_id} está en la papelera del CRM, o unido a otro: restáurelo allí, o nombre otro.",
        "{kind} {crm_id} is in the CRM's trash, or merged into another: restore it there, or name another."),
    "not_there": Text("En el CRM no hay {kind} {crm_id}.", "The CRM has no {kind} {crm_id}."),
    "not_asked": Text(
        "No se pudo preguntar al CRM ({reason}): inténtelo de nuevo.",
        "The CRM could not be asked ({reason}): try again."),
    "not_asked_unverified": Text(
        "No se pudo preguntar al CRM ({reason}): inténtelo de nuevo, o añada --unverified.",
        "The CRM could not be asked ({reason}): try again, or say --unverified."),
    "bears_none": Text(
        "{kind} {crm_id} no lleva ninguna referencia nuestra, sino que debería llevar {wanted}: quizás es otro. "
        "Si es este de todos modos, añada --unverified y diga por qué en --reason.",
        "{kind} {crm_id} bears no reference of ours, and should bear {wanted}: perhaps it is another. "
        "If it is this one all the same, say --unverified, and why in --reason."),
    "bears_another": Text(
        "{kind} {crm_id} lleva la referencia {borne}, no {wanted}: es de otro evento. "
        "Si es este de todos modos, añada --unverified y diga por qué en --reason.",
        "{kind} {crm_id} bears the reference {borne}, not {wanted}: it is another event's. "
        "If it is this one all the same, say --unverified, and why in --reason."),
    "no_control": Text(
        "El CRM no muestra {kind} ni el registro testigo (sentinel: {reason}): ¿es el correcto? "
        "`intake crm check --create --destination {destination}` crea los testigos de nuevo.",
        "The CRM shows neither the {kind} nor the sentinel ({reason}): is it the right one? "
        "`intake crm check --create --destination {destination}` makes the sentinels anew."),
    # quarantine
    "released": Text(
        "Pendiente {item} cerrado: {new} nuevos, {known} ya conocidos.",
        "Item {item} is closed: {new} new, {known} known."),
    "stays_open": Text("El pendiente {item} sigue abierto: {why}", "Item {item} stays open: {why}"),
    "not_released": Text("No se aceptó nada: {why}", "Nothing was accepted: {why}"),
    "gone": Text("no hay tal pendiente", "there is no such item"),
    "closed": Text("ya está cerrado", "it is closed already"),
    "no_quarantine": Text("no es una cuarentena", "it is no quarantine"),
    "no_source": Text("su fuente ya no está configurada", "its source is not configured any more"),
    "purged": Text("sus bytes ya fueron borrados", "its bytes were purged"),
}  # fmt: skip


def sentence(key: str, **values: object) -> str:
    """In the language of the configuration.  Raises ConfigError: ask for the first one before anything is decided."""
    text = SENTENCES[key].of(place.language())
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def say(key: str, **values: object) -> None:
    """On standard output."""
    click.echo(sentence(key, **values))


def finding(key: str, **values: object) -> Finding:
    """Why nothing was done, and what to do."""
    return Finding(sentence(key, **values))
