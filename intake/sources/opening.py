"""Form bodies whose fields hold more than a text: names in brackets, and a whole JSON object in one of them."""

from __future__ import annotations

from intake.sources.base import Unreadable
from intake.sources.brackets import nested
from intake.sources.decoding import Decoded, Json, read_json
from intake.sources.leaves import folded

# Names that programs give to a field which holds everything; a visitor's own braces stay a text.
WRAPPERS = frozenset({"payload", "data", "datajson", "json", "body", "form", "formdata", "submission", "rawrequest"})


def opened(flat: Decoded) -> Decoded:
    """The fields as their names say, JSON objects in them as objects; alone, such an object is the body."""
    if not isinstance(flat.value, dict):
        return flat
    fields = nested(flat.value)
    if len(fields) == 1:
        (only,) = fields.values()
        inner = _object(only)
        return Decoded(fields if inner is None else inner, flat.charset_guessed)
    return Decoded({name: _wrapped(name, value) for name, value in fields.items()}, flat.charset_guessed)


def _wrapped(name: str, value: Json) -> Json:
    inner = _object(value) if folded(name) in WRAPPERS else None
    return value if inner is None else inner


def _object(value: Json) -> dict[str, Json] | None:
    """The JSON object that this text is; None: it is an answer."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return None
    try:
        inner = read_json(value.encode()).value
    except Unreadable:
        return None
    return inner if isinstance(inner, dict) else None
