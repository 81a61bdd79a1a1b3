"""Deliveries as every provider sends them, with markup and formulas wherever they hold a text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlencode

from werkzeug.datastructures import MultiDict
from werkzeug.test import encode_multipart

from intake.sources import find
from intake.sources.base import Delivered, Unreadable
from intake.sources.multipart import read_multipart
from intake.sources.submission import content_type_of

# What runs in a page, in an attribute, in a spreadsheet, and what would end a header.
POISON = "=cmd|'/C calc'!A0\"'><img src=x onerror=alert(1)><script>alert(1)</script>\r\nX-Evil: 1 javascript:alert(1)"

# Some prove by it, in the body, who they are.
PROOF = "whsec_"

Place = tuple[str | int, ...]
# Of a place: in the JSON that a text holds.
WITHIN = -1
Poisoning = Callable[[str], str]


def instead(number: int) -> Poisoning:
    """In place of what stood there; the number makes it another one each time."""
    return lambda _before: f"{POISON} {number}"


def after(number: int) -> Poisoning:
    """Behind it, so that a telephone or an address is still one."""
    return lambda before: f"{before} {POISON} {number}"


def poisoned(provider: str, body: bytes, headers: Mapping[str, str], poisoning: Poisoning) -> bytes | None:
    """The same with poison in all texts where it may stand while as many events are read; None: it gives none.

    What says of which kind a delivery is, such as the name of its event, has to stay.
    """
    least = _events(provider, body, headers)
    found = _opened(body) if least else None
    if found is None:
        return None
    for place in [*_texts(found, ()), *_objects(found, ())]:
        changed = _changed(found, place, poisoning)
        if _events(provider, _closed(changed, body), headers) >= least:
            found = changed
    return _closed(found, body)


def _events(provider: str, body: bytes, headers: Mapping[str, str]) -> int:
    delivered = Delivered(body, content_type_of(body), headers, datetime(2026, 11, 29, tzinfo=UTC), "PE")
    try:
        return len(find(provider).read(delivered).events)
    except Unreadable:
        return 0


# --- where texts stand ----------------------------------------------------------------------------------------------


def _opened(body: bytes) -> object:
    """JSON, or the fields of a form; None: neither."""
    kind = content_type_of(body)
    if kind.startswith("multipart"):
        return dict(read_multipart(body, kind).value)  # type: ignore[arg-type]  # a form's fields
    try:
        return json.loads(body)
    except ValueError:
        pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
        return [list(each) for each in pairs] or None


def _closed(value: object, like: bytes) -> bytes:
    kind = content_type_of(like)
    if kind.startswith("multipart") and isinstance(value, dict):
        return encode_multipart(MultiDict(value), boundary=kind.partition("boundary=")[2])[1]
    if kind.startswith("application/json"):
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert isinstance(value, list)
    return urlencode([(str(name), str(text)) for name, text in value]).encode()


def _texts(value: object, place: Place) -> Iterator[Place]:
    match value:
        case [str(), str() as proof] if proof.startswith(PROOF):
            return
        case str() if value.startswith(("{", "[")) and _is_json(value):
            yield from _texts(json.loads(value), (*place, WITHIN))
        case str() if value and not value.startswith(PROOF):
            yield place
        case dict():
            for name, inner in value.items():
                yield from _texts(inner, (*place, name))
        case list():
            for number, inner in enumerate(value):
                yield from _texts(inner, (*place, number))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _objects(value: object, place: Place) -> Iterator[Place]:
    """Where one more member may stand, whose name is a text, too."""
    match value:
        case dict():
            yield (*place, POISON)
            for name, inner in value.items():
                yield from _objects(inner, (*place, name))
        case list():
            for number, inner in enumerate(value):
                yield from _objects(inner, (*place, number))


def _changed(value: object, place: Place, poisoning: Poisoning) -> object:
    if not place:
        return poisoning(value if isinstance(value, str) else "")
    first, *rest = place
    match value:
        case dict():
            return {**value, first: _changed(value.get(first, ""), tuple(rest), poisoning)}
        case str() if first == WITHIN:
            return json.dumps(_changed(json.loads(value), tuple(rest), poisoning), ensure_ascii=False)
        case list() if isinstance(first, int):
            return [*value[:first], _changed(value[first], tuple(rest), poisoning), *value[first + 1 :]]
        case _:
            return value
