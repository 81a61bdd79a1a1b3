"""The words of alerts, in Spanish and English: one row a condition, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping

from intake.reason_texts import Text

# {count}, {subject} and {since} are replaced.
CONDITIONS: Mapping[str, Text] = {
    "uncertain": Text(
        "{count} en duda de «{subject}»: no se sabe si el CRM los guardó. Se siguen buscando; mire si puede decidir.",
        "{count} in doubt from “{subject}”: it is not known whether the CRM has them. They are looked for; see whether "
        "you can decide."),
    "review": Text(
        "{count} de «{subject}» necesitan a una persona: corrija, reviva o cancele.",
        "{count} from “{subject}” need a person: correct, revive or cancel."),
    "conflict": Text(
        "{count} de «{subject}» llegaron otra vez con otro contenido: decida cuál vale.",
        "{count} from “{subject}” came again with other content: decide which one counts."),
    "quarantine": Text(
        "{count} entregas de «{subject}» no se pudieron leer; están guardadas.",
        "{count} deliveries from “{subject}” could not be read; they are kept."),
    "incident": Text(
        "{count} incidentes de «{subject}»: algo en el CRM o en la base no es como debe ser.",
        "{count} incidents of “{subject}”: something in the CRM or the database is not as it must be."),
    "account_paused": Text(
        "La cuenta del CRM «{subject}» está en pausa desde {since}; {count} esperan y nada se pierde. "
        "Revise la credencial y la cuota.",
        "The CRM account “{subject}” is paused since {since}; {count} wait and nothing is lost. "
        "Check its credential and quota."),
    "fetch_parked": Text(
        "«{subject}» no puede leer sus leads en Meta desde {since}; {count} esperan y nada se pierde. "
        "Renueve su page_token y reinicie; si la fuente ya no está en intake.toml, vuelva a ponerla.",
        "“{subject}” cannot read its leads at Meta since {since}; {count} wait and nothing is lost. "
        "Renew its page_token and restart; if the source is not in intake.toml any more, put it back."),
    "pull_failed": Text(
        "Desde {since} no se puede preguntar a «{subject}» qué se perdieron sus webhooks: revise su clave o su token.",
        "Since {since} “{subject}” cannot be asked for what its webhooks lost: check its key or token."),
    "media_parked": Text(
        "«{subject}» no puede guardar los archivos de sus mensajes desde {since}; {count} esperan y los leads siguen. "
        "Renueve su media_token y reinicie.",
        "“{subject}” cannot keep the files of its messages since {since}; {count} wait, and the leads go on. "
        "Renew its media_token and restart."),
    "source_paused": Text(
        "Una persona puso en pausa «{subject}» el {since}; {count} esperan y nada se pierde.",
        "A person paused “{subject}” on {since}; {count} wait and nothing is lost."),
    "backlog": Text(
        "{count} entregas a «{subject}» esperan desde {since}: ¿hay workers, y responde el CRM?",
        "{count} deliveries to “{subject}” have been due since {since}: are there workers, and does the CRM answer?"),
    "promise": Text(
        "{count} de «{subject}» aún no están en el CRM, más tarde de lo prometido.",
        "{count} from “{subject}” are not in the CRM yet, later than promised."),
    "no_worker": Text(
        "Ningún worker responde y {count} entregas esperan: inicie los workers.",
        "No worker answers, and {count} deliveries wait: start the workers."),
    "spool": Text(
        "Desde {since} hay entregas en el disco de este servidor porque PostgreSQL no las tomó: revise la base.",
        "Since {since} deliveries wait on this host's disk because PostgreSQL did not take them: check the database."),
    "silence": Text(
        "«{subject}» no envía nada desde {since}, más de lo habitual: revise el formulario o el número.",
        "“{subject}” has sent nothing since {since}, longer than usual: check the form or the number."),
    "gives_nothing": Text(
        "{count} entregas de «{subject}» en un día y ningún lead: ¿cambió lo que envía?",
        "{count} deliveries from “{subject}” in a day and not one lead: has what it sends changed?"),
    "test_address": Text(
        "{count} entregas de «{subject}» llegaron desde {since} a la dirección de pruebas y no van al CRM: ¿es un "
        "formulario publicado? Cambie su dirección a /hooks/{subject}; `intake events` muestra lo que llegó.",
        "{count} deliveries from “{subject}” came since {since} to the address for tests and go to no CRM: is it a "
        "form that is live? Change its address to /hooks/{subject}; `intake events` shows what came."),
    "noise": Text(
        "{count} entregas de «{subject}» rechazadas en la última hora, muchas más de lo habitual: "
        "revise su secreto, o quién la llama.",
        "{count} deliveries to “{subject}” refused in the last hour, many more than usual: "
        "check its secret, or who calls it."),
}  # fmt: skip

UNKNOWN = Text("{name}: {count} de «{subject}».", "{name}: {count} of “{subject}”.")

ENDED: Mapping[str, Text] = {
    "account_paused": Text(
        "Recuperado: la cuenta del CRM «{subject}» funciona de nuevo.",
        "Recovered: the CRM account “{subject}” works again."),
    "fetch_parked": Text(
        "Recuperado: «{subject}» lee de nuevo sus leads.", "Recovered: “{subject}” reads its leads again."),
    "media_parked": Text(
        "Recuperado: «{subject}» guarda de nuevo los archivos.", "Recovered: “{subject}” keeps files again."),
    "source_paused": Text("«{subject}» se reanudó.", "“{subject}” was resumed."),
    "silence": Text("Recuperado: «{subject}» vuelve a enviar.", "Recovered: “{subject}” sends again."),
}  # fmt: skip
ENDED_OTHERWISE = Text("Recuperado: {name} de «{subject}».", "Recovered: {name} of “{subject}”.")

NAMES: Mapping[str, Text] = {
    "uncertain": Text("en duda", "in doubt"),
    "review": Text("en revisión", "in review"),
    "conflict": Text("conflictos", "conflicts"),
    "quarantine": Text("en cuarentena", "in quarantine"),
    "incident": Text("incidentes", "incidents"),
    "awaiting_approval": Text("por aprobar", "to be approved"),
    "account_paused": Text("cuenta en pausa", "account paused"),
    "fetch_parked": Text("lectura de leads detenida", "reading of leads stopped"),
    "pull_failed": Text("fuente sin respuesta", "sender without an answer"),
    "media_parked": Text("archivos sin guardar", "files not kept"),
    "source_paused": Text("fuente en pausa", "source paused"),
    "spool": Text("entregas en disco", "deliveries on disk"),
    "backlog": Text("entregas atrasadas", "late deliveries"),
    "promise": Text("promesa incumplida", "promise not kept"),
    "no_worker": Text("sin workers", "no worker"),
    "silence": Text("silencio", "silence"),
    "gives_nothing": Text("entregas sin leads", "deliveries without leads"),
    "test_address": Text("dirección de pruebas", "address for tests"),
    "noise": Text("rechazos", "refusals"),
}
WHOLE = Text("toda la instalación", "the whole installation")
KINDS: Mapping[str, Text] = {
    "form": Text("Formularios", "Forms"),
    "whatsapp": Text("WhatsApp", "WhatsApp"),
    "quote": Text("Cotizaciones", "Quotes"),
}

TEST = Text("Prueba: los avisos de leads llegan aquí.", "Test: the alerts about leads arrive here.")
OPEN = Text("Consola: {link}", "Console: {link}")
REFERENCES = Text("Referencias: {references}", "References: {references}")
GREW = Text("Más: ", "More: ")

DIGEST_TITLE = Text("Resumen de leads de las últimas 24 horas", "Leads of the last 24 hours")
RECEIVED = Text("Recibidos: {count}", "Received: {count}")
IN_CRM = Text("En el CRM: {count}", "In the CRM: {count}")
ON_THEIR_WAY = Text("En camino: {count}", "On their way: {count}")
WAITING = Text("Esperan por usted: {count}", "Waiting for you: {count}")
TIMES = Text("Tiempo hasta el CRM (mediana / 95 %):", "Time to the CRM (median / 95 %):")
TRIES = Text("Intentos por lead: {count}", "Attempts per lead: {count}")
DECISIONS = Text("Decisiones tomadas: {count}", "Decisions taken: {count}")
HUMAN = Text(
    "Minutos de personas por lead recibido: {count} (de ver a decidir; {total} min en total, medidos en {measured} de "
    "{single} decisiones una a una)",
    "Human minutes per lead received: {count} (from seeing to deciding; {total} min in all, measured for {measured} of "
    "{single} decisions made one by one)",
)
WAITED = Text("Lo resuelto había esperado por una persona: {count} (mediana)",
              "What was settled had waited for a person: {count} (median)")  # fmt: skip
SUBJECT = Text("Leads: {count} avisos", "Leads: {count} alerts")
ONE_SUBJECT = Text("Leads: {name}", "Leads: {name}")
