"""The fields that a person may correct: as a form shows them, and the rules that a new value may break."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from intake.lead import Lead
from intake.reason_texts import Language, Text

FIELDS: Final = ("name", "phone", "email", "company", "document", "product", "amount", "currency", "text")


def values(lead: Lead) -> dict[str, str]:
    """What stands there now, "" where nothing does."""
    contact, enquiry = lead.contact, lead.enquiry
    return {
        "name": contact.name or "",
        "phone": (contact.phone.e164 or contact.phone.raw) if contact.phone else "",
        "email": contact.email or "",
        "company": contact.company or "",
        "document": contact.document or "",
        "product": enquiry.product or "",
        "amount": "" if enquiry.amount is None else str(enquiry.amount),
        "currency": enquiry.currency or "",
        "text": enquiry.text,
    }


# By the beginning of the rule, as `intake/corrections.py` words it.
RULES: Final[Mapping[str, Text]] = {
    "must be a phone": Text("Debe ser un número de teléfono.", "It must be a phone number."),
    "must be an e-mail": Text("Debe ser una dirección de correo.", "It must be an e-mail address."),
    "must be a RUC": Text(
        "Debe ser un RUC o DNI con su dígito de control.", "It must be a RUC or DNI whose check digit is right."),
    "must be a decimal": Text(
        "Debe ser un número como 1840.00, sin separador de miles.",
        "It must be a number such as 1840.00, without separators of thousands."),
    "must be an ISO": Text(
        "Debe ser un código de moneda como PEN o USD.", "It must be a code of a currency such as PEN or USD."),
    "must have at most": Text("Es demasiado largo.", "It is too long."),
    "must be text": Text("Tiene caracteres que no se pueden guardar.", "It holds characters that cannot be stored."),
}  # fmt: skip


def rule(said: str, language: Language) -> str:
    """The rule in words; one that has none is told as it stands."""
    found = next((text for beginning, text in RULES.items() if said.startswith(beginning)), None)
    return found.of(language) if found else said
