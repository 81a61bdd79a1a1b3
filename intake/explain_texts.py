"""The words of `intake/explain.py`, in Spanish and English: one row a state, a next step, an action, a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from intake.reason_texts import Language, Text

__all__ = ["DOES", "ITEMS", "REFUSALS", "STATES", "THEN", "UNKNOWN_STATE", "Action", "Language", "StateText", "Text"]


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
# An open item that is about no delivery.
ITEMS: Mapping[str, Text] = {
    "quarantine": Text(
        "Llegó auténtico, pero no se pudo leer ({reason}); sus bytes se conservan.",
        "It came authentic, but could not be read ({reason}); its bytes are kept."),
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
