"""Why the door refuses, by the code that it answers, in Spanish and English.

A 422 answers with a reason of `intake/reading_texts.py` instead, but for a key that was used before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from intake.reason_texts import Text

REFUSED: Final[Mapping[str, Text]] = {
    "not_authentic": Text(
        "La firma o el token no corresponde: no lo envió quien dice, o el secreto es otro.",
        "The signature or token does not fit: it was not sent by who it says, or the secret is another."),
    "unknown_source": Text(
        "La dirección nombra una fuente que no existe.", "The address names a source that does not exist."),
    "source_closed": Text(
        "A la fuente le falta su secreto; quien envía vuelve a intentar.",
        "The source lacks its secret; the sender tries again."),
    "too_large": Text(
        "Era más grande de lo que la fuente permite.", "It was larger than the source allows."),
    "content_type": Text(
        "No venía en un formato que la fuente entienda.", "It came in no format that the source understands."),
    "content_encoding": Text("Venía comprimido.", "It came compressed."),
    "method_not_allowed": Text("No era un envío.", "It was no delivery."),
    "storage_unavailable": Text(
        "No había dónde guardarlo; quien envía vuelve a intentar.",
        "There was nowhere to keep it; the sender tries again."),
    "idempotency_key_missing": Text(
        "Faltaba la clave que esta fuente pide en cada envío.",
        "The key was missing that this source asks of each delivery."),
    "idempotency_key_reused": Text(
        "La clave ya se usó con otro contenido; los dos se conservan.",
        "The key was used with other content; both are kept."),
    "too_many_requests": Text(
        "Llegaban demasiados desde una misma dirección.", "Too many came from one address."),
    "not_found": Text("La dirección no es de nada nuestro.", "The address is of nothing of ours."),
    "bad_request": Text("No se pudo leer como HTTP.", "It could not be read as HTTP."),
    "failed": Text(
        "Falló: es un defecto nuestro; quien envía vuelve a intentar.",
        "It failed: that is a defect of ours; the sender tries again."),
}  # fmt: skip
