"""Why a decision that names a record of the CRM was not taken, in Spanish and English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from intake.desk.acting import NotInCrm
from intake.explain import reason_text
from intake.reason_texts import Language, Text

NOT_IN_CRM: Final[Mapping[str, Text]] = {
    "dead": Text(
        "Ese registro está en la papelera del CRM, o se unió a otro.",
        "That record is in the CRM's trash, or merged into another."),
    "absent": Text("El CRM no tiene un registro con ese identificador.", "The CRM has no record of that id."),
    "no_reference": Text(
        "Ese registro no lleva una referencia nuestra: ¿es el correcto? Si lo es, márquelo sin comprobar.",
        "That record bears no reference of ours: is it the right one? If it is, take it unverified."),
    "other_reference": Text(
        "Ese registro lleva otra referencia nuestra ({detail}): es de otro evento.",
        "That record bears another reference of ours ({detail}): it is another event's."),
    "unsure": Text(
        "No se pudo preguntar al CRM. {detail} Intente de nuevo, o márquelo sin comprobar.",
        "The CRM could not be asked. {detail} Try again, or take it unverified."),
}  # fmt: skip


def told(refused: NotInCrm, language: Language) -> str:
    """A sentence."""
    detail = reason_text(refused.detail, language) if refused.why == "unsure" and refused.detail else refused.detail
    return " ".join(NOT_IN_CRM[refused.why].of(language).replace("{detail}", detail).split())
