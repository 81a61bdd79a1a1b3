"""What a reconciliation finds wrong, in Spanish and English."""

from __future__ import annotations

from collections.abc import Mapping

from intake.reason_texts import Text

INCIDENTS: Mapping[str, Text] = {
    "event_without_delivery": Text(
        "Un evento aceptado no tiene entrega: nadie lo llevaría al CRM.",
        "An accepted event has no delivery: nobody would take it to the CRM."),
    "delivery_without_event": Text(
        "Falta el evento de una entrega: alguien borró su fila de la base.",
        "A delivery's event is missing: somebody removed its row from the database."),
    "receipt_without_event": Text(
        "Se recibió un mensaje cuyos eventos ya no están en la base.",
        "A message was received whose events are no longer in the database."),
    "event_without_lead": Text(
        "Falta el contenido de un evento aceptado.",
        "The content of an accepted event is missing."),
    "confirmed_without_contact": Text(
        "Figura como confirmado, pero no se conoce su contacto en el CRM.",
        "It says confirmed, but its contact in the CRM is not known."),
    "confirmed_without_opportunity": Text(
        "Figura como confirmado, pero no se conoce su oportunidad en el CRM.",
        "It says confirmed, but its opportunity in the CRM is not known."),
    "confirmed_without_task": Text(
        "Figura como confirmado, pero no se conoce su tarea en el CRM.",
        "It says confirmed, but its task in the CRM is not known."),
    "confirmed_without_note": Text(
        "Figura como confirmado, pero no se conoce su nota en el CRM.",
        "It says confirmed, but its note in the CRM is not known."),
    "open_without_item": Text(
        "Espera a una persona y ningún pendiente lo muestra.",
        "It waits for a person, and no open item shows it."),
    "forgotten": Text(
        "Le tocaba seguir hace rato y nadie lo tomó: ¿hay workers y reloj?",
        "It has been due for long and nobody took it: are there workers and a clock?"),
    "look_forgotten": Text(
        "Una búsqueda en el CRM quedó pendiente y nadie la hizo.",
        "A look in the CRM has been due for long and nobody made it."),
    "record_without_event": Text(
        "Conocemos un registro del CRM que no pertenece a ninguna entrega.",
        "We know a CRM record that belongs to no delivery."),
    "account_not_verified": Text(
        "La cuenta del CRM no respondió durante la conciliación: de una parte no se sabe nada.",
        "The CRM account did not answer during the reconciliation: of a part nothing is known."),
    "contact_not_live": Text(
        "El contacto está en la papelera del CRM o se unió a otro.",
        "The contact is in the CRM's trash, or merged into another."),
    "contact_other_reference": Text(
        "El contacto que conocemos ya no lleva nuestra referencia en el CRM.",
        "The contact that we know bears our reference in the CRM no more."),
    "contact_several": Text(
        "Hay más de un contacto en el CRM con la misma referencia nuestra.",
        "More than one contact in the CRM bears the same reference of ours."),
    "contact_unexpected": Text(
        "El contacto está en el CRM, y la base dice que no.",
        "The contact stands in the CRM, and the database says that it does not."),
    "contact_unknown": Text(
        "Hay un contacto en el CRM con una referencia como las nuestras, y no sabemos de qué evento.",
        "The CRM has a contact with a reference like ours, and we know no event of it."),
    "opportunity_not_live": Text(
        "La oportunidad está en la papelera del CRM o se unió a otra.",
        "The opportunity is in the CRM's trash, or merged into another."),
    "opportunity_other_reference": Text(
        "La oportunidad que conocemos ya no lleva nuestra referencia en el CRM.",
        "The opportunity that we know bears our reference in the CRM no more."),
    "opportunity_several": Text(
        "Hay más de una oportunidad en el CRM con la misma referencia nuestra.",
        "More than one opportunity in the CRM bears the same reference of ours."),
    "opportunity_unexpected": Text(
        "La oportunidad está en el CRM, y la base dice que no.",
        "The opportunity stands in the CRM, and the database says that it does not."),
    "opportunity_unknown": Text(
        "Hay una oportunidad en el CRM con una referencia como las nuestras, y no sabemos de qué evento.",
        "The CRM has an opportunity with a reference like ours, and we know no event of it."),
    "task_not_live": Text(
        "La tarea está en la papelera del CRM o se unió a otra.",
        "The task is in the CRM's trash, or merged into another."),
    "task_other_reference": Text(
        "La tarea que conocemos ya no lleva nuestra referencia en el CRM.",
        "The task that we know bears our reference in the CRM no more."),
    "task_several": Text(
        "Hay más de una tarea en el CRM con la misma referencia nuestra.",
        "More than one task in the CRM bears the same reference of ours."),
    "task_unexpected": Text(
        "La tarea está en el CRM, y la base dice que no.",
        "The task stands in the CRM, and the database says that it does not."),
    "task_unknown": Text(
        "Hay una tarea en el CRM con una referencia como las nuestras, y no sabemos de qué evento.",
        "The CRM has a task with a reference like ours, and we know no event of it."),
    "note_not_live": Text(
        "La nota está en la papelera del CRM o se unió a otra.",
        "The note is in the CRM's trash, or merged into another."),
    "note_other_reference": Text(
        "La nota que conocemos ya no lleva nuestra referencia en el CRM.",
        "The note that we know bears our reference in the CRM no more."),
    "note_several": Text(
        "Hay más de una nota en el CRM con la misma referencia nuestra.",
        "More than one note in the CRM bears the same reference of ours."),
    "note_unexpected": Text(
        "La nota está en el CRM, y la base dice que no.",
        "The note stands in the CRM, and the database says that it does not."),
    "note_unknown": Text(
        "Hay una nota en el CRM con una referencia como las nuestras, y no sabemos de qué evento.",
        "The CRM has a note with a reference like ours, and we know no event of it."),
    "opportunity_without_owner": Text(
        "La oportunidad se quedó sin responsable en el CRM.",
        "The opportunity has no owner in the CRM any more."),
    "opportunity_without_contact": Text(
        "La oportunidad se quedó sin contacto en el CRM.",
        "The opportunity has no contact in the CRM any more."),
}  # fmt: skip
