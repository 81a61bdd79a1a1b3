"""The words of `intake/explain.py`, in Spanish and English: one row a state; steps and actions stand beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intake.action_texts import DOES, REFUSALS, Action
from intake.next_steps import HELD, THEN
from intake.reason_texts import Language, Text

__all__ = [
    "DOES",
    "HELD",
    "ITEMS",
    "ITEM_ACTIONS",
    "REFUSALS",
    "STATES",
    "THEN",
    "UNKNOWN_STATE",
    "Action",
    "Language",
    "StateText",
    "Text",
]


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
# What may be done with an open item that is about no delivery: the command, and what it does.
ITEM_ACTIONS: Mapping[str, Mapping[str, Text]] = {
    "conflict": {
        "resolve keep": Text("Se queda el contenido que llegó primero.", "What came first stays as it is."),
        "resolve accept": Text(
            "El otro contenido pasa a ser una revisión del evento y se entrega; lo que alguien cambió en el CRM queda.",
            "The other content becomes a revision of the event and is delivered; what people changed in the CRM "
            "stays."),
    },
    "quarantine": {
        "resolve release": Text(
            "Se lee de nuevo, o con los bytes corregidos de --body, y se acepta lo que se entienda.",
            "It is read again, or with the corrected bytes of --body, and what can be read is accepted."),
        "resolve keep": Text(
            "Se cierra sin entregar; sus bytes se conservan.", "It is closed undelivered; its bytes are kept."),
    },
    "incident": {
        "resolve accept": Text("Alguien lo vio y se encargó.", "Somebody saw it, and saw to it."),
    },
}  # fmt: skip
# An open item that is about no delivery.
ITEMS: Mapping[str, Text] = {
    "quarantine": Text(
        "Llegó auténtico, pero no se pudo leer; sus bytes se conservan. {why}",
        "It came authentic, but could not be read; its bytes are kept. {why}"),
}  # fmt: skip
