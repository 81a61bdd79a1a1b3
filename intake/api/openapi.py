"""The OpenAPI 3.1 document, made from the routes and their schemas."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import version
from typing import Final

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema

from intake.api import deciding, many, overview, reading
from intake.api.asked import NoQuery
from intake.api.problems import CODES, TYPE
from intake.api.routes import Route
from intake.api.schemas import ProblemSchema
from intake.desk.roles import OF_SCOPE

BASE: Final = "/api/v1"
ROUTES: Final = (*reading.ROUTES, *deciding.ROUTES, *many.ROUTES, *overview.ROUTES)

ARGUMENT: Final = re.compile(r"<(?:(uuid|int)(?:\([^()]*\))?:)?(\w+)>")
KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "maxLength": 255},
    "description": "Makes a repetition safe: the same key and body are answered the same, for a day.",
}
DESCRIPTION: Final = """Events, what waits for a person, and what may be decided, for programs.

Every request carries a token: `Authorization: Bearer intake_...` (`intake operators token add`). A token acts for its
operator: what it decides bears the operator's name, and it may never do more than the operator.
People are masked everywhere but in `data`, which needs the scope of that name and is logged."""


@cache
def document() -> dict[str, object]:
    """As `/api/openapi.json` answers it."""
    spec = APISpec(
        title="lead-intake",
        version=version("lead-intake"),
        openapi_version="3.1.0",
        plugins=[MarshmallowPlugin(schema_name_resolver=_name)],
        info={"description": DESCRIPTION, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        servers=[{"url": "/"}],
        security=[{"token": []}],
    )
    spec.components.security_scheme("token", {"type": "http", "scheme": "bearer"})
    spec.components.schema("Problem", schema=ProblemSchema)
    paths: dict[str, dict[str, object]] = {}
    for route in ROUTES:
        paths.setdefault(path_of(route), {})[route.method.lower()] = _operation(route)
    for path, operations in paths.items():
        spec.path(path, operations=operations)
    made: dict[str, object] = spec.to_dict()
    return made


def path_of(route: Route) -> str:
    """With {names} for its arguments."""
    return BASE + ARGUMENT.sub(r"{\2}", route.path)


def scope_of(route: Route) -> str:
    """The scope that a token needs for it."""
    return next(scope for scope, permissions in OF_SCOPE.items() if route.needs in permissions)


def _name(schema: type[Schema] | Schema) -> str:
    """The name of a schema without its last word."""
    kind = schema if isinstance(schema, type) else type(schema)
    return kind.__name__.removesuffix("Schema")


def _operation(route: Route) -> dict[str, object]:
    parameters: list[object] = [_argument(*found) for found in ARGUMENT.findall(route.path)]
    operation: dict[str, object] = {
        "operationId": route.name,
        "summary": route.summary,
        "description": f"Needs the scope `{scope_of(route)}`.",
        "tags": [route.path.split("/")[1]],
        "parameters": parameters,
        "responses": {"200": {"description": "Done.", "content": _content("application/json", route.answers)}}
        | {"default": {"description": "Refused.", "content": _content(TYPE, ProblemSchema())}},
    }
    if route.method == "GET":
        if not isinstance(route.asks, NoQuery):
            parameters.append({"in": "query", "schema": route.asks})
    else:
        parameters.append(KEY)
        operation["requestBody"] = {"required": True, "content": _content("application/json", route.asks)}
    return operation


def _argument(kind: str, name: str) -> dict[str, object]:
    schemas = {"uuid": {"type": "string", "format": "uuid"}, "int": {"type": "integer", "minimum": 1}}
    return {"name": name, "in": "path", "required": True, "schema": schemas.get(kind, {"type": "string"})}


def _content(media_type: str, schema: Schema) -> dict[str, object]:
    return {media_type: {"schema": schema}}


def codes() -> dict[str, str]:
    """Every code of a refusal."""
    return dict(CODES)
