"""Requests with holes: `GET /contacts?ref={reference}`, and JSON whose texts have `{names}`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from urllib.parse import parse_qsl, quote

from crm_clients.options import BadSetting

Method = Literal["GET", "POST", "PUT", "PATCH"]
METHODS: Mapping[str, Method] = {"GET": "GET", "POST": "POST", "PUT": "PUT", "PATCH": "PATCH"}

# What fills a hole: a text, an amount, a time, or a whole object.  None and "" leave it out.
Filling = str | Decimal | datetime | Mapping[str, str] | None

_HOLE = re.compile(r"\{([a-z_]+)(?::(number|unix|date))?\}")
_PLACE = re.compile(r"/[A-Za-z0-9._~!$&'()*+,;=:@%/{}-]*")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request goes.  `query` None stands for none."""

    method: Method
    path: str
    query: tuple[tuple[str, str], ...] = ()

    def filled(self, with_: Mapping[str, str]) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Path and query; what fills the path cannot leave its place in it."""
        path = _HOLE.sub(lambda hole: quote(with_.get(hole[1], ""), safe=""), self.path)
        query = tuple((name, _HOLE.sub(lambda hole: with_.get(hole[1], ""), value)) for name, value in self.query)
        return path, query


def place(written: str, option: str, holes: frozenset[str], *, changes: bool) -> Place:
    """`POST /contacts`, `GET /contacts?ref={reference}`.  Raises BadSetting.  `changes`: it is a write."""
    verb, _, address = written.strip().partition(" ")
    path, _, query = address.strip().partition("?")
    method = METHODS.get(verb)
    if method is None or not _PLACE.fullmatch(path) or (method == "GET") is changes:
        example = "POST /contacts" if changes else "GET /contacts?ref={reference}"
        raise BadSetting(f"{option} is no such request, as {example} is: {written!r}")
    _known(written, option, holes)
    return Place(method, path, tuple(parse_qsl(query, keep_blank_values=True)))


def body(written: str, option: str, holes: frozenset[str]) -> str:
    """JSON text of an object with known holes.  Raises BadSetting."""
    try:
        read: object = json.loads(written)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise BadSetting(f"{option} is no JSON object")
    _known(written, option, holes)
    return written


def _known(written: str, option: str, holes: frozenset[str]) -> None:
    unknown = sorted({hole[1] for hole in _HOLE.finditer(written)} - holes)
    if unknown:
        raise BadSetting(f"{option} has {{{unknown[0]}}}; there are: {', '.join(sorted(holes))}")


def filled(written: str, with_: Mapping[str, Filling]) -> Mapping[str, object]:
    """The JSON with its holes filled; a member whose holes are all empty is left out."""
    template: object = json.loads(written)
    made = _filled(template, with_)
    return made if isinstance(made, dict) else {}


def _filled(value: object, with_: Mapping[str, Filling]) -> object:
    """None: leave it out."""
    match value:
        case str():
            return _text(value, with_)
        case dict():
            members = {str(name): _filled(each, with_) for name, each in value.items()}
            kept = {name: each for name, each in members.items() if each is not None}
            return kept if kept or not value else None
        case list():
            kept_ = [each for each in (_filled(each, with_) for each in value) if each is not None]
            return kept_ if kept_ or not value else None
        case _:
            return value


def _text(written: str, with_: Mapping[str, Filling]) -> object:
    holes = list(_HOLE.finditer(written))
    if not holes:
        return written
    whole = _HOLE.fullmatch(written)
    if whole is not None:
        return _value(with_.get(whole[1]), whole[2])
    values = {hole[0]: _value(with_.get(hole[1]), hole[2]) for hole in holes}
    if all(each is None for each in values.values()):
        return None
    return _HOLE.sub(lambda hole: str(values[hole[0]] if values[hole[0]] is not None else ""), written)


def _value(filling: Filling, form: str | None) -> object:
    """What stands in the JSON: texts, unless a number or a form of a time is asked for.  None: nothing."""
    match filling:
        case None | "":
            return None
        case Decimal():
            return float(filling) if form == "number" else format(filling, "f")
        case datetime():
            return _time(filling, form)
        case str():
            return _as_number(filling) if form == "number" else filling
        case _:
            return dict(filling) or None


def _time(moment: datetime, form: str | None) -> object:
    if form == "unix":
        return int(moment.timestamp())
    return moment.date().isoformat() if form == "date" else moment.isoformat()


def _as_number(written: str) -> object:
    try:
        return int(written) if written.lstrip("-").isdigit() else float(Decimal(written))
    except ArithmeticError:
        return written


def names(written: str) -> Iterator[str]:
    """The names of the holes."""
    yield from (hole[1] for hole in _HOLE.finditer(written))
