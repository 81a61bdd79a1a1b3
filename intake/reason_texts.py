"""The reasons of deliveries, attempts, items and accounts, in Spanish and English.

A reason that ends in `*` covers all that begin with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Language = Literal["es", "en"]


@dataclass(frozen=True, slots=True)
class Text:
    """One sentence in both languages."""

    es: str
    en: str

    def of(self, language: Language) -> str:
        return self.es if language == "es" else self.en


UNKNOWN_REASON = Text("El motivo registrado es «{reason}».", "The reason on record is “{reason}”.")

REASONS: Mapping[str, Text] = {
    # the source's rule
    "approval_required": Text(
        "Su fuente pide aprobación antes de entregar.", "Its source asks for approval before delivery."),
    "corrected": Text(
        "Se corrigió, y el contenido nuevo necesita su propia aprobación.",
        "It was corrected, and the new content needs an approval of its own."),
    "approval_expired": Text(
        "Se aprobó, pero la aprobación venció antes de entregarlo.",
        "It was approved, but the approval ended before it was delivered."),
    "content_came": Text(
        "Llegó el resto de su contenido, y lo que se aprobó era menos que esto.",
        "The rest of its content came, and what was approved was less than this."),
    "held_as_spam": Text(
        "Una persona marcó como spam a este remitente; se guarda y espera.",
        "A person marked this sender as spam; it is kept, and waits."),
    "held_links": Text(
        "Trae enlaces, y su fuente pide que una persona los mire antes.",
        "It brings links, and its source wants a person to look first."),
    "held_repeated": Text(
        "Otros escribieron lo mismo hoy, palabra por palabra, y su fuente pide que una persona lo mire antes.",
        "Others wrote the same today, word for word, and its source wants a person to look first."),
    "held_honeypot": Text(
        "Llenó el campo trampa de la página, que las personas no ven: quizás es un robot, y espera por si no lo es.",
        "It filled the page's trap, a field that people do not see: perhaps it is a robot, and waits in case it is "
        "not."),
    "held_*": Text(
        "Parece spam ({reason}); se guarda y espera.", "It looks like spam ({reason}); it is kept, and waits."),
    # waiting for others
    "looked": Text(
        "Se aclaró la duda que lo detenía.", "The doubt that held it was cleared up."),
    "opener_first": Text(
        "Va después del mensaje que abre su oportunidad.", "It follows the message that opens its opportunity."),
    "carrier_first": Text(
        "Va en el mismo texto que otro mensaje, que se está por escribir en el CRM.",
        "It goes into the same text as another message, which is about to be written to the CRM."),
    "members_changed": Text(
        "Cambió uno de los mensajes que iban en su texto, y este se escribe de nuevo.",
        "One of the messages that were to go into its text has changed, and the text is written again."),
    "merged": Text(
        "En el CRM lo unieron a otro registro, y sigue con ese.",
        "In the CRM it was merged into another record, and it goes on with that one."),
    "record_busy": Text(
        "Otro worker está escribiendo el mismo registro del CRM.", "Another worker is writing the same CRM record."),
    "record_in_doubt": Text(
        "Comparte un registro del CRM que otra entrega dejó en duda.",
        "It shares a CRM record that another delivery left in doubt."),
    "opener_in_doubt": Text(
        "La oportunidad a la que pertenece está en duda.", "The opportunity that it belongs to is in doubt."),
    "account_paused": Text(
        "La cuenta del CRM está en pausa: tampoco responde la llamada de control.",
        "The CRM account is paused: its control call fails too."),
    "no_control": Text(
        "Falta el registro testigo del CRM, y sin él un «no existe» no vale. Ejecute `intake crm check --create`.",
        "The CRM's sentinel record is missing, and without it an “absent” counts for nothing. "
        "Run `intake crm check --create`."),
    # answers that are still at the sender
    "fetch_pending": Text(
        "Sus respuestas aún están en Meta; se leen antes de entregarlo.",
        "Its answers are still at Meta; they are read before it is delivered."),
    "fetch_failed": Text(
        "Sus respuestas no se pudieron leer en Meta todavía; se intenta de nuevo.",
        "Its answers could not be read at Meta yet; it is tried again."),
    "fetch_parked": Text(
        "El page_token de su fuente no sirve o falta, o la fuente ya no está en intake.toml; sus respuestas se leen en "
        "cuanto haya uno que sirva.",
        "Its source's page_token does not work or is missing, or the source is not in intake.toml any more; its "
        "answers are read as soon as there is one that works."),
    "fetch_used_up": Text(
        "Se intentó leer sus respuestas en Meta durante días; complételo a mano o revívalo.",
        "For days its answers could not be read at Meta; fill them in by hand, or revive it."),
    "fetch_*": Text(
        "No se pudo leer en el servicio de quien lo envía ({reason}).",
        "It could not be read at its sender's service ({reason})."),
    "lead_gone": Text(
        "Meta dice que este lead ya no existe, o que el page_token no alcanza a verlo.",
        "Meta says that this lead is gone, or that the page_token cannot see it."),
    # the way to the CRM
    "not_sent_*": Text(
        "No se pudo llegar al CRM; no salió ningún byte y se intenta de nuevo.",
        "The CRM could not be reached; no byte left, and it is tried again."),
    "too_late": Text("Se hizo tarde para enviar; no salió nada.", "It was too late to send; nothing left."),
    "dns": Text("No se encontró la dirección del CRM.", "The CRM's address was not found."),
    "refused": Text("El CRM no aceptó la conexión.", "The CRM did not accept the connection."),
    "tls": Text("Falló la conexión segura con el CRM.", "The secure connection to the CRM failed."),
    "connect_timeout": Text("El CRM no respondió al conectar.", "The CRM did not answer the connection."),
    "unreachable": Text("No se pudo llegar al CRM.", "The CRM could not be reached."),
    "malformed": Text(
        "La petición no se pudo formar; es un defecto del programa o de la configuración.",
        "The request could not be made; a defect of the program or the configuration."),
    "timeout": Text(
        "El CRM no respondió a tiempo; puede haberlo ejecutado.",
        "The CRM did not answer in time; it may have executed it."),
    "eof": Text(
        "El CRM cerró la conexión sin responder; puede haberlo ejecutado.",
        "The CRM closed the connection without an answer; it may have executed it."),
    "reset": Text(
        "El CRM cortó la conexión; puede haberlo ejecutado.",
        "The CRM reset the connection; it may have executed it."),
    "cut_head": Text(
        "La respuesta del CRM llegó cortada; puede haberlo ejecutado.",
        "The CRM's answer came cut; it may have executed it."),
    "cut_body": Text(
        "La respuesta del CRM llegó incompleta; puede haberlo ejecutado.",
        "The CRM's answer came incomplete; it may have executed it."),
    "garbage": Text(
        "Lo que respondió el CRM no es HTTP; puede haberlo ejecutado.",
        "What the CRM answered is no HTTP; it may have executed it."),
    "oversized": Text(
        "La respuesta del CRM es demasiado grande; puede haberlo ejecutado.",
        "The CRM's answer is too large; it may have executed it."),
    "lost": Text(
        "Se cortó la conexión después de enviar; puede haberlo ejecutado.",
        "The connection was lost after sending; the CRM may have executed it."),
    # what the CRM said
    "overloaded": Text(
        "El CRM dice que está sobrecargado y pide esperar.", "The CRM says that it is overloaded, and asks to wait."),
    "concurrent_update": Text(
        "Otro cambiaba lo mismo en el CRM en ese momento; no se escribió nada y se intenta de nuevo.",
        "Somebody else changed the same in the CRM at that moment; nothing was written, and it is tried again."),
    "method_missing": Text(
        "El CRM no ofrece a esta credencial una función que hace falta. Ejecute `intake crm check`.",
        "The CRM offers this credential no such function as is needed. Run `intake crm check`."),
    "rate_limited": Text("El CRM pidió ir más despacio.", "The CRM asked to slow down."),
    "bad_credential": Text(
        "El CRM no acepta la credencial de la cuenta.", "The CRM does not accept the account's credential."),
    "grant_lost": Text(
        "El CRM retiró el permiso OAuth: alguien debe conectar la cuenta de nuevo (`intake crm connect`).",
        "The CRM took the OAuth grant back: somebody has to connect the account again (`intake crm connect`)."),
    "grant_missing": Text(
        "La cuenta aún no está conectada (`intake crm connect`).",
        "The account is not connected yet (`intake crm connect`)."),
    "grant_busy": Text(
        "Otro proceso renueva el permiso de la cuenta; se intenta enseguida.",
        "Another process is renewing the account's grant; it is tried again at once."),
    "grant_sealed": Text(
        "Ninguna llave de este equipo abre el permiso de la cuenta (INTAKE_SEAL_KEYS).",
        "No key of this host opens the account's grant (INTAKE_SEAL_KEYS)."),
    "oauth_*": Text(
        "El CRM no renovó el permiso de la cuenta; se intenta de nuevo.",
        "The CRM did not renew the account's grant; it is tried again."),
    "forbidden": Text(
        "La credencial no tiene permiso para esto en el CRM.", "The credential has no right to do this in the CRM."),
    "token_scope": Text(
        "A la credencial le falta un permiso en el CRM.", "The credential lacks a right in the CRM."),
    "validation": Text(
        "El CRM rechazó el contenido; corrija los campos indicados.",
        "The CRM refused the content; correct the fields that are named."),
    "gone": Text(
        "El CRM dice que el registro del que depende ya no existe.",
        "The CRM says that the record it depends on is gone."),
    "no_id_by_design": Text(
        "El CRM no devuelve un identificador; se busca por su referencia.",
        "The CRM returns no id; it is looked up by its reference."),
    "no_id": Text(
        "El CRM dijo que sí pero no dio un identificador.", "The CRM said yes but gave no id."),
    "server_error": Text(
        "El CRM falló al responder; puede haberlo ejecutado.",
        "The CRM failed while answering; it may have executed it."),
    "unreadable_match": Text(
        "No se pudo leer la respuesta del CRM al buscar a la persona.",
        "The CRM's answer to the search for the person could not be read."),
    "more_than_one_page": Text(
        "La respuesta del CRM no cabe en una página; no prueba nada.",
        "The CRM's answer has more than one page; it proves nothing."),
    "reference_field_missing": Text(
        "Al CRM le falta el campo donde va nuestra referencia. Ejecute `intake crm check`.",
        "The CRM lacks the field for our reference. Run `intake crm check`."),
    "reference_field_not_unique": Text(
        "El campo del CRM donde va nuestra referencia admite valores repetidos; debe ser único.",
        "The CRM's field for our reference takes a value twice; it must be unique."),
    "reference_field_not_external": Text(
        "El campo del CRM donde va nuestra referencia no es un identificador externo; debe serlo.",
        "The CRM's field for our reference is no external id; it must be one."),
    "plan_limit": Text(
        "La cuenta del CRM llegó a un límite de su plan; no se arregla solo.",
        "The CRM account met a limit of its plan; that does not go by itself."),
    "account_closed": Text(
        "La cuenta del CRM está cerrada o impaga.", "The CRM account is closed or unpaid."),
    "blocked": Text(
        "El CRM bloqueó por un tiempo nuestras llamadas.", "The CRM blocked our calls for a time."),
    "locked": Text(
        "Otra persona o programa está cambiando lo mismo en el CRM; no se ejecutó.",
        "Somebody else is changing the same in the CRM; it was not executed."),
    "record_locked": Text(
        "El CRM no deja cambiar ese registro en el estado en que está.",
        "The CRM does not let that record be changed in its present state."),
    "duplicate_*": Text(
        "El CRM dice que ya existe algo igual por una regla suya, y no lleva nuestra referencia.",
        "The CRM says that the same exists by a rule of its own, and it does not bear our reference."),
    "status_*": Text(
        "El CRM respondió con un error que no dice si lo ejecutó ({reason}).",
        "The CRM answered with an error that does not say whether it was executed ({reason})."),
    "unreadable": Text(
        "El CRM respondió que sí, con un contenido que no se puede leer.",
        "The CRM said yes, with content that cannot be read."),
    "unreadable_list": Text(
        "No se pudo leer una lista que el CRM devolvió; no prueba nada.",
        "A list that the CRM returned could not be read; it proves nothing."),
    # why a look's "absent" did not count
    "no_sentinel": Text("Falta el registro testigo.", "The sentinel record is missing."),
    "sentinel_replaced": Text(
        "El registro testigo es otro que el conocido.", "The sentinel record is another than the known one."),
    "sentinel_not_found": Text(
        "La misma búsqueda no encontró ni el registro testigo.", "The same search did not even find the sentinel."),
    "too_early": Text(
        "Se buscó enseguida; un «no existe» aún no prueba nada.",
        "It was looked for at once; an “absent” proves nothing yet."),
    "after_duplicate": Text(
        "Se buscó porque el CRM dijo que ya existía.", "It was looked for because the CRM said that it exists."),
    "not_live": Text(
        "Está en la papelera del CRM o unido a otro.", "It is in the CRM's trash, or merged into another."),
    "read_back": Text("Se leyó para comprobarlo.", "It was read back to check it."),
    # doubt
    "in_doubt": Text("Una escritura quedó sin respuesta segura.", "A write got no sure answer."),
    "update_in_doubt": Text("Un cambio quedó sin respuesta segura.", "A change got no sure answer."),
    "worker_lost": Text(
        "El worker se perdió con una escritura en camino.", "The worker was lost with a write on its way."),
    "settled_not_applied": Text(
        "Una persona dice que no se aplicó; aún debe pasar el tiempo límite y una búsqueda.",
        "A person says that it was not applied; the time limit and one look must still pass."),
    # for a person
    "several": Text(
        "Hay más de un registro del CRM con la misma referencia.",
        "More than one CRM record bears the same reference."),
    "looks_used_up": Text(
        "Se buscó muchas veces y no se pudo probar ni que existe ni que no.",
        "It was looked for many times, and neither its presence nor its absence could be proven."),
    "budget_used_up": Text(
        "Se intentó muchas veces sin que el CRM lo aceptara.", "It was tried many times, and the CRM never took it."),
    "contact_ambiguous": Text(
        "Sus datos coinciden con más de un contacto: hay que decir cuál es.",
        "Its details match more than one contact: somebody must say which."),
    "contact_other_name": Text(
        "Su teléfono es el de un contacto con otro nombre: una familia, una oficina, o la misma persona.",
        "Its phone is that of a contact with another name: a family, an office, or the same person."),
    "contact_gone": Text(
        "Su contacto fue borrado o unido a otro en el CRM.", "Its contact was deleted or merged in the CRM."),
    "opportunity_gone": Text(
        "Su oportunidad fue borrada o unida a otra en el CRM.", "Its opportunity was deleted or merged in the CRM."),
    "task_gone": Text("Su tarea fue borrada en el CRM.", "Its task was deleted in the CRM."),
    "note_gone": Text("Su nota fue borrada en el CRM.", "Its note was deleted in the CRM."),
    "opportunity_closed": Text(
        "Su oportunidad está cerrada (ganada o perdida) en el CRM.",
        "Its opportunity is closed (won or lost) in the CRM."),
    "opener_refused": Text(
        "El mensaje que debía abrir su oportunidad fue rechazado o cancelado.",
        "The message that should open its opportunity was refused or cancelled."),
    "conversation_ambiguous": Text(
        "Después de restaurar la base hay más de una oportunidad de esta conversación en el CRM:"
        " una persona debe decir cuál es la suya.",
        "After a restore the CRM holds more than one opportunity of this conversation: a person must say which is its.",
    ),
    "conversation_unlisted": Text(
        "Después de restaurar la base, este CRM no permite listar las oportunidades del contacto:"
        " una persona debe mirar si la de esta conversación ya está.",
        "After a restore, this CRM cannot list the contact's opportunities:"
        " a person must look whether this conversation's stands there.",
    ),
    "payload_purged": Text(
        "Su contenido ya fue borrado; no queda qué entregar.", "Its content was purged; nothing is left to deliver."),
    "internal_error": Text(
        "Un error de nuestro propio programa impidió entregarlo; avise al soporte, que lo verá en el registro.",
        "A bug of our own program kept it from being delivered; tell the support, who find it in the log."),
    # ends
    "cancelled": Text("Una persona lo canceló.", "A person cancelled it."),
    "newer_version": Text("Hay una versión más nueva en el CRM.", "A newer version stands in the CRM."),
    # other items and accounts
    "other_content": Text(
        "Llegó otro contenido con la misma identidad; se guardaron los dos y no se cambió nada.",
        "Other content came under the same identity; both are kept and nothing was changed."),
    "late_success": Text(
        "Una escritura dada por perdida respondió tarde: puede haber dos registros.",
        "A write that was given up answered late: there may be two records."),
    "foreign_installation": Text(
        "La cuenta del CRM pertenece a otra instalación.", "The CRM account belongs to another installation."),
    "paused_by_person": Text("Una persona puso la cuenta en pausa.", "A person paused the account."),
}  # fmt: skip
