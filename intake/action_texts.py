"""What a person may do with an event: what each action does, and why one is refused, in Spanish and English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from intake.reason_texts import Text

Action = Literal[
    "look",
    "settle applied",
    "settle not-applied",
    "settle contact",
    "settle note",
    "settle new",
    "correct",
    "revive",
    "approve",
    "decline",
    "cancel",
    "redeliver",
    "reissue",
    "spam",
]

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
    "settle contact": Text(
        "Dice qué contacto del CRM es esta persona; desde ahora sus datos llevan a ese contacto.",
        "Says which contact of the CRM this person is; from now on their details lead to that one."),
    "settle note": Text(
        "Deja la nota en la oportunidad aunque esté cerrada.", "Puts the note on the opportunity though it is closed."),
    "settle new": Text(
        "Abre otra oportunidad para este mensaje y los que sigan.",
        "Opens another opportunity for this message and those that follow."),
    "correct": Text(
        "Cambia los datos que se entregarán; lo original se conserva. La oportunidad que ya está en el CRM se "
        "actualiza donde nadie la cambió.",
        "Changes what will be delivered; the original is kept. An opportunity that stands in the CRM is brought up to "
        "date where nobody changed it."),
    "revive": Text(
        "Sigue desde el primer paso sin confirmar; lo confirmado no se crea de nuevo.",
        "Goes on at the first unconfirmed step; what is confirmed is not created again."),
    "approve": Text(
        "Permite que se entregue exactamente este contenido.", "Lets exactly this content be delivered."),
    "decline": Text("No se entrega; es definitivo.", "It is not delivered; this is final."),
    "cancel": Text(
        "Se detiene aquí y es definitivo; lo que ya está en el CRM sigue allí.",
        "Stops here, and this is final; what already stands in the CRM stays there."),
    "redeliver": Text(
        "Mira en el CRM qué falta de lo que hubo y crea de nuevo solo eso; lo que está se conserva.",
        "Looks in the CRM what is missing of what stood there and makes only that anew; what stands is kept."),
    "reissue": Text(
        "Crea a propósito otra oportunidad con el mismo contenido, enlazada con esta.",
        "Makes another opportunity of the same content on purpose, linked to this one."),
    "spam": Text(
        "Lo cancela si aún está abierto; lo que llegue después de esta persona espera aprobación, no se pierde.",
        "Cancels it if it is still open; what comes later from this person awaits approval, and is not lost."),
}  # fmt: skip

# Why an action is refused.
REFUSALS: Mapping[str, Text] = {
    "nothing_in_doubt": Text("Ningún registro suyo está en duda.", "None of its records is in doubt."),
    "everything_known": Text(
        "Todos sus registros ya se conocen.", "All of its records are known already."),
    "not_open": Text(
        "Está «{state}», que es un estado final.", "It is “{state}”, which is final."),
    "still_open": Text(
        "Está «{state}» y aún sigue su camino: termine o cancele este antes de abrir otro.",
        "It is “{state}” and still on its way: settle or cancel it before you open another."),
    "in_hand": Text(
        "Un worker lo está entregando ahora; espere a que termine.",
        "A worker is delivering it now; wait until it ends."),
    "only_for_a_person": Text(
        "Solo cuando está en duda o en revisión; está «{state}».",
        "Only while it is in doubt or in review; it is “{state}”."),
    "only_in_review": Text("Solo desde revisión; está «{state}».", "Only from review; it is “{state}”."),
    "only_open_to_correction": Text(
        "Solo desde revisión o mientras espera aprobación; está «{state}».",
        "Only from review, or while it awaits approval; it is “{state}”."),
    "only_confirmed_or_review": Text(
        "Solo si está confirmado o en revisión; está «{state}».",
        "Only once it is confirmed, or from review; it is “{state}”."),
    "only_awaiting": Text(
        "Solo mientras espera aprobación; está «{state}».", "Only while it awaits approval; it is “{state}”."),
    "older_content": Text(
        "Ese no es el contenido actual: hay una revisión más nueva. Véala con `intake show` y apruebe esa.",
        "That is not its content any more: there is a newer revision. See it with `intake show`, and approve that."),
    "illegible": Text(
        "Su contenido no se puede leer: se dañó en la base de datos. Recupérelo de una copia.",
        "Its content cannot be read: it was damaged in the database. Restore it from a backup."),
    "several_in_doubt": Text(
        "Más de un registro suyo está en duda: diga cuál con --record.",
        "More than one of its records is in doubt: say which with --record."),
    "contact_in_doubt": Text(
        "Su contacto está en duda: primero aclárelo con `settle applied` o `settle not-applied`.",
        "Its contact is in doubt: clear that up first, with `settle applied` or `settle not-applied`."),
    "contact_known": Text("Su contacto ya se conoce.", "Its contact is known already."),
    "of_its_opener": Text(
        "Su contacto es el del mensaje que abrió la conversación.",
        "Its contact is that of the message that opened the conversation."),
    "not_closed": Text(
        "Solo cuando su oportunidad está cerrada.", "Only where its opportunity is closed."),
    "not_without_opportunity": Text(
        "Solo para un mensaje cuya oportunidad está cerrada, borrada o nunca se abrió.",
        "Only for a message whose opportunity is closed, deleted, or was never opened."),
    "nothing_stood": Text(
        "Nada suyo estuvo en el CRM todavía.", "Nothing of it stood in the CRM so far."),
    "nothing_gone": Text(
        "Todo lo suyo sigue en el CRM: no hay nada que crear de nuevo. Si está en revisión, use `revive`.",
        "Everything of it stands in the CRM: there is nothing to make anew. If it is in review, use `revive`."),
    "opener_comes_first": Text(
        "Su oportunidad ya no está: entregue de nuevo el mensaje que la abrió, o abra otra con `settle … new`.",
        "Its opportunity is gone: redeliver the message that opened it, or open another with `settle … new`."),
    "opener_on_its_way": Text(
        "Su oportunidad se está creando de nuevo y aún no está: espere a que se confirme el mensaje que la abrió.",
        "Its opportunity is being made anew and does not stand yet: wait until the message that opened it is "
        "confirmed."),
    "in_doubt_first": Text(
        "Un registro suyo está en duda: aclárelo primero.", "One of its records is in doubt: clear that up first."),
    "newer_comes_first": Text(
        "Una versión más nueva está confirmada: entregue de nuevo esa.",
        "A newer version is confirmed: redeliver that one."),
    "said_already": Text(
        "Lo que decía ya está en el CRM: espere a que se confirme, o use `revive`.",
        "What it said stands in the CRM already: wait until it is confirmed, or use `revive`."),
    "reissue_open": Text(
        "Ya se abrió otro a propósito y aún sigue su camino.",
        "Another was opened on purpose already, and is still on its way."),
    "purged": Text("Su contenido ya fue borrado.", "Its content was purged."),
    "no_such_record": Text(
        "No tiene ese registro, o ya se conoce.", "It has no such record, or that one is known already."),
    "no_such_contact": Text(
        "Ese identificador es de un registro que está en duda o ya no existe.",
        "That id is of a record that is in doubt, or gone."),
    "no_keys": Text(
        "Esta persona no dejó teléfono, correo ni WhatsApp: no hay qué bloquear.",
        "This person left no phone, e-mail or WhatsApp id: there is nothing to block."),
    "item_closed": Text("Ese pendiente ya está cerrado.", "That item is closed already."),
    "item_of_delivery": Text(
        "Se cierra solo cuando su entrega avanza: use settle, correct, revive, approve o cancel.",
        "It closes by itself when its delivery moves on: use settle, correct, revive, approve or cancel."),
    "not_of_this_kind": Text(
        "Un pendiente de esa clase no se resuelve así: conflicto, keep o accept; incidente, accept; cuarentena, keep.",
        "An item of that kind is not resolved so: a conflict by keep or accept, an incident by accept, a quarantine "
        "by keep."),
    "unreadable_again": Text(
        "El otro contenido ya no se puede leer o ya fue borrado; solo queda keep.",
        "The other content cannot be read again, or was purged; only keep is left."),
    "other_id": Text(
        "Ese registro ya se conoce con otro identificador.", "That record is known under another id already."),
}  # fmt: skip
