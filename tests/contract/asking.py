"""What a request asks for, in whichever wire form: path, query and body, with base64 in a query undone."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Iterator

from crm_clients.base import Request


def said(request: Request) -> str:
    """Everything that the server is told, as one text to search in."""
    values = [f"{name}={value}" for name, value in request.query]
    body = (request.body or b"").decode()
    return "\n".join([request.path, *values, *_decoded(request), body])


def _decoded(request: Request) -> Iterator[str]:
    for _, value in request.query:
        try:
            yield urlsafe_b64decode(value).decode()
        except ValueError:
            continue


def names_in(request: Request) -> set[str]:
    """Every name of a field that a JSON body holds, at whatever depth."""
    return set(_names(json.loads(request.body or b"{}")))


def _names(value: object) -> Iterator[str]:
    match value:
        case dict():
            yield from (str(name) for name in value)
            for each in value.values():
                yield from _names(each)
        case list():
            for each in value:
                yield from _names(each)
        case _:
            return
