"""Why something that came could not be read, and the rules that its fields broke, in Spanish and English.

Programs get our own words (`not_json`, "must be JSON"); these are for people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from intake.reason_texts import Language, Text

READING: Final[Mapping[str, Text]] = {
    "not_json": Text("No es JSON válido.", "It is no valid JSON."),
    "not_an_object": Text("No es el objeto JSON que se esperaba.", "It is not the JSON object that was expected."),
    "not_multipart": Text(
        "No es el formulario por partes que anuncia.", "It is not the form in parts that it says it is."),
    "neither_json_nor_form": Text("No es JSON ni un formulario.", "It is neither JSON nor a form."),
    "neither_json_nor_ping": Text(
        "No es JSON ni la prueba que envía la tienda.", "It is neither JSON nor the test that the shop sends."),
    "nested_too_deep": Text("Está anidado demasiado hondo.", "It is nested too deep."),
    "too_many_fields": Text("Tiene demasiados campos.", "It has too many fields."),
    "batch_too_large": Text("Trae demasiadas respuestas de una vez.", "It brings too many answers at once."),
    "no_answers": Text("No trae respuestas donde debían estar.", "It has no answers where they should be."),
    "no_fields": Text("No trae los campos del formulario.", "It does not bring the fields of the form."),
    "no_resource": Text("No dice de qué trata, de lo que tiene la tienda.", "It names nothing that the shop has."),
    "not_a_response": Text("No es la respuesta de un formulario.", "It is not the response to a form."),
    "unknown_event": Text("Es un aviso de otra clase.", "It is a notice of another kind."),
    "not_a_page_body": Text("No tiene la forma de los avisos de una página.", "It is no notice of a page."),
    "not_a_whatsapp_body": Text(
        "No tiene la forma de los avisos de WhatsApp.", "It is no notice of WhatsApp."),
    "not_this_lead": Text(
        "No son las respuestas del contacto por el que se preguntó.",
        "These are not the answers of the lead asked for."),
    "invalid_quote": Text("La cotización no cumple las reglas de abajo.", "The quote breaks the rules below."),
    "lead_without_id": Text("Un contacto llegó sin identificador.", "A lead came without an id."),
    "message_without_id": Text("Un mensaje llegó sin identificador.", "A message came without an id."),
    "message_without_sender": Text("Un mensaje llegó sin remitente.", "A message came without a sender."),
    "unreadable_entry": Text("Una parte del aviso no se entiende.", "A part of the notice makes no sense."),
    "unreadable_change": Text("Un cambio del aviso no se entiende.", "A change in the notice makes no sense."),
    "unreadable_messages": Text("La lista de mensajes no se entiende.", "The list of messages makes no sense."),
    "unreadable_message": Text("Un mensaje no se entiende.", "A message makes no sense."),
    "unreadable_time": Text("La hora de un mensaje no se entiende.", "The time of a message makes no sense."),
    "not_storable": Text(
        "Tiene caracteres o números que la base no puede guardar.",
        "It holds characters or numbers that the database cannot keep."),
    "reader_failed": Text(
        "El lector falló con él: es un defecto nuestro.", "The reader failed on it: that is a defect of ours."),
    "replay": Text(
        "Es más antiguo que lo que se recuerda, y podría ser una copia.",
        "It is older than what is remembered, and might be a copy."),
    # why it was not read again
    "closed": Text("Ya está cerrado.", "It is closed already."),
    "purged": Text("Sus bytes ya se borraron.", "Its bytes were purged."),
    "no_source": Text("Su fuente ya no está configurada.", "Its source is not configured any more."),
    "no_quarantine": Text("No es algo que no se pudo leer.", "It is nothing that could not be read."),
    "failed": Text("Falló: es un defecto nuestro.", "It failed: that is a defect of ours."),
}  # fmt: skip

# The whole rule as the readers word it; a group is told again as it stands.
RULES: Final[Mapping[str, Text]] = {
    r"must be JSON": Text("debe ser JSON", "must be JSON"),
    r"must be a JSON object": Text("debe ser un objeto JSON", "must be a JSON object"),
    r"must be an object": Text("debe ser un objeto", "must be an object"),
    r"must be an object, or a list of objects": Text(
        "debe ser un objeto, o una lista de objetos", "must be an object, or a list of objects"),
    r"must be a list": Text("debe ser una lista", "must be a list"),
    r"must be a list of at most (\d+)(?: lines)?": Text(
        "debe ser una lista de {0} como máximo", "must be a list of at most {0}"),
    r"must be multipart/form-data with its boundary": Text(
        "debe ser multipart/form-data con su separador", "must be multipart/form-data with its boundary"),
    r"must be form_response": Text("debe ser form_response", "must be form_response"),
    r"must be unix seconds": Text("debe estar en segundos de Unix", "must be unix seconds"),
    r"must be the answers of the lead asked for": Text(
        "debe traer las respuestas del contacto por el que se preguntó", "must be the answers of the lead asked for"),
    r"must have a name, an email or answers": Text(
        "debe tener nombre, correo o respuestas", "must have a name, an email or answers"),
    r"needs a name, a phone or an email": Text(
        "necesita nombre, teléfono o correo", "needs a name, a phone or an email"),
    r"is required": Text("falta", "is required"),
    r"must not be null": Text("no puede ser null", "must not be null"),
    r"must not be blank": Text("no puede estar en blanco", "must not be blank"),
    r"must be a text of at most (\d+) characters": Text(
        "debe ser un texto de {0} caracteres como máximo", "must be a text of at most {0} characters"),
    r"must be an ISO 4217 code such as PEN": Text(
        "debe ser un código de moneda ISO 4217, como PEN", "must be an ISO 4217 code such as PEN"),
    r"must be a whole number from 1 to (\d+)": Text(
        "debe ser un número entero de 1 a {0}", "must be a whole number from 1 to {0}"),
    r'must be a decimal such as "1840\.00", from 0 to 10\^12, with at most (\d+) decimals': Text(
        "debe ser un decimal como «1840.00», de 0 a 10^12, con {0} decimales como máximo",
        "must be a decimal such as “1840.00”, from 0 to 10^12, with at most {0} decimals"),
    r"must be an ISO 8601 moment": Text("debe ser una fecha y hora ISO 8601", "must be an ISO 8601 moment"),
    r"must have a time zone": Text("debe tener zona horaria", "must have a time zone"),
    r"no number and no user id": Text("sin número y sin identificador de usuario", "no number and no user id"),
    r"is older than identities are kept": Text(
        "es más antiguo que lo que se recuerda", "is older than identities are kept"),
}  # fmt: skip


def rule(said: str, language: Language) -> str:
    """A rule in words; one that has none is told as it stands."""
    for form, text in RULES.items():
        found = re.fullmatch(form, said)
        if found:
            return text.of(language).format(*found.groups())
    return said
