"""The words of `intake/explain.py`, in Spanish and English: one row a state, a reason, an action.

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


@dataclass(frozen=True, slots=True)
class StateText:
    """Where a delivery stands, and what happens next by itself."""

    where: Text
    then: Text


NOBODY = Text("Nada más: es un estado final.", "Nothing more: this state is final.")
PERSON = Text("Nada hasta que una persona decida.", "Nothing until a person decides.")

STATES: Mapping[str, StateText] = {
    "awaiting_approval": StateText(
        Text("Espera la aprobación de una persona; nada se envió al CRM.",
             "It waits for a person's approval; nothing was sent to the CRM."),
        PERSON,
    ),
    "received": StateText(
        Text("Está recibido y guardado; le toca ser entregado al CRM.",
             "It is received and stored; its delivery to the CRM is due."),
        Text("Un worker lo entrega en cuanto esté libre.", "A worker delivers it as soon as one is free."),
    ),
    "delivering": StateText(
        Text("Un worker lo está entregando ahora.", "A worker is delivering it now."),
        Text("Termina por sí solo; si el worker se pierde, el reloj lo recupera.",
             "It ends by itself; if its worker is lost, the clock takes it back."),
    ),
    "waiting": StateText(
        Text("Espera para seguir más tarde; nada se perdió.", "It waits to go on later; nothing was lost."),
        Text("Sigue por sí solo a su hora, o antes si se aclara lo que lo detiene.",
             "It goes on by itself when due, or sooner if what holds it is cleared up."),
    ),
    "uncertain": StateText(
        Text("No se sabe si el CRM ejecutó la última escritura.",
             "It is not known whether the CRM executed the last write."),
        Text("Se sigue buscando en el CRM por su referencia: si aparece, queda confirmado; solo con la ausencia "
             "probada se escribe de nuevo.",
             "It is looked for in the CRM by its reference: once found it is confirmed; only when its absence is "
             "proven is it written again."),
    ),
    "review": StateText(
        Text("Necesita a una persona.", "It needs a person."),
        PERSON,
    ),
    "confirmed": StateText(
        Text("Todo lo que le corresponde existe en el CRM.", "Everything it stands for is in the CRM."),
        NOBODY,
    ),
    "cancelled": StateText(
        Text("Una persona lo canceló; lo que ya existía en el CRM sigue allí.",
             "A person cancelled it; what already stood in the CRM stays there."),
        NOBODY,
    ),
    "superseded": StateText(
        Text("Una versión más nueva lo reemplazó antes de que escribiera algo.",
             "A newer version took its place before it wrote anything."),
        NOBODY,
    ),
}  # fmt: skip

UNKNOWN_STATE = StateText(
    Text("Está en un estado que esta versión no conoce.", "It is in a state that this version does not know."),
    Text("Revise el historial antes de decidir.", "Read its history before you decide."),
)
UNKNOWN_REASON = Text("El motivo registrado es «{reason}».", "The reason on record is “{reason}”.")

# --- why it is there ------------------------------------------------------------------------------------------------

REASONS: Mapping[str, Text] = {
    # the source's rule
    "approval_required": Text(
        "Su fuente pide aprobación antes de entregar.", "Its source asks for approval before delivery."),
    "corrected": Text(
        "Se corrigió, y el contenido nuevo necesita su propia aprobación.",
        "It was corrected, and the new content needs an approval of its own."),
    # waiting for others
    "looked": Text(
        "Se aclaró la duda que lo detenía.", "The doubt that held it was cleared up."),
    "opener_first": Text(
        "Va después del mensaje que abre su oportunidad.", "It follows the message that opens its opportunity."),
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
    "lost": Text(
        "Se cortó la conexión después de enviar; puede haberlo ejecutado.",
        "The connection was lost after sending; the CRM may have executed it."),
    # what the CRM said
    "rate_limited": Text("El CRM pidió ir más despacio.", "The CRM asked to slow down."),
    "bad_credential": Text(
        "El CRM no acepta la credencial de la cuenta.", "The CRM does not accept the account's credential."),
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
    "duplicate_*": Text(
        "El CRM dice que ya existe algo igual por una regla suya, y no lleva nuestra referencia.",
        "The CRM says that the same exists by a rule of its own, and it does not bear our reference."),
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
    "contact_gone": Text(
        "Su contacto fue borrado o unido a otro en el CRM.", "Its contact was deleted or merged in the CRM."),
    "opportunity_gone": Text(
        "Su oportunidad fue borrada o unida a otra en el CRM.", "Its opportunity was deleted or merged in the CRM."),
    "task_gone": Text("Su tarea fue borrada en el CRM.", "Its task was deleted in the CRM."),
    "note_gone": Text("Su nota fue borrada en el CRM.", "Its note was deleted in the CRM."),
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

# Where a state and a reason together ask for another next step than the state alone.
THEN: Mapping[tuple[str, str], Text] = {
    ("waiting", "no_control"): Text(
        "Se entrega cuando alguien cree el registro testigo; se pregunta cada medio minuto.",
        "It is delivered once somebody makes the sentinel; this is asked every half minute."),
    ("waiting", "account_paused"): Text(
        "Sigue cuando la cuenta responda a la llamada de control, que se repite sola.",
        "It goes on once the account answers its control call, which is repeated by itself."),
    ("review", "validation"): Text(
        "Nada hasta que alguien corrija los campos (`intake correct`) o lo cancele.",
        "Nothing until somebody corrects the fields (`intake correct`) or cancels it."),
    ("review", "budget_used_up"): Text(
        "Nada hasta que alguien lo reviva (`intake revive`) cuando el CRM funcione.",
        "Nothing until somebody revives it (`intake revive`) once the CRM works."),
    ("review", "several"): Text(
        "Nada hasta que alguien deje uno solo en el CRM y lo señale (`intake settle … applied --crm-id`).",
        "Nothing until somebody leaves one of them in the CRM and names it (`intake settle … applied --crm-id`)."),
    ("review", "looks_used_up"): Text(
        "Nada hasta que alguien mire en el CRM y diga si se aplicó (`intake settle`).",
        "Nothing until somebody looks in the CRM and says whether it was applied (`intake settle`)."),
}  # fmt: skip

# --- what may be done -----------------------------------------------------------------------------------------------

Action = Literal["look", "settle applied", "settle not-applied", "correct", "revive", "approve", "decline", "cancel"]

# What an action does where it is allowed.
DOES: Mapping[Action, Text] = {
    "look": Text(
        "Busca ya en el CRM; no escribe nada.", "Looks in the CRM now; writes nothing."),
    "settle applied": Text(
        "Da por hecho el registro que usted nombra, si lleva nuestra referencia; sigue con el paso siguiente.",
        "Takes the record that you name as done, if it bears our reference; goes on with the next step."),
    "settle not-applied": Text(
        "Reemplaza la prueba de ausencia, no el tiempo: se busca una vez más antes de escribir.",
        "Replaces the proof of absence, not the time: it is looked for once more before anything is written."),
    "correct": Text(
        "Cambia los datos que se entregarán; lo original se conserva y lo que ya está en el CRM no cambia.",
        "Changes what will be delivered; the original is kept, and what stands in the CRM is not changed."),
    "revive": Text(
        "Sigue desde el primer paso sin confirmar; lo confirmado no se crea de nuevo.",
        "Goes on at the first unconfirmed step; what is confirmed is not created again."),
    "approve": Text("Permite que se entregue.", "Lets it be delivered."),
    "decline": Text("No se entrega; es definitivo.", "It is not delivered; this is final."),
    "cancel": Text(
        "Se detiene aquí y es definitivo; lo que ya está en el CRM sigue allí.",
        "Stops here, and this is final; what already stands in the CRM stays there."),
}  # fmt: skip

# Why an action is refused.
REFUSALS: Mapping[str, Text] = {
    "nothing_in_doubt": Text("Ningún registro suyo está en duda.", "None of its records is in doubt."),
    "everything_known": Text(
        "Todos sus registros ya se conocen.", "All of its records are known already."),
    "not_open": Text(
        "Está «{state}», que es un estado final.", "It is “{state}”, which is final."),
    "in_hand": Text(
        "Un worker lo está entregando ahora; espere a que termine.",
        "A worker is delivering it now; wait until it ends."),
    "only_for_a_person": Text(
        "Solo cuando está en duda o en revisión; está «{state}».",
        "Only while it is in doubt or in review; it is “{state}”."),
    "only_in_review": Text("Solo desde revisión; está «{state}».", "Only from review; it is “{state}”."),
    "only_awaiting": Text(
        "Solo mientras espera aprobación; está «{state}».", "Only while it awaits approval; it is “{state}”."),
    "several_in_doubt": Text(
        "Más de un registro suyo está en duda: diga cuál con --record.",
        "More than one of its records is in doubt: say which with --record."),
    "purged": Text("Su contenido ya fue borrado.", "Its content was purged."),
    "no_such_record": Text(
        "No tiene ese registro, o ya se conoce.", "It has no such record, or that one is known already."),
    "item_closed": Text("Ese pendiente ya está cerrado.", "That item is closed already."),
    "item_of_delivery": Text(
        "Se cierra solo cuando su entrega avanza: use settle, correct, revive, approve o cancel.",
        "It closes by itself when its delivery moves on: use settle, correct, revive, approve or cancel."),
    "other_id": Text(
        "Ese registro ya se conoce con otro identificador.", "That record is known under another id already."),
}  # fmt: skip
