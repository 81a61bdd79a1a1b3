"""What ends an incident: in Spanish and English, by the end of its reason."""

from __future__ import annotations

from collections.abc import Mapping

from intake.reason_texts import Text

_RESTORE = Text(
    "Alguien cambió nuestra base a mano o la restauró: busque esa fila en una copia, y siga «Se restauró la base de "
    "datos» del manual.",
    "Somebody changed our database by hand, or restored it: find that row in a backup, and follow “The database is "
    "restored” of the runbook.")  # fmt: skip
_MEND = Text(
    "Corríjalo en el CRM; la siguiente conciliación lo cierra.",
    "Mend it in the CRM; the next reconciliation closes it.")  # fmt: skip
_MISSING = Text(
    "Si debe existir, sáquelo de la papelera o créelo de nuevo (`intake redeliver EVENTO`); si se quitó a "
    "propósito, ciérrelo.",
    "If it must exist, take it out of the trash or have it made anew (`intake redeliver EVENT`); if it was removed "
    "on purpose, close this.")  # fmt: skip

# By what the reason is, or ends in; the first that fits.
STEPS: Mapping[str, Text] = {
    "_not_live": _MISSING,
    "_gone": _MISSING,
    "_several": Text(
        "Deje uno solo en el CRM: una los dos o borre uno; la siguiente conciliación lo cierra.",
        "Leave one in the CRM: merge them, or remove one; the next reconciliation closes it."),
    "several": Text(
        "Deje uno solo en el CRM: una los dos o borre uno; luego búsquelo otra vez (`intake look EVENTO`).",
        "Leave one in the CRM: merge them, or remove one; then look for it again (`intake look EVENT`)."),
    "_without_owner": _MEND,
    "_without_contact": _MEND,
    "_other_reference": _MEND,
    "_unknown": Text(
        "Mire de dónde salió: si nadie lo necesita, bórrelo en el CRM; la siguiente conciliación lo cierra.",
        "See where it comes from: if nobody needs it, remove it in the CRM; the next reconciliation closes it."),
    "_unexpected": Text(
        "Quizás se hizo después de darlo por ausente: si hay otro igual, una los dos en el CRM.",
        "Perhaps it was made after it counted as absent: if there is another like it, merge them in the CRM."),
    "contact_other_name": Text(
        "Mire de quién es la oportunidad: si no es de ese contacto, cámbiela en el CRM. Luego ciérrelo "
        "(`intake resolve ÍTEM accept`).",
        "See whose the opportunity is: if it is not that contact's, change it in the CRM. Then close this "
        "(`intake resolve ITEM accept`)."),
    "contact_ambiguous": Text(
        "Mire cuál de los contactos es: una los dos en el CRM, o déjelos. Luego ciérrelo "
        "(`intake resolve ÍTEM accept`).",
        "See which of the contacts it is: merge them in the CRM, or leave them. Then close this "
        "(`intake resolve ITEM accept`)."),
    "late_success": Text(
        "El CRM respondió tarde: mire si hay dos, y deje uno.",
        "The CRM answered late: see if there are two, leave one."),
    "account_not_verified": Text(
        "Concilie otra vez cuando la cuenta responda (`intake reconcile --verify`).",
        "Reconcile again once the account answers (`intake reconcile --verify`)."),
    "forgotten": Text(
        "Faltan workers o el reloj, o no alcanzan (`intake check`).",
        "Workers or the clock are missing, or too few (`intake check`)."),
    "open_without_item": _RESTORE,
    "_without_delivery": _RESTORE,
    "_without_event": _RESTORE,
    "_without_lead": _RESTORE,
}  # fmt: skip


def step(reason: str) -> Text | None:
    """None: this version knows of none."""
    if reason.startswith("confirmed_without_"):
        return _RESTORE
    return next((text for end, text in STEPS.items() if reason.endswith(end)), None)
