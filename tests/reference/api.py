"""`docs/reference/api.md`: the API, as its OpenAPI document tells it, and the door."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from intake.api import openapi
from intake.api.routes import Route
from tests.reference import door
from tests.reference.answered import refusals
from tests.reference.markdown import code, page, table
from tests.reference.schemas import Part, answered, asked, named, parameters

JSON = "application/json"


def text() -> str:
    """The page."""
    document: Any = openapi.document()
    return page("The door and the API", door.text(), *_api(document))


def _api(document: Part) -> Iterator[str]:
    schemas = document["components"]["schemas"]
    yield "## The API"
    yield openapi.DESCRIPTION
    yield "The same as OpenAPI 3.1 is at `/api/openapi.json`. How to work with it: [the API](../api.md)."
    yield table(("method", "path", "what it does", "scope"), (_line(route) for route in openapi.ROUTES))
    for route in openapi.ROUTES:
        yield _section(route, document["paths"][openapi.path_of(route)][route.method.lower()], schemas)
    yield "## What the API answers"
    yield "Every field is in every answer; what is not known is `null`."
    for name in _in_answers(document):
        yield f"### {name}\n\n{answered(schemas[name])}"
    yield "## What the API refuses"
    yield "`application/problem+json` (RFC 9457). A value that was sent is never repeated."
    yield answered(schemas["Problem"])
    yield table(("code", "status", "what it says"), _codes())


def _line(route: Route) -> tuple[str, str, str, str]:
    path = openapi.path_of(route)
    anchor = "".join(each for each in f"{route.method}-{path}".lower() if each.isalnum() or each in "-_")
    return route.method, f"[{path}](#{anchor})", route.summary, code(openapi.scope_of(route))


def _section(route: Route, operation: Part, schemas: Part) -> str:
    body = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema")
    made = operation["responses"]["200"]["content"][JSON]["schema"]
    blocks = (
        f"### {route.method} {openapi.path_of(route)}",
        f"{route.summary} {operation['description']}",
        parameters(operation["parameters"]),
        asked(schemas[next(named(body))]) if body else "",
        " ".join(("Answers", *(f"[{name}](#{name.lower()})" for name in named(made)))) + ".",
    )
    return "\n\n".join(block for block in blocks if block)


def _in_answers(document: Part) -> list[str]:
    """The schemas of what is answered, in the document's order."""
    schemas = document["components"]["schemas"]
    waiting = [
        name
        for path in document["paths"].values()
        for operation in path.values()
        for name in named(operation["responses"]["200"])
    ]
    found = set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(named(schemas[name]))
    return [name for name in schemas if name in found]


def _codes() -> Iterator[tuple[str, str, str]]:
    statuses = codes_of_api()
    for name, said in openapi.codes().items():
        yield code(name), ", ".join(str(each) for each in sorted(statuses.get(name, ()))), said


def codes_of_api() -> Mapping[str, frozenset[int]]:
    """The statuses of each code; a code that is a status's name has that one."""
    found = refusals("Problem", "intake/api", "intake/desk")
    own = {each.name.lower(): each.value for each in HTTPStatus}
    return {name: found.get(name, frozenset({own[name]} if name in own else ())) for name in openapi.codes()}
